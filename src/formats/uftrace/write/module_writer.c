/* NAME.sym and NAME.dbg. */

#include <inttypes.h>

#include "base/map.h"
#include "base/text.h"
#include "formats/uftrace/text/symbol_reader.h"
#include "formats/uftrace/write/writer.h"

static void print_head(const struct cn_call_module *module, struct cn_text *text)
{
    cn_text_printf(text, "# path name: %s\n", module->path);
    if (module->build_id[0] != '\0')
        cn_text_printf(text, "# build-id: %s\n", module->build_id);
}

static void print_symbols(const struct cn_recording *rec,
                          const struct cn_call_module *module, struct cn_text *text)
{
    cn_text_printf(text, "# symbols: %" PRIu32 "\n", module->function_count);
    print_head(module, text);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct cn_call_function *f = &rec->functions[module->first_function + i];

        cn_text_printf(text, "%016" PRIx64 " %08" PRIx64 " %c %s\n", f->offset, f->size,
                       f->type, f->raw_name);
    }
}

static void print_enums(const struct cn_argument_specs *specs, struct cn_names *printed,
                        struct cn_text *text)
{
    for (size_t i = 0; i < specs->count; i++) {
        const struct cn_enum *e = specs->list[i].enumeration;

        if (!e || cn_names_had(printed, e->name))
            continue;
        cn_text_printf(text, "E: enum %s {", e->name);
        for (size_t m = 0; m < e->count; m++)
            cn_text_printf(text, "%s%s=%" PRId64, m > 0 ? "," : "", e->members[m].name,
                           e->members[m].value);
        cn_text_str_add(text, "}\n");
    }
}

static void print_specs(char letter, const struct cn_argument_specs *specs,
                        struct cn_text *text)
{
    if (specs->count == 0)
        return;
    cn_text_printf(text, "%c: @", letter);
    for (size_t i = 0; i < specs->count; i++)
        cn_text_printf(text, "%s%s", i > 0 ? "," : "", specs->list[i].text);
    cn_text_char(text, '\n');
}

/* False when there is no debug information about the module. */
static bool print_debug(const struct cn_recording *rec,
                        const struct cn_call_module *module, struct cn_text *text)
{
    const struct cn_call_function *functions = rec->functions + module->first_function;
    struct cn_names enums = {0};
    bool is_any = false;

    print_head(module, text);
    for (uint32_t i = 0; i < module->function_count; i++) {
        print_enums(&functions[i].arguments, &enums, text);
        print_enums(&functions[i].result, &enums, text);
    }
    cn_names_done(&enums);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct cn_call_function *f = &functions[i];

        if (f->line == 0 && f->arguments.count == 0 && f->result.count == 0)
            continue;
        is_any = true;
        cn_text_printf(text, "F: %" PRIx64 " %s\n", f->offset, f->raw_name);
        if (f->line > 0)
            cn_text_printf(text, "L: %" PRIu32 " %s\n", f->line, f->file);
        print_specs('A', &f->arguments, text);
        print_specs('R', &f->result, text);
    }
    return is_any;
}

static bool write_module(const struct cn_uft_writing *w,
                         const struct cn_call_module *module, struct cn_text *base,
                         struct cn_error *err)
{
    size_t base_len = base->len;
    struct cn_text text = {0};
    bool ok;

    print_symbols(w->rec, module, &text);
    cn_text_str_add(base, ".sym");
    ok = cn_uft_write_text(w, cn_text_str(base), &text, err);
    cn_text_clear(&text);
    if (ok && print_debug(w->rec, module, &text)) {
        base->len = base_len;
        cn_text_str_add(base, ".dbg");
        ok = cn_uft_write_text(w, cn_text_str(base), &text, err);
    }
    cn_text_done(&text);
    return ok;
}

bool cn_uft_write_modules(const struct cn_uft_writing *w, struct cn_error *err)
{
    struct cn_names used = {0};
    struct cn_text base = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < w->rec->module_count; i++) {
        const struct cn_call_module *module = &w->rec->modules[i];
        char mark[CN_UFT_MARK_LEN + 1] = "";
        size_t known = used.count;

        if (module->function_count == 0)
            continue;
        /* The first module of a name gets the name. */
        if (cn_names_add(&used, module->name) != known)
            cn_uft_module_mark(module->path, module->build_id, mark);
        cn_text_clear(&base);
        cn_text_printf(&base, "%s%s", module->name, mark);
        ok = write_module(w, module, &base, err);
    }
    cn_names_done(&used);
    cn_text_done(&base);
    return ok;
}
