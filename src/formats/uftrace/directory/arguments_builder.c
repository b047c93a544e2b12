/* The recorded values and the locations of functions, from the rules of the info file and
 * from debug information. */

#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/text/debug_reader.h"
#include "formats/uftrace/text/scan.h"
#include "formats/uftrace/text/value_rules.h"
#include "symbols/demangle.h"

struct arguments {
    struct cn_uft_directory *dir;
    struct cn_uft_values values;
    struct cn_uft_spec_parser parser;
    struct cn_uft_debug debug; /* of the current module */
    struct cn_text demangled;  /* name of the current function */
};

static struct cn_bytes fact(const struct cn_uft_directory *dir, const char *key)
{
    const char *value = cn_recording_fact(&dir->rec, key);

    return (struct cn_bytes){(const uint8_t *)value, value ? strlen(value) : 0};
}

static void read_rules(struct cn_uft_directory *dir, const char *key, enum cn_match match,
                       struct cn_uft_value_rules *rules)
{
    struct cn_bytes text = fact(dir, key), one;
    struct cn_error err;

    while (cn_uft_scan_until(&text, ';', &one))
        if (one.len > 0 && !cn_uft_value_rules_add(rules, one, match, &err))
            cn_recording_warn(&dir->rec, err.kind == CN_ERR_LIMIT, "info: %s: %s", key,
                              err.text);
    cn_uft_value_rules_sort(rules);
}

static struct cn_argument_specs find_specs(const struct arguments *a,
                                           const struct cn_uft_value_function *function,
                                           bool is_result)
{
    struct cn_uft_specs specs = {.count = 0};

    cn_uft_values_find(&a->values, function, is_result, &a->parser, &specs);
    return cn_uft_specs_copy(&specs, &a->dir->rec.arena);
}

static void describe(struct arguments *a, struct cn_call_function *f, bool has_values)
{
    const struct cn_uft_debug_function *debug = cn_uft_debug_find(&a->debug, f->offset);
    struct cn_uft_value_function function = {
        .name = f->name,
        .module = a->dir->modules[f->module].name,
        .type = f->type,
    };

    if (debug && debug->file.len > 0) {
        f->file = cn_uft_text_copy(&a->dir->rec.arena, debug->file);
        f->line = debug->line;
    }
    if (!has_values || !strchr("TtwWKPiI", f->type))
        return;
    if (debug) {
        function.debug[0] = debug->arguments;
        function.debug[1] = debug->result;
        (void)cn_uft_scan_literal(&function.debug[0], "@");
        (void)cn_uft_scan_literal(&function.debug[1], "@");
    }
    /* The recorder matched names in this form, however they are shown. */
    if (a->dir->demangle != CN_DEMANGLE_SIMPLE) {
        cn_text_clear(&a->demangled);
        function.name = cn_demangle(f->raw_name, CN_DEMANGLE_SIMPLE, &a->demangled)
                            ? cn_text_str(&a->demangled)
                            : f->raw_name;
    }
    f->arguments = find_specs(a, &function, false);
    f->result = find_specs(a, &function, true);
}

static void read_debug(struct arguments *a, uint32_t module)
{
    char name[NAME_MAX];
    struct cn_uft_bad_lines bad = {&a->dir->rec, name, 0};
    struct cn_bytes file;

    a->debug = (struct cn_uft_debug){0};
    if (!cn_uft_module_file(a->dir, module, ".dbg", name, &file))
        return;
    cn_uft_debug_read(file, &a->debug, cn_uft_bad_line, &bad);
    cn_uft_bad_lines_done(&bad);
    for (size_t i = 0; i < a->debug.enum_count; i++)
        cn_uft_enums_add(&a->dir->enums, a->debug.enums[i], &a->dir->rec.arena);
}

void cn_uft_arguments_build(struct cn_uft_directory *dir)
{
    struct arguments a = {
        .dir = dir,
        .parser = {dir->rec.is_32_bit ? 4 : 8, &dir->rec.arena, &dir->enums},
    };
    bool has_values =
        (dir->rec.features & (CN_FEATURE_ARGUMENT | CN_FEATURE_RETVAL)) != 0;
    enum cn_match match = cn_uft_text_equals(fact(dir, "pattern_type"), "glob")
                              ? CN_MATCH_GLOB
                              : CN_MATCH_REGEX;

    a.values.is_automatic = cn_recording_fact(&dir->rec, "auto-args") != NULL;
    cn_uft_enums_add(&dir->enums, fact(dir, "enumauto"), &dir->rec.arena);
    read_rules(dir, "argspec", match, &a.values.requested[0]);
    read_rules(dir, "retspec", match, &a.values.requested[1]);
    read_rules(dir, "argauto", CN_MATCH_NAME, &a.values.known[0]);
    read_rules(dir, "retauto", CN_MATCH_NAME, &a.values.known[1]);
    for (uint32_t i = 0; i < dir->module_count; i++) {
        const struct cn_call_module *module = &dir->modules[i];

        read_debug(&a, i);
        for (uint32_t f = 0; f < module->function_count; f++)
            describe(&a, &dir->functions[module->first_function + f], has_values);
        cn_uft_debug_done(&a.debug);
    }
    cn_uft_values_done(&a.values);
    cn_text_done(&a.demangled);
}
