#include "launcher/rules/arguments.h"

#include <assert.h>
#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/path.h"
#include "formats/uftrace/text/scan.h"
#include "launcher/elf/file.h"
#include "launcher/files/shared_memory.h"
#include "launcher/rules/automatic_values.h"
#include "launcher/rules/calling.h"
#include "launcher/rules/known_functions.h"
#include "launcher/rules/rules.h"
#include "symbols/program/prototypes.h"

enum { WORD = 8 };

struct cn_argument_finder {
    struct cn_arguments *arguments;
    const char *module; /* the name of the file without its folder */
    enum cn_calling_machine machine;
    struct cn_shared_memory *memory;
    struct cn_hook_calls *hooks;
    struct cn_prototypes *prototypes;
    struct cn_arena arena;
    struct cn_uft_enums enums;
    struct cn_uft_spec_parser parser; /* uses the two above */
    struct cn_names enum_names;       /* already written */
    struct cn_text enum_lines, function_lines;
};

/* The current function. */
struct arguments_function {
    enum cn_calling_machine machine;
    const struct cn_elf_symbol *symbol;
    const char *name;
    uint64_t call_at; /* address after the call of its hook; 0: the hook comes first */
    enum cn_hook_time time;
    bool has_prototype, has_results;
    struct cn_prototype prototype;
    struct cn_automatic_values automatic;
};

/* The module that a rule names, to be checked when the program is known. */
struct cn_named_module {
    const char *text; /* of the option */
    bool is_result;
    char *name;
};

static void add_module(struct cn_arguments *arguments, struct cn_bytes specs,
                       const char *text, bool is_result)
{
    struct cn_bytes word;

    while (cn_uft_scan_until(&specs, ',', &word)) {
        if (!cn_uft_is_module(word))
            continue;
        char *name = cn_alloc(word.len + 1, 1);
        memcpy(name, word.ptr, word.len);
        CN_PUSH(arguments->modules, arguments->module_count, arguments->module_capacity,
                (struct cn_named_module){text, is_result, name});
    }
}

static bool add_rule(struct cn_arguments *arguments, struct cn_bytes text, bool is_result,
                     struct cn_error *err)
{
    struct cn_bytes specs = text, name;

    (void)cn_uft_scan_until(&specs, '@', &name);
    if (!cn_uft_specs_check(specs, is_result, err) ||
        !cn_uft_value_rules_add(&arguments->values.requested[is_result], text,
                                arguments->is_glob ? CN_MATCH_GLOB : CN_MATCH_REGEX, err))
        return false;
    arguments->needs_debug |= !cn_uft_has_specs(specs);
    add_module(arguments, specs, (const char *)text.ptr, is_result);
    return true;
}

bool cn_arguments_add(struct cn_arguments *arguments, const char *text, bool is_result,
                      struct cn_error *err)
{
    struct cn_text *all = &arguments->texts[is_result];
    struct cn_bytes rest = cn_bytes_of(text), one;

    while (cn_uft_scan_until(&rest, ';', &one)) {
        if (!add_rule(arguments, one, is_result, err))
            return false;
        cn_text_printf(all, "%s%.*s", all->len > 0 ? ";" : "", (int)one.len,
                       (const char *)one.ptr);
    }
    cn_uft_value_rules_sort(&arguments->values.requested[is_result]);
    return true;
}

bool cn_arguments_add_quietly(struct cn_arguments *arguments, const char *text,
                              bool is_result, struct cn_error *err)
{
    size_t before = arguments->values.requested[is_result].count;
    bool ok = cn_arguments_add(arguments, text, is_result, err);

    arguments->quiet_counts[is_result] +=
        arguments->values.requested[is_result].count - before;
    return ok;
}

bool cn_arguments_check_modules(const struct cn_arguments *arguments, const char *program,
                                struct cn_error *err)
{
    for (size_t i = 0; i < arguments->module_count; i++) {
        const struct cn_named_module *module = &arguments->modules[i];

        if (!cn_module_name_is_plausible(module->name, program))
            return cn_fail(
                err, CN_ERR_USAGE,
                "--%s '%s': '%s' is neither a module of the program nor %s",
                module->is_result ? "retval" : "argument", module->text, module->name,
                module->is_result ? "a result such as retval/s"
                                  : "an argument such as arg1, arg2/s or fparg1/32");
    }
    return true;
}

void cn_arguments_report(const struct cn_arguments *arguments, cn_rules_fn report,
                         void *arg)
{
    static const char *const options[] = {"argument", "retval"};

    for (size_t k = 0; k < 2; k++) {
        struct cn_bytes text = cn_bytes_of(cn_text_str(&arguments->texts[k])), one;

        size_t count = arguments->values.requested[k].count - arguments->quiet_counts[k];

        for (size_t i = 0; i < count && cn_uft_scan_until(&text, ';', &one); i++) {
            struct cn_text rule = {0};

            if (arguments->values.matched[k] && arguments->values.matched[k][i])
                continue;
            cn_text_add(&rule, (const char *)one.ptr, one.len);
            report(arg, options[k], cn_text_str(&rule), "matched no function");
            cn_text_done(&rule);
        }
    }
}

bool cn_arguments_is_empty(const struct cn_arguments *arguments)
{
    const struct cn_uft_values *values = &arguments->values;

    return !values->is_automatic && values->requested[0].count == 0 &&
           values->requested[1].count == 0;
}

bool cn_arguments_has_debug(const struct cn_arguments *arguments)
{
    return arguments->values.is_automatic || arguments->needs_debug ||
           arguments->needs_lines;
}

void cn_arguments_done(struct cn_arguments *arguments)
{
    free(arguments->values.matched[0]);
    free(arguments->values.matched[1]);
    cn_uft_values_done(&arguments->values);
    for (size_t k = 0; k < 2; k++) {
        cn_text_done(&arguments->texts[k]);
        cn_text_done(&arguments->known[k]);
    }
    for (size_t i = 0; i < arguments->module_count; i++)
        free(arguments->modules[i].name);
    free(arguments->modules);
    *arguments = (struct cn_arguments){0};
}

/* Add the rules for well-known functions. They apply to library calls only: a program may
 * define other functions of these names. */
static void read_known(struct cn_arguments *arguments)
{
    arguments->values.knows_libcalls_only = true;
    for (size_t k = 0; k < 2; k++) {
        struct cn_bytes text, one;
        struct cn_error err;
        bool ok = true;

        cn_known_functions_print(k == 1, &arguments->known[k]);
        text = cn_bytes_of(cn_text_str(&arguments->known[k]));
        while (ok && cn_uft_scan_until(&text, ';', &one))
            ok = cn_uft_value_rules_add(&arguments->values.known[k], one, CN_MATCH_NAME,
                                        &err);
        assert(ok);
        cn_uft_value_rules_sort(&arguments->values.known[k]);
    }
}

struct cn_argument_finder *cn_argument_finder_open(struct cn_arguments *arguments,
                                                   const char *path, unsigned machine,
                                                   bool needs_prototypes,
                                                   struct cn_shared_memory *memory)
{
    struct cn_argument_finder *finder = cn_alloc(1, sizeof(*finder));

    if (arguments->known[0].len == 0)
        read_known(arguments);
    for (size_t k = 0; k < 2; k++)
        if (!arguments->values.matched[k])
            arguments->values.matched[k] =
                cn_alloc(arguments->values.requested[k].count + 1, sizeof(bool));
    finder->arguments = arguments;
    finder->parser = (struct cn_uft_spec_parser){WORD, &finder->arena, &finder->enums};
    finder->module = cn_path_name(path);
    finder->machine = machine == EM_AARCH64 ? CN_CALLING_AARCH64 : CN_CALLING_X86_64;
    finder->memory = memory;
    finder->hooks = cn_hook_calls_open(path);
    if (cn_arguments_has_debug(arguments) || needs_prototypes || finder->hooks)
        finder->prototypes = cn_prototypes_open(path);
    return finder;
}

void cn_argument_finder_close(struct cn_argument_finder *finder)
{
    if (!finder)
        return;
    cn_hook_calls_close(finder->hooks);
    cn_prototypes_close(finder->prototypes);
    cn_uft_enums_done(&finder->enums);
    cn_names_done(&finder->enum_names);
    cn_arena_done(&finder->arena);
    cn_text_done(&finder->enum_lines);
    cn_text_done(&finder->function_lines);
    free(finder);
}

/* Readers find enums by name: of two with the same name, the second is shown as a
 * number. */
static void add_enum(struct cn_argument_finder *finder, struct cn_value_type *type)
{
    struct cn_text key = {0};
    size_t known = finder->enum_names.count;
    uint32_t plain, full; /* the first enum of a name has the next number */

    if (type->kind != CN_VALUE_ENUM)
        return;
    plain = cn_names_add(&finder->enum_names, type->name);
    cn_text_printf(&key, "%s {%s}", type->name, type->members);
    full = cn_names_add(&finder->enum_names, cn_text_str(&key));
    if (plain == known)
        cn_text_printf(&finder->enum_lines, "E: enum %s\n", cn_text_str(&key));
    else if (full != plain + 1)
        type->kind = CN_VALUE_SIGNED;
    cn_text_done(&key);
}

static void add_debug_lines(struct cn_argument_finder *finder,
                            struct arguments_function *function)
{
    struct cn_text *lines = &finder->function_lines;
    const char *arguments = cn_text_str(&function->automatic.texts[0]);
    const char *result = cn_text_str(&function->automatic.texts[1]);

    cn_text_printf(lines, "F: %" PRIx64 " %s\n", function->symbol->address,
                   function->symbol->name);
    if (function->prototype.file && function->prototype.line > 0)
        cn_text_printf(lines, "L: %d %s\n", function->prototype.line,
                       function->prototype.file);
    if (*arguments)
        cn_text_printf(lines, "A: @%s\n", arguments);
    if (*result)
        cn_text_printf(lines, "R: @%s\n", result);
}

static void find_prototype(struct cn_argument_finder *finder,
                           struct arguments_function *function)
{
    const struct cn_elf_symbol *symbol = function->symbol;

    if (symbol->kind == 'P')
        return;
    if (finder->hooks)
        function->call_at =
            cn_hook_calls_find(finder->hooks, symbol->address, symbol->size);
    if (function->call_at > 0)
        function->time = CN_HOOK_LATER;
    else if (strchr(symbol->name, '.'))
        function->time = CN_HOOK_FIRST_CLONE;
    /* On x86_64 only -finstrument-functions makes such calls, and it cannot record
     * results. */
    if (finder->machine == CN_CALLING_X86_64)
        function->has_results = function->call_at == 0;
    function->has_prototype =
        finder->prototypes &&
        cn_prototypes_find(finder->prototypes, symbol->address, symbol->size,
                           function->call_at ? function->call_at : symbol->address,
                           &function->prototype);
}

static struct arguments_function *function_new(struct cn_argument_finder *finder,
                                               const struct cn_elf_symbol *symbol,
                                               const char *name)
{
    struct arguments_function *function = cn_alloc(1, sizeof(*function));

    function->machine = finder->machine;
    function->symbol = symbol;
    function->name = name;
    function->has_results = true;
    find_prototype(finder, function);
    return function;
}

static void function_free(struct arguments_function *function)
{
    cn_automatic_values_done(&function->automatic);
    free(function);
}

static void find_automatic(struct cn_argument_finder *finder,
                           struct arguments_function *function)
{
    struct cn_prototype *prototype = &function->prototype;

    if (!function->has_prototype)
        return;
    if (finder->arguments->values.is_automatic || finder->arguments->needs_debug) {
        for (size_t i = 0; i < prototype->count && i < CN_PARAMETERS_MAX; i++)
            add_enum(finder, &prototype->parameters[i].type);
        add_enum(finder, &prototype->result);
        cn_automatic_values_find(&function->automatic, finder->machine, prototype,
                                 function->time, function->has_results);
    }
    if (cn_arguments_has_debug(finder->arguments))
        add_debug_lines(finder, function);
}

/* Find a struct or a result by its type in debug information. */
static bool find_by_type(const struct arguments_function *function,
                         const struct cn_argument_spec *spec, struct cn_rec_value *out)
{
    const struct cn_prototype *prototype = &function->prototype;
    struct cn_calling calling;

    if (!function->has_prototype || !prototype->has_usual_calls ||
        function->time != CN_HOOK_FIRST)
        return false;
    if (spec->index == 0)
        return cn_calling_result(function->machine, &prototype->result, out);
    cn_calling_begin(&calling, function->machine, &prototype->result);
    for (size_t i = 0; i < prototype->count && i < CN_PARAMETERS_MAX; i++) {
        bool is_known = cn_calling_next(&calling, &prototype->parameters[i].type, out);

        if (i + 1 == spec->index || !is_known)
            return is_known;
    }
    return false;
}

static bool find_result(const struct arguments_function *function,
                        const struct cn_argument_spec *spec, struct cn_rec_value *out)
{
    struct cn_value_type type = {
        .kind = spec->format == 'f' ? CN_VALUE_FLOAT : CN_VALUE_UNSIGNED,
        .size = spec->size == 10 ? 16 : WORD,
        .name = "long double",
    };

    if (spec->format == 't')
        return find_by_type(function, spec, out);
    return cn_calling_result(function->machine, &type, out);
}

static bool find_argument(const struct arguments_function *function,
                          const struct cn_argument_spec *spec, struct cn_rec_value *out)
{
    const char *source = strchr(spec->text, '%');
    struct cn_rec_piece piece;
    bool is_known = source ? cn_calling_register(function->machine, source + 1, &piece)
                           : cn_calling_nth(function->machine, spec->is_float,
                                            spec->index - 1u, &piece);

    if (!source && (spec->format == 't' || spec->size > WORD))
        return find_by_type(function, spec, out);
    if (!is_known || function->time == CN_HOOK_FIRST_CLONE)
        return false;
    if (function->time == CN_HOOK_LATER)
        return function->has_prototype &&
               cn_automatic_values_moved(function->machine, &function->prototype, &piece,
                                         out);
    if (spec->format == 's' || spec->format == 'S' ||
        (spec->size > WORD && piece.source != CN_REC_FROM_STACK))
        piece.len = WORD;
    else
        piece.len = spec->size;
    out->pieces[0] = piece;
    out->piece_count = 1;
    return true;
}

/* Add a rule that makes readers show this value as unknown. False when that is
 * impossible. */
static bool mark_unknown(struct cn_argument_finder *finder,
                         const struct arguments_function *function,
                         const struct cn_argument_spec *spec)
{
    struct cn_arguments *arguments = finder->arguments;
    const char *source = strchr(spec->text, '%');
    struct cn_text *text = &arguments->texts[spec->index == 0];

    if ((spec->index == 0 && spec->is_float) || /* would add a second result */
        cn_uft_match_of(function->name, arguments->is_glob) != CN_MATCH_NAME ||
        strpbrk(function->name, ";@, "))
        return false;
    cn_text_printf(text, ";%s@", function->name);
    if (spec->index == 0)
        cn_text_str_add(text, "retval");
    else
        cn_text_printf(text, "%sarg%u", spec->is_float ? "fp" : "", spec->index);
    cn_text_printf(text, "/e:" CN_ARGUMENT_UNKNOWN "%s", source ? source : "");
    return true;
}

static bool find_value(struct cn_argument_finder *finder,
                       const struct arguments_function *function,
                       const struct cn_argument_spec *spec, struct cn_rec_value *out)
{
    *out = (struct cn_rec_value){0};
    if (spec->is_automatic) {
        *out = spec->index == 0 ? function->automatic.result
                                : function->automatic.arguments[spec->index - 1];
        return true;
    }
    bool is_found = spec->index == 0 ? find_result(function, spec, out)
                                     : find_argument(function, spec, out);
    out->kind = spec->format == 's'   ? CN_REC_VALUE_STRING
                : spec->format == 'S' ? CN_REC_VALUE_STD_STRING
                                      : CN_REC_VALUE_PLAIN;
    out->size = spec->size;
    if (is_found)
        return true;
    *out = (struct cn_rec_value){.kind = CN_REC_VALUE_UNKNOWN};
    return mark_unknown(finder, function, spec);
}

/* Store the values of a call; returns their number. */
static uint16_t store_values(struct cn_argument_finder *finder,
                             const struct arguments_function *function,
                             const struct cn_uft_specs *specs, uint32_t *first)
{
    struct cn_rec_shared *head = finder->memory->head;

    *first = head->value_count;
    if (specs->count == 0 || head->value_count > CN_REC_VALUE_MAX - CN_UFT_SPECS_MAX ||
        !cn_shared_memory_reserve_values(finder->memory, *first, specs->count))
        return 0;
    for (size_t i = 0; i < specs->count; i++) {
        if (!find_value(finder, function, &specs->list[i],
                        &finder->memory->values[*first + i]))
            return 0;
    }
    head->value_count += (uint32_t)specs->count;
    return (uint16_t)specs->count;
}

void cn_argument_finder_find(struct cn_argument_finder *finder,
                             const struct cn_elf_symbol *symbol, const char *name,
                             struct cn_rec_rule *rule)
{
    const struct cn_uft_values *values = &finder->arguments->values;
    struct cn_uft_specs arguments = {.count = 0}, results = {.count = 0};
    struct cn_uft_value_function known;
    struct arguments_function *function = function_new(finder, symbol, name);

    find_automatic(finder, function);
    known = (struct cn_uft_value_function){
        .name = name,
        .module = finder->module,
        .type = symbol->kind,
        .debug = {cn_bytes_of(cn_text_str(&function->automatic.texts[0])),
                  cn_bytes_of(cn_text_str(&function->automatic.texts[1]))},
    };
    cn_uft_values_find(values, &known, false, &finder->parser, &arguments);
    if (function->has_results)
        cn_uft_values_find(values, &known, true, &finder->parser, &results);
    rule->argument_count = store_values(finder, function, &arguments, &rule->arguments);
    rule->result_count = store_values(finder, function, &results, &rule->results);
    if (rule->argument_count > 0 || rule->result_count > 0)
        rule->actions |= CN_REC_RULE_VALUES;
    if (function->call_at > 0)
        rule->call_off = (uint32_t)(function->call_at - symbol->address);
    function_free(function);
}

bool cn_argument_finder_number(struct cn_argument_finder *finder,
                               const struct cn_elf_symbol *symbol, const char *name,
                               uint8_t argument, uint32_t *index)
{
    struct cn_rec_shared *head = finder->memory->head;
    struct cn_argument_spec spec = {
        .index = argument, .format = 'd', .size = WORD, .text = "", .type_name = ""};
    struct arguments_function *function = function_new(finder, symbol, name);
    const struct cn_prototype *prototype = &function->prototype;
    struct cn_rec_value value = {0};
    bool ok = find_argument(function, &spec, &value) && value.piece_count == 1 &&
              head->value_count < CN_REC_VALUE_MAX &&
              cn_shared_memory_reserve_values(finder->memory, head->value_count, 1);

    value.size = value.pieces[0].len < WORD ? value.pieces[0].len : WORD;
    if (function->has_prototype && argument <= prototype->count &&
        argument <= CN_PARAMETERS_MAX &&
        prototype->parameters[argument - 1].type.size < value.size)
        value.size = (uint16_t)prototype->parameters[argument - 1].type.size;
    function_free(function);
    if (!ok)
        return false;
    *index = head->value_count++;
    finder->memory->values[*index] = value;
    return true;
}

const char *cn_argument_finder_file(struct cn_argument_finder *finder,
                                    const struct cn_elf_symbol *symbol)
{
    struct arguments_function *function = function_new(finder, symbol, symbol->name);
    const char *file = function->has_prototype ? function->prototype.file : NULL;

    function_free(function);
    return file;
}

void cn_argument_finder_print(const struct cn_argument_finder *finder,
                              const struct cn_elf_file *elf, struct cn_text *text)
{
    if (!cn_arguments_has_debug(finder->arguments))
        return;
    if (elf->build_id[0])
        cn_text_printf(text, "# build-id: %s\n", elf->build_id);
    cn_text_str_add(text, cn_text_str(&finder->enum_lines));
    cn_text_str_add(text, cn_text_str(&finder->function_lines));
}
