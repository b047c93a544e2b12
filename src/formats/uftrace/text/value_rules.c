#include "formats/uftrace/text/value_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/text.h"
#include "formats/uftrace/text/scan.h"
#include "model/calls/trigger.h"
#include "symbols/demangle.h"

/* Limits: each pattern is matched against every function. */
enum { PATTERNS_MAX = 256, PATTERN_SIZE_MAX = 10000 };

struct cn_uft_value_rule {
    const char *name;               /* demangled */
    struct cn_name_filter patterns; /* the pattern; empty for a name */
    struct cn_bytes specs;          /* empty: use debug information */
    size_t order;                   /* in which rules were added */
};

enum cn_match cn_uft_match_of(const char *pattern, bool is_glob)
{
    if (!strpbrk(pattern, is_glob ? "*?[]{}" : ".?*+-^$|()[]{}"))
        return CN_MATCH_NAME;
    return is_glob ? CN_MATCH_GLOB : CN_MATCH_REGEX;
}

static bool add_pattern(struct cn_uft_value_rules *rules, struct cn_uft_value_rule *rule,
                        enum cn_match match, struct cn_error *err)
{
    if (rules->pattern_count == PATTERNS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "pattern '%.100s': at most %d patterns",
                       rule->name, PATTERNS_MAX);
    if (rules->pattern_count == 0)
        rules->size_left = PATTERN_SIZE_MAX;
    rule->patterns.size_left = &rules->size_left;
    if (!cn_name_filter_add(&rule->patterns, rule->name, match, err))
        return false;
    rules->pattern_count++;
    return true;
}

bool cn_uft_value_rules_add(struct cn_uft_value_rules *rules, struct cn_bytes text,
                            enum cn_match match, struct cn_error *err)
{
    struct cn_uft_value_rule rule = {.order = rules->count};
    struct cn_text demangled = {0};
    struct cn_bytes name = {0};

    if (!cn_uft_scan_until(&text, '@', &name) || name.len == 0)
        return cn_fail(err, CN_ERR_USAGE, "'@%.*s': no function before the '@'",
                       (int)text.len, (const char *)text.ptr);
    rule.specs = text;
    rule.name = cn_uft_text_copy(&rules->arena, name);
    if (cn_demangle(rule.name, CN_DEMANGLE_SIMPLE, &demangled))
        rule.name = cn_arena_strdup(&rules->arena, cn_text_str(&demangled));
    cn_text_done(&demangled);
    if (match != CN_MATCH_NAME)
        match = cn_uft_match_of(rule.name, match == CN_MATCH_GLOB);
    if (match != CN_MATCH_NAME && !add_pattern(rules, &rule, match, err))
        return false;
    CN_PUSH(rules->list, rules->count, rules->capacity, rule);
    return true;
}

static int names_first(const void *a, const void *b)
{
    const struct cn_uft_value_rule *x = a, *y = b;
    int order =
        (x->patterns.count > y->patterns.count) - (x->patterns.count < y->patterns.count);

    if (order == 0 && x->patterns.count == 0)
        order = strcmp(x->name, y->name);
    return order != 0 ? order : x->order < y->order ? -1 : x->order > y->order;
}

void cn_uft_value_rules_sort(struct cn_uft_value_rules *rules)
{
    if (rules->count > 1)
        qsort(rules->list, rules->count, sizeof(*rules->list), names_first);
}

static void rules_done(struct cn_uft_value_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        cn_name_filter_done(&rules->list[i].patterns);
    free(rules->list);
    cn_arena_done(&rules->arena);
}

void cn_uft_values_done(struct cn_uft_values *values)
{
    for (size_t i = 0; i < 2; i++) {
        rules_done(&values->requested[i]);
        rules_done(&values->known[i]);
    }
    *values = (struct cn_uft_values){0};
}

static bool is_spec(struct cn_bytes word)
{
    static const char *const prefixes[] = {"arg", "fparg", "retval"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t len = strlen(prefixes[i]);

        if (word.len >= len && memcmp(word.ptr, prefixes[i], len) == 0 &&
            (i == 2 ? word.len == len || word.ptr[len] == '/' || word.ptr[len] == '%'
                    : word.len > len && word.ptr[len] >= '0' && word.ptr[len] <= '9'))
            return true;
    }
    return false;
}

/* Actions of triggers do not matter here. */
bool cn_uft_is_module(struct cn_bytes word)
{
    char name[64];

    if (word.len == 0 || is_spec(word) || memchr(word.ptr, '=', word.len) ||
        memchr(word.ptr, ':', word.len))
        return false;
    if (word.len >= sizeof(name))
        return true;
    memcpy(name, word.ptr, word.len);
    name[word.len] = '\0';
    return !cn_call_trigger_is_action(name);
}

bool cn_uft_has_specs(struct cn_bytes specs)
{
    struct cn_bytes word;

    while (cn_uft_scan_until(&specs, ',', &word)) {
        if (is_spec(word))
            return true;
    }
    return false;
}

bool cn_uft_specs_check(struct cn_bytes specs, bool is_result, struct cn_error *err)
{
    struct cn_arena arena = {0};
    struct cn_uft_enums enums = {0};
    struct cn_uft_spec_parser parser = {sizeof(uint64_t), &arena, &enums};
    struct cn_argument_spec spec;
    struct cn_bytes word;
    bool ok = true;

    while (ok && cn_uft_scan_until(&specs, ',', &word)) {
        ok = cn_uft_is_module(word) ||
             (cn_uft_spec_parse(&parser, word, &spec) && (spec.index == 0) == is_result);
        if (!ok)
            (void)cn_fail(err, CN_ERR_USAGE, "'%.*s' is not %s", (int)word.len,
                          (const char *)word.ptr,
                          is_result ? "a result such as retval/s"
                                    : "an argument such as arg1, arg2/s or fparg1/32");
    }
    cn_uft_enums_done(&enums);
    cn_arena_done(&arena);
    return ok;
}

/* The specs of one function, while they are collected. */
struct rules_finding {
    const struct cn_uft_values *values;
    const struct cn_uft_value_function *function;
    const struct cn_uft_spec_parser *parser;
    struct cn_uft_specs *specs;
    bool is_result;
};

static bool is_other_module(const struct cn_uft_value_function *function,
                            struct cn_bytes specs)
{
    struct cn_bytes word;

    while (cn_uft_scan_until(&specs, ',', &word)) {
        if (!cn_uft_is_module(word))
            continue;
        if (word.len == 3 && strncasecmp((const char *)word.ptr, "plt", 3) == 0
                ? function->type != 'P'
                : strncmp(function->module, (const char *)word.ptr, word.len) != 0)
            return true;
    }
    return false;
}

static void add_specs(struct rules_finding *finding, struct cn_bytes text, bool is_exact,
                      bool is_automatic)
{
    struct cn_argument_spec spec;
    struct cn_bytes word;

    while (cn_uft_scan_until(&text, ',', &word)) {
        if (!cn_uft_spec_parse(finding->parser, word, &spec) ||
            (spec.index == 0) != finding->is_result)
            continue;
        spec.is_automatic = is_automatic;
        cn_uft_specs_add(finding->specs, &spec, is_exact);
    }
}

static bool is_named_before(const void *data, uint64_t index, uint64_t key)
{
    const struct cn_uft_value_rule *list = data;

    return strcmp(list[index].name, (const char *)(uintptr_t)key) < 0;
}

/* The rule at `index` if it is for exactly this name, else NULL. */
static const struct cn_uft_value_rule *next_named(const struct cn_uft_value_rules *rules,
                                                  size_t index, const char *name)
{
    return index < rules->count - rules->pattern_count &&
                   strcmp(rules->list[index].name, name) == 0
               ? &rules->list[index]
               : NULL;
}

static size_t find_named(const struct cn_uft_value_rules *rules, const char *name)
{
    return (size_t)cn_search(0, rules->count - rules->pattern_count, is_named_before,
                             rules->list, (uintptr_t)name);
}

/* Add the specs from debug information or, without any, from the table of well-known
 * functions. */
static void add_automatic(struct rules_finding *finding)
{
    const struct cn_uft_value_function *function = finding->function;
    const struct cn_uft_value_rules *known = &finding->values->known[finding->is_result];

    if (function->debug[finding->is_result].len > 0) {
        add_specs(finding, function->debug[finding->is_result], true, true);
        return;
    }
    /* A program may define another function of that name. */
    if (finding->values->knows_libcalls_only && function->type != 'P')
        return;
    const struct cn_uft_value_rule *rule =
        next_named(known, find_named(known, function->name), function->name);
    if (rule)
        add_specs(finding, rule->specs, true, false);
}

void cn_uft_values_find(const struct cn_uft_values *values,
                        const struct cn_uft_value_function *function, bool is_result,
                        const struct cn_uft_spec_parser *parser,
                        struct cn_uft_specs *specs)
{
    struct rules_finding finding = {values, function, parser, specs, is_result};
    const struct cn_uft_value_rules *rules = &values->requested[is_result];
    size_t named_at = find_named(rules, function->name);
    size_t pattern_at = rules->count - rules->pattern_count;

    /* Values are stored in the order of the rules, so names and patterns are merged by
     * order. */
    for (;;) {
        const struct cn_uft_value_rule *named =
            next_named(rules, named_at, function->name);
        const struct cn_uft_value_rule *rule = named;

        while (pattern_at < rules->count &&
               !cn_name_filter_matches(&rules->list[pattern_at].patterns, function->name))
            pattern_at++;
        if (pattern_at < rules->count &&
            (!named || rules->list[pattern_at].order < named->order))
            rule = &rules->list[pattern_at++];
        else if (named)
            named_at++;
        else
            break;
        if (is_other_module(function, rule->specs))
            continue;
        if (values->matched[is_result])
            values->matched[is_result][rule->order] = true;
        if (!cn_uft_has_specs(rule->specs))
            add_automatic(&finding);
        else
            add_specs(&finding, rule->specs, rule == named, false);
    }
    if (specs->count == 0 && values->is_automatic)
        add_automatic(&finding);
}
