/* The context tree as elements.
 *
 * A line becomes an <S>, and its calls become <C>s of the same location after it, which the
 * reader merges again. A <C> is no context: its id is negative, that of the function inside if
 * it is inlined, else that of the line.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/progress.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/write/writing.h"
#include "model/contexts/walk.h"

/* A context on the path. */
struct written_level {
    uint32_t id;
    const char *end;    /* tags to write at its end: "</PF></C>" */
    uint32_t procedure; /* the innermost one */
    uint32_t module;    /* of that procedure; CN_NONE: unknown */
    bool is_line;       /* <S>: its children are written after it */
    bool is_call;       /* <C> that is a context */
    uint32_t file, line;
};

struct tree_writer {
    struct cn_hpc_xml_writing *w;
    struct written_level *levels;
    size_t capacity;
    struct cn_map statics; /* by location and procedure */
    uint32_t next_static;
    uint64_t written_count;
    /* Losses. */
    uint64_t moved_count, lexical_count, kind_count, propagation_count, inlined_count,
        entry_count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The index of an address, which is added when it is new. */
static uint32_t add_address(struct cn_hpc_xml_writing *w, uint32_t module,
                            uint64_t offset)
{
    uint64_t key = mix(mix(1, module), offset);

    while (true) {
        uint32_t i = cn_map_find(&w->address_slots, key, UINT32_MAX);

        if (i == UINT32_MAX)
            break;
        if (w->addresses[i].module == module && w->addresses[i].offset == offset)
            return i;
        key++;
    }
    *cn_map_at(&w->address_slots, key, 0) = (uint32_t)w->address_count;
    CN_GROW(w->addresses, w->address_count, w->address_capacity);
    w->addresses[w->address_count] = (struct cn_hpc_xml_address){module, offset};
    return (uint32_t)w->address_count++;
}

/* The id of an entry point in the table of procedures. */
static uint32_t entry_procedure(struct cn_hpc_xml_writing *w,
                                const struct cn_context *entry)
{
    const char *name = entry->entry_name ? entry->entry_name : "";

    if (entry->entry == CN_ENTRY_MAIN_THREAD ||
        entry->entry == CN_ENTRY_APPLICATION_THREAD)
        return CN_HPC_XML_ENTRY_PROCEDURE + entry->entry;
    if (strcmp(name, cn_entry_name(CN_ENTRY_UNKNOWN)) == 0)
        return CN_HPC_XML_ENTRY_PROCEDURE + CN_ENTRY_UNKNOWN;
    return CN_HPC_XML_FIRST_FUNCTION + w->db->function_count +
           (uint32_t)w->address_count + cn_names_add(&w->entries, name);
}

/* A called address without a known function. */
static bool is_called_address(const struct cn_context *context)
{
    return context->kind == CN_CONTEXT_INSTRUCTION && context->relation != CN_LEXICAL &&
           context->has_point;
}

static void survey_context(struct cn_hpc_xml_writing *w, const struct cn_context *context,
                           bool *is_used)
{
    if (context->id > w->largest_id)
        w->largest_id = context->id;
    w->context_count++;
    if (is_called_address(context))
        (void)add_address(w, context->module, context->offset);
    if (context->has_function && context->function < w->db->function_count)
        is_used[context->function] = true;
}

/* Ids of entry points follow those of all addresses. */
static bool survey_entries(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context entry;
    enum cn_step step;

    if (!cn_context_children(w->db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(w->db, &cursor, &entry, err)) == CN_ITEM)
        if (entry.kind == CN_CONTEXT_ENTRY)
            (void)entry_procedure(w, &entry);
    return step == CN_END;
}

bool cn_hpc_xml_tree_survey(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    enum { CONTEXT_DEPTH_MAX = CN_HPC_XML_DEPTH_MAX / 2 - 3 };
    bool *is_used = cn_alloc(w->db->function_count, sizeof(*is_used));
    struct cn_walk walk = {0};
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step = CN_FAIL;
    uint64_t unused_count = 0;

    if (cn_walk_begin(&walk, w->db, err))
        while ((step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM) {
            if (event != CN_WALK_ENTER)
                continue;
            /* A context takes up to two elements; three are around all of them. */
            if (walk.depth > CONTEXT_DEPTH_MAX) {
                step = cn_fail(err, CN_ERR_LIMIT, "contexts nested deeper than %d",
                               CONTEXT_DEPTH_MAX);
                break;
            }
            survey_context(w, context, is_used);
        }
    cn_walk_done(&walk);
    /* The location of a function is written at its contexts. */
    for (uint32_t i = 0; i < w->db->function_count; i++)
        unused_count += !is_used[i];
    if (step == CN_END)
        cn_write_lose(w->options, "functions without a context", unused_count);
    free(is_used);
    return step == CN_END && survey_entries(w, err);
}

static int64_t module_id(uint32_t module)
{
    return module == CN_NONE ? CN_HPC_XML_NO_MODULE_ID
                             : (int64_t)module + CN_HPC_XML_FIRST_MODULE;
}

/* Readers merge contexts with the same static id. */
static uint32_t static_id(struct tree_writer *t, uint32_t procedure, unsigned kind,
                          uint32_t file, uint32_t line, uint64_t offset)
{
    uint64_t key = mix(mix(mix(mix(kind, procedure), file), line), offset);
    uint32_t *number = cn_map_at(&t->statics, key, t->next_static);

    t->next_static += *number == t->next_static;
    return *number;
}

static void add_location(struct cn_markup *m, uint32_t file, uint32_t line)
{
    cn_markup_number(m, "f",
                     file == CN_NONE ? CN_HPC_XML_UNKNOWN_FILE_ID : (int64_t)file);
    cn_markup_number(m, "l", file == CN_NONE ? 0 : line);
}

static void add_entry(struct tree_writer *t, const struct cn_context *entry,
                      struct written_level *level)
{
    const char *usual = cn_entry_name(entry->entry);
    struct cn_markup *m = &t->w->markup;
    uint32_t procedure = entry_procedure(t->w, entry);

    t->entry_count += !usual || (entry->entry != CN_ENTRY_UNKNOWN && entry->entry_name &&
                                 strcmp(entry->entry_name, usual) != 0);
    cn_markup_add(m, "<PF");
    cn_markup_number(m, "i", entry->id);
    cn_markup_number(m, "n", procedure);
    cn_markup_number(m, "s", procedure);
    add_location(m, CN_NONE, 0);
    cn_markup_number(m, "lm", CN_HPC_XML_NO_MODULE_ID);
    cn_markup_add(m, ">\n");
    level->procedure = procedure;
    level->module = CN_NONE;
    level->end = "</PF>\n";
}

/* The call site around a function. */
static void add_wrapper(struct tree_writer *t, const struct cn_context *context,
                        const struct written_level *parent)
{
    struct cn_markup *m = &t->w->markup;
    int64_t id = context->relation == CN_INLINED_CALL ? context->id : parent->id;
    uint32_t file = parent->is_line ? parent->file : CN_NONE;
    uint32_t line = parent->is_line ? parent->line : 0;

    cn_markup_add(m, "<C");
    cn_markup_number(m, "i", -id);
    cn_markup_number(m, "it", id);
    cn_markup_number(m, "s", static_id(t, parent->procedure, 'C', file, line, 0));
    cn_markup_add(m, " v=\"0\"");
    add_location(m, file, line);
    cn_markup_add(m, ">\n");
}

static void add_frame(struct cn_markup *m, uint32_t id, uint32_t procedure)
{
    cn_markup_add(m, "<PF");
    cn_markup_number(m, "i", id);
    cn_markup_number(m, "s", procedure);
    cn_markup_number(m, "n", procedure);
}

static bool add_called(struct tree_writer *t, const struct cn_context *context,
                       const struct written_level *parent, struct written_level *level,
                       struct cn_error *err)
{
    struct cn_markup *m = &t->w->markup;
    struct cn_function function = {.module = CN_NONE, .file = CN_NONE};

    level->procedure = CN_HPC_XML_UNKNOWN_FUNCTION;
    if (is_called_address(context)) {
        function.module = context->module;
        level->procedure = CN_HPC_XML_FIRST_FUNCTION + t->w->db->function_count +
                           add_address(t->w, context->module, context->offset);
    } else if (context->has_function) {
        if (!cn_database_function(t->w->db, context->function, &function, err))
            return false;
        level->procedure = CN_HPC_XML_FIRST_FUNCTION + context->function;
    }
    level->end = "</PF>\n";
    if (!parent->is_call) {
        add_wrapper(t, context, parent);
        level->end = "</PF>\n</C>\n";
    } else {
        t->inlined_count += context->relation == CN_INLINED_CALL;
    }
    t->lexical_count += context->relation == CN_LEXICAL;
    t->moved_count += parent->is_line && parent->file == CN_NONE;
    add_frame(m, context->id, level->procedure);
    if (context->has_function && context->kind == CN_CONTEXT_FUNCTION)
        cn_markup_address(m, "v", function.offset);
    add_location(m, function.file, function.line);
    cn_markup_number(m, "lm", module_id(function.module));
    cn_markup_add(m, ">\n");
    level->module = function.module;
    return true;
}

/* Begin the element of a loop, line or instruction. */
static void begin_line(struct tree_writer *t, const struct cn_context *context,
                       const char *element, const struct written_level *parent)
{
    struct cn_markup *m = &t->w->markup;
    uint32_t file = context->has_source ? context->file : CN_NONE;

    t->moved_count += parent->is_line;
    cn_markup_add(m, element);
    cn_markup_number(m, "i", context->id);
    if (element[1] != 'L')
        cn_markup_number(m, "it", context->id);
    cn_markup_number(m, "s",
                     static_id(t, parent->procedure, (unsigned)element[1], file,
                               context->line, context->has_point ? context->offset : 0));
    if (context->has_point)
        cn_markup_address(m, "v", context->offset);
    else
        cn_markup_add(m, " v=\"0\"");
    if (context->has_point && context->module != parent->module)
        cn_markup_number(m, "lm", module_id(context->module));
    add_location(m, file, context->line);
}

static bool has_children(struct cn_database *db, const struct cn_context *context,
                         bool *out, struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context child;

    if (!cn_context_children(db, context, &cursor, err))
        return false;
    enum cn_step step = cn_context_next(db, &cursor, &child, err);
    *out = step == CN_ITEM;
    return step != CN_FAIL;
}

static bool add_line(struct tree_writer *t, const struct cn_context *context,
                     const struct written_level *parent, struct written_level *level,
                     struct cn_error *err)
{
    struct cn_markup *m = &t->w->markup;
    bool is_instruction = context->kind == CN_CONTEXT_INSTRUCTION && context->has_point &&
                          !context->has_source;
    bool is_parent = false;

    if (is_instruction && !has_children(t->w->db, context, &is_parent, err))
        return false;
    t->kind_count +=
        (context->kind != CN_CONTEXT_LOOP && context->kind != CN_CONTEXT_LINE &&
         !is_instruction) ||
        (context->kind == CN_CONTEXT_LINE && context->has_point && !context->has_source);
    if (context->kind == CN_CONTEXT_LOOP) {
        begin_line(t, context, "<L", parent);
        cn_markup_add(m, ">\n");
        level->end = "</L>\n";
    } else if (is_parent) {
        begin_line(t, context, "<C", parent);
        cn_markup_add(m, ">\n");
        level->end = "</C>\n";
        level->is_call = true;
    } else {
        begin_line(t, context, "<S", parent);
        cn_markup_add(m, "/>\n");
        level->is_line = true;
        level->file = context->has_source ? context->file : CN_NONE;
        level->line = context->line;
    }
    return true;
}

static bool enter(struct tree_writer *t, size_t depth, const struct cn_context *context,
                  struct cn_error *err)
{
    struct written_level *level, *parent;

    CN_GROW(t->levels, depth, t->capacity);
    level = &t->levels[depth - 1];
    *level = (struct written_level){.id = context->id, .end = ""};
    if (context->kind == CN_CONTEXT_ENTRY) {
        if (depth > 1)
            return cn_fail(err, CN_ERR_FORMAT,
                           "context %" PRIu32 " is an entry point below another context",
                           context->id);
        add_entry(t, context, level);
        return true;
    }
    parent = &t->levels[depth - 2];
    level->procedure = parent->procedure;
    level->module = parent->module;
    t->propagation_count +=
        context->propagation != (context->relation == CN_LEXICAL ? 1 : 0);
    if (context->kind == CN_CONTEXT_FUNCTION || is_called_address(context))
        return add_called(t, context, parent, level, err);
    return add_line(t, context, parent, level, err);
}

static bool walk_tree(struct tree_writer *t, struct cn_walk *walk, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 15 };
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step;

    while ((step = cn_walk_next(walk, &event, &context, err)) == CN_ITEM) {
        if (event == CN_WALK_LEAVE) {
            cn_markup_add(&t->w->markup, t->levels[walk->depth - 1].end);
            continue;
        }
        if (!enter(t, walk->depth, context, err) || !cn_markup_flush(&t->w->markup, err))
            return false;
        if (++t->written_count % REPORT_EVERY == 0 &&
            !cn_progress_report(t->w->options->progress, "writing experiment.xml",
                                t->written_count, t->w->context_count, "contexts", err))
            return false;
    }
    return step == CN_END;
}

/* The context of samples where a thread waits. */
static void add_idle(struct cn_hpc_xml_writing *w)
{
    struct cn_markup *m = &w->markup;

    if (w->idle_context == 0)
        return;
    add_frame(m, w->idle_context, CN_HPC_XML_IDLE_PROCEDURE);
    add_location(m, CN_NONE, 0);
    cn_markup_number(m, "lm", CN_HPC_XML_NO_MODULE_ID);
    cn_markup_add(m, ">\n<S");
    cn_markup_number(m, "i", -(int64_t)w->idle_context);
    cn_markup_number(m, "it", w->idle_context);
    cn_markup_number(m, "s", CN_HPC_XML_IDLE_PROCEDURE);
    cn_markup_add(m, " v=\"0\"");
    add_location(m, CN_NONE, 0);
    cn_markup_add(m, "/>\n</PF>\n");
}

static void report_losses(const struct tree_writer *t)
{
    cn_write_lose(t->w->options, "names of entry points that the format does not have",
                  t->entry_count);
    cn_write_lose(t->w->options, "contexts inside lines, written beside them",
                  t->moved_count);
    cn_write_lose(t->w->options, "functions inside functions, written as called",
                  t->lexical_count);
    cn_write_lose(t->w->options, "functions inlined at an address, written as called",
                  t->inlined_count);
    cn_write_lose(t->w->options, "contexts of a kind that the format does not have",
                  t->kind_count);
    cn_write_lose(t->w->options, "unusual propagation flags", t->propagation_count);
}

bool cn_hpc_xml_tree_write(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct tree_writer t = {
        .w = w,
        .next_static = CN_HPC_XML_FIRST_FUNCTION + w->db->function_count +
                       (uint32_t)w->address_count + (uint32_t)w->entries.count,
    };
    struct cn_walk walk = {0};

    cn_markup_add(&w->markup, "<SecCallPathProfileData>\n");
    bool ok = cn_walk_begin(&walk, w->db, err) && walk_tree(&t, &walk, err);
    cn_walk_done(&walk);
    add_idle(w);
    cn_markup_add(&w->markup, "</SecCallPathProfileData>\n");
    if (ok)
        report_losses(&t);
    cn_map_done(&t.statics);
    free(t.levels);
    return ok;
}
