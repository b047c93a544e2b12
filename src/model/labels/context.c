#include "model/labels/context.h"

#include <inttypes.h>

#include "base/path.h"

bool cn_label_module(struct cn_database *db, uint32_t module, struct cn_text *text,
                     struct cn_error *err)
{
    struct cn_module record;

    if (module == CN_NONE) {
        cn_text_str_add(text, "<unknown module>");
        return true;
    }
    if (!cn_database_module(db, module, &record, err))
        return false;
    cn_text_str_add(text, cn_path_name(record.path));
    return true;
}

bool cn_label_file(struct cn_database *db, uint32_t file, struct cn_text *text,
                   struct cn_error *err)
{
    struct cn_source_file record;

    if (file == CN_NONE) {
        cn_text_str_add(text, "<unknown file>");
        return true;
    }
    if (!cn_database_file(db, file, &record, err))
        return false;
    cn_text_str_add(text, cn_path_name(record.path));
    return true;
}

static bool label_line(struct cn_database *db, uint32_t file, uint32_t line,
                       struct cn_text *text, struct cn_error *err)
{
    if (!cn_label_file(db, file, text, err))
        return false;
    if (line > 0)
        cn_text_printf(text, ":%" PRIu32, line);
    return true;
}

static bool label_point(struct cn_database *db, uint32_t module, uint64_t offset,
                        struct cn_text *text, struct cn_error *err)
{
    if (!cn_label_module(db, module, text, err))
        return false;
    cn_text_printf(text, "+0x%" PRIx64, offset);
    return true;
}

/* A function that is known to exist but has no name: say where it is. */
static bool label_anonymous(struct cn_database *db, const struct cn_function *function,
                            struct cn_text *text, struct cn_error *err)
{
    cn_text_str_add(text, "<anonymous at ");
    bool ok = function->file != CN_NONE
                  ? label_line(db, function->file, function->line, text, err)
                  : label_point(db, function->module, function->offset, text, err);
    cn_text_char(text, '>');
    return ok;
}

bool cn_label_function(struct cn_database *db, uint32_t function, struct cn_text *text,
                       struct cn_error *err)
{
    struct cn_function record;

    if (function == CN_NONE) {
        cn_text_str_add(text, "<unknown function>");
        return true;
    }
    if (!cn_database_function(db, function, &record, err))
        return false;
    if (record.name[0] == '\0')
        return label_anonymous(db, &record, text, err);
    cn_text_str_add(text, record.name);
    return true;
}

/* Contexts of a kind this version does not know show whatever they carry. */
static bool label_by_contents(struct cn_database *db, const struct cn_context *context,
                              struct cn_text *text, struct cn_error *err)
{
    if (context->has_function)
        return cn_label_function(db, context->function, text, err);
    if (context->has_source)
        return label_line(db, context->file, context->line, text, err);
    if (context->has_point)
        return label_point(db, context->module, context->offset, text, err);
    if (context->id == 0) /* a row that many contexts share */
        cn_text_str_add(text, "<unknown place>");
    else
        cn_text_printf(text, "<context %" PRIu32 ">", context->id);
    return true;
}

bool cn_label_context(struct cn_database *db, const struct cn_context *context,
                      struct cn_text *text, struct cn_error *err)
{
    bool ok;

    switch (context->kind) {
    case CN_CONTEXT_ENTRY:
        cn_text_printf(text, "<%s>", context->entry_name);
        return true;
    case CN_CONTEXT_FUNCTION:
        ok = cn_label_function(db, context->has_function ? context->function : CN_NONE,
                               text, err);
        if (context->relation == CN_INLINED_CALL)
            cn_text_str_add(text, " (inlined)");
        return ok;
    case CN_CONTEXT_LOOP:
        cn_text_str_add(text, "loop at ");
        return label_by_contents(db, context, text, err);
    default:
        return label_by_contents(db, context, text, err);
    }
}
