/* Which arguments were recorded of which function.
 *
 * A record does not say how long its payload is: that follows from the
 * specifications the recorder was given. Those asked for by name come first; with
 * automatic arguments, the rest is taken from debug information and, failing that,
 * from the recorder's table of well-known functions, which is part of the info file. */

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex.h"
#include "base/text.h"
#include "formats/uftrace/directory/directory.h"
#include "formats/uftrace/text/debug_reader.h"
#include "formats/uftrace/text/scan.h"
#include "symbols/demangle.h"

/* More patterns than anybody types; each is tried on every function. */
enum { PATTERNS_MAX = 256, PATTERN_SIZE_MAX = 10000 };

enum pattern_kind { PATTERN_EXACT, PATTERN_REGEX, PATTERN_GLOB };

/* "name@specs" */
struct rule {
    const char *name;
    struct cn_bytes specs; /* empty: what automatic arguments would record */
    enum pattern_kind kind;
    struct cn_regex *regex;
};

/* How many patterns there were, and how large all of them are (cn_regex_size). */
struct patterns {
    size_t count, size;
};

struct rules {
    struct rule *list; /* exact ones first, sorted by name */
    size_t count, capacity, exact_count;
};

struct arguments {
    struct cn_uft_directory *dir;
    unsigned word_len;
    bool is_automatic;
    struct rules by_name[2];   /* arguments, results */
    struct rules automatic[2]; /* the table of well-known functions */
    struct cn_uft_debug debug; /* of the module at hand */
    struct cn_text simple_name;
};

static enum pattern_kind kind_of(const char *name, bool is_glob)
{
    if (is_glob)
        return strpbrk(name, "*?[]{}") ? PATTERN_GLOB : PATTERN_EXACT;
    return strpbrk(name, ".?*+-^$|()[]{}") ? PATTERN_REGEX : PATTERN_EXACT;
}

/* Names are matched as the recorder saw them, demangled, however they are shown.
 * Valid until the next call when it was. */
static const char *simple_name(struct arguments *a, const char *raw)
{
    cn_text_clear(&a->simple_name);
    return cn_demangle(raw, CN_DEMANGLE_SIMPLE, &a->simple_name)
               ? cn_text_str(&a->simple_name)
               : raw;
}

static bool add_regex(struct rule *rule, struct patterns *patterns, struct cn_error *err)
{
    size_t size;

    if (!cn_regex_new(&rule->regex, rule->name, 0, err))
        return false;
    size = cn_regex_size(rule->regex);
    if (size > PATTERN_SIZE_MAX - patterns->size) {
        cn_regex_free(rule->regex);
        return cn_fail(err, CN_ERR_LIMIT, "all patterns together are too large");
    }
    patterns->size += size;
    return true;
}

static void add_rule(struct arguments *a, struct rules *rules, struct cn_bytes text,
                     bool is_table, bool is_glob, struct patterns *patterns)
{
    struct cn_arena *arena = &a->dir->rec.arena;
    struct rule rule = {0};
    struct cn_bytes name;
    struct cn_error err = {0};

    if (!cn_uft_scan_until(&text, '@', &name) || name.len == 0)
        return;
    rule.name = cn_arena_strdup(arena, simple_name(a, cn_uft_text_copy(arena, name)));
    rule.specs = text;
    rule.kind = is_table ? PATTERN_EXACT : kind_of(rule.name, is_glob);
    if (rule.kind != PATTERN_EXACT && ++patterns->count > PATTERNS_MAX)
        return;
    if (rule.kind == PATTERN_REGEX && !add_regex(&rule, patterns, &err)) {
        cn_recording_warn(&a->dir->rec, false, "info: pattern '%.100s': %s", rule.name,
                          err.text);
        return;
    }
    rules->list =
        cn_grow(rules->list, rules->count, &rules->capacity, sizeof(*rules->list));
    rules->list[rules->count++] = rule;
}

/* Exact names first, sorted; those of one name stay in the order given. */
static int by_name(const void *a, const void *b)
{
    const struct rule *x = a, *y = b;
    int order;

    if ((x->kind == PATTERN_EXACT) != (y->kind == PATTERN_EXACT))
        return x->kind == PATTERN_EXACT ? -1 : 1;
    order = x->kind == PATTERN_EXACT ? strcmp(x->name, y->name) : 0;
    return order != 0 ? order : x->specs.ptr < y->specs.ptr ? -1 : 1;
}

static void read_rules(struct arguments *a, struct rules *rules, const char *key,
                       bool is_table)
{
    const char *value = NULL, *type = NULL;
    struct cn_bytes text, one;
    struct patterns patterns = {0};

    for (size_t i = 0; i < a->dir->facts.count; i++) {
        const struct cn_fact *fact = &a->dir->facts.list[i];

        if (strcmp(fact->key, key) == 0)
            value = fact->value;
        else if (strcmp(fact->key, "pattern_type") == 0)
            type = fact->value;
    }
    if (!value)
        return;
    text = (struct cn_bytes){(const uint8_t *)value, strlen(value)};
    while (cn_uft_scan_until(&text, ';', &one))
        add_rule(a, rules, one, is_table, type && strcmp(type, "glob") == 0, &patterns);
    if (rules->count > 1)
        qsort(rules->list, rules->count, sizeof(*rules->list), by_name);
    while (rules->exact_count < rules->count &&
           rules->list[rules->exact_count].kind == PATTERN_EXACT)
        rules->exact_count++;
    if (patterns.count > PATTERNS_MAX)
        cn_recording_warn(&a->dir->rec, true, "info: %s: %zu patterns, at most %d", key,
                          patterns.count, PATTERNS_MAX);
}

static void rules_done(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        cn_regex_free(rules->list[i].regex);
    free(rules->list);
}

/* The first rule with exactly this name; the count when there is none. */
static size_t find_exact(const struct rules *rules, const char *name)
{
    size_t low = 0, high = rules->exact_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(rules->list[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rules->exact_count && strcmp(rules->list[low].name, name) == 0
               ? low
               : rules->count;
}

/* Whether a token that is no spec names the module of a function. Other words (the
 * actions of triggers) say nothing about arguments. */
static bool is_other_module(const struct arguments *a, const struct cn_call_function *f,
                            struct cn_bytes token)
{
    const char *module = a->dir->modules[f->module].name;

    if (token.len == 0 || memchr(token.ptr, '=', token.len))
        return false;
    if (cn_uft_text_equals(token, "PLT") || cn_uft_text_equals(token, "plt"))
        return f->type != 'P';
    if (!memmem(token.ptr, token.len, ".so", 3))
        return false;
    return strncmp(module, (const char *)token.ptr, token.len) != 0;
}

static void add_specs(struct arguments *a, const struct cn_call_function *f,
                      struct cn_bytes text, bool is_result, bool is_exact,
                      bool is_automatic, struct cn_uft_specs *specs)
{
    struct cn_bytes rest = text, token;
    struct cn_argument_spec spec;

    while (cn_uft_scan_until(&rest, ',', &token))
        if (is_other_module(a, f, token))
            return;
    while (cn_uft_scan_until(&text, ',', &token)) {
        if (!cn_uft_spec_parse(token, a->word_len, &a->dir->rec.arena, &a->dir->enums,
                               &spec) ||
            (spec.index == 0) != is_result)
            continue;
        spec.is_automatic = is_automatic;
        cn_uft_specs_add(specs, &spec, is_exact);
    }
}

/* What automatic arguments record of a function. */
static void add_automatic(struct arguments *a, const struct cn_call_function *f,
                          const char *name, bool is_result, struct cn_uft_specs *specs)
{
    const struct rules *table = &a->automatic[is_result];
    const struct cn_uft_debug_function *debug = cn_uft_debug_find(&a->debug, f->offset);
    struct cn_bytes text = {0};
    size_t found;

    if (debug)
        text = is_result ? debug->result : debug->arguments;
    if (text.len > 0) {
        (void)cn_uft_scan_literal(&text, "@");
        add_specs(a, f, text, is_result, true, true, specs);
        return;
    }
    found = find_exact(table, name);
    if (found < table->count)
        add_specs(a, f, table->list[found].specs, is_result, true, true, specs);
}

static void apply_rule(struct arguments *a, const struct rule *rule,
                       const struct cn_call_function *f, const char *name, bool is_result,
                       struct cn_uft_specs *specs)
{
    if (rule->specs.len == 0)
        add_automatic(a, f, name, is_result, specs);
    else
        add_specs(a, f, rule->specs, is_result, rule->kind == PATTERN_EXACT, false,
                  specs);
}

static bool is_match(const struct rule *rule, const char *name)
{
    if (rule->kind == PATTERN_REGEX)
        return cn_regex_matches(rule->regex, name, strlen(name));
    return fnmatch(rule->name, name, 0) == 0;
}

/* The next rule for a name in the order of the text: of its exact rules, which
 * follow each other from `exact` on, and of the patterns from `pattern` on. */
static const struct rule *next_match(const struct rules *rules, const char *name,
                                     size_t *exact, size_t *pattern)
{
    bool has_exact =
        *exact < rules->exact_count && strcmp(rules->list[*exact].name, name) == 0;

    while (*pattern < rules->count && !is_match(&rules->list[*pattern], name))
        ++*pattern;
    if (*pattern < rules->count &&
        (!has_exact || rules->list[*pattern].specs.ptr < rules->list[*exact].specs.ptr))
        return &rules->list[(*pattern)++];
    return has_exact ? &rules->list[(*exact)++] : NULL;
}

static struct cn_argument_specs specs_of(struct arguments *a,
                                         const struct cn_call_function *f,
                                         const char *name, bool is_result)
{
    const struct rules *rules = &a->by_name[is_result];
    size_t exact = find_exact(rules, name), pattern = rules->exact_count;
    struct cn_uft_specs specs = {.count = 0};
    const struct rule *rule;

    /* Values are stored in the order in which they were asked for, whatever the kind
     * of the pattern. */
    while ((rule = next_match(rules, name, &exact, &pattern)))
        apply_rule(a, rule, f, name, is_result, &specs);
    if (specs.count == 0 && a->is_automatic)
        add_automatic(a, f, name, is_result, &specs);
    return cn_uft_specs_keep(&specs, &a->dir->rec.arena);
}

static void describe(struct arguments *a, struct cn_call_function *f, bool has_specs)
{
    const struct cn_uft_debug_function *debug = cn_uft_debug_find(&a->debug, f->offset);

    if (debug && debug->file.len > 0) {
        f->file = cn_uft_text_copy(&a->dir->rec.arena, debug->file);
        f->line = debug->line;
    }
    if (has_specs && strchr("TtwWKPiI", f->type)) {
        const char *name = a->dir->demangle == CN_DEMANGLE_SIMPLE
                               ? f->name
                               : simple_name(a, f->raw_name);

        f->arguments = specs_of(a, f, name, false);
        f->result = specs_of(a, f, name, true);
    }
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

static const char *fact(const struct cn_uft_directory *dir, const char *key)
{
    for (size_t i = 0; i < dir->facts.count; i++)
        if (strcmp(dir->facts.list[i].key, key) == 0)
            return dir->facts.list[i].value;
    return NULL;
}

void cn_uft_arguments_build(struct cn_uft_directory *dir)
{
    struct arguments a = {.dir = dir, .word_len = dir->rec.is_32_bit ? 4 : 8};
    bool has_specs = (dir->rec.features & (CN_FEATURE_ARGUMENT | CN_FEATURE_RETVAL)) != 0;
    const char *enums = fact(dir, "enumauto");

    a.is_automatic = fact(dir, "auto-args") != NULL;
    if (enums)
        cn_uft_enums_add(&dir->enums,
                         (struct cn_bytes){(const uint8_t *)enums, strlen(enums)},
                         &dir->rec.arena);
    read_rules(&a, &a.by_name[0], "argspec", false);
    read_rules(&a, &a.by_name[1], "retspec", false);
    read_rules(&a, &a.automatic[0], "argauto", true);
    read_rules(&a, &a.automatic[1], "retauto", true);
    for (uint32_t i = 0; i < dir->module_count; i++) {
        const struct cn_call_module *module = &dir->modules[i];

        read_debug(&a, i);
        for (uint32_t f = 0; f < module->function_count; f++)
            describe(&a, &dir->functions[module->first_function + f], has_specs);
        cn_uft_debug_done(&a.debug);
    }
    for (size_t i = 0; i < 2; i++) {
        rules_done(&a.by_name[i]);
        rules_done(&a.automatic[i]);
    }
    cn_text_done(&a.simple_name);
}
