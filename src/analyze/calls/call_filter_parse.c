/* Parsing of filters and triggers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_filter.h"
#include "base/alloc.h"
#include "model/calls/recording.h"

enum { DEPTH_MAX = UINT16_MAX };

bool cn_call_time_parse(const char *text, uint64_t *out_ns, struct cn_error *err)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {
        {"", 1},       {"ns", 1},   {"nsec", 1},   {"us", 1e3},
        {"usec", 1e3}, {"ms", 1e6}, {"s", 1e9},    {"sec", 1e9},
        {"msec", 1e6}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9},
    };
    char *end;
    double number;

    errno = 0;
    number = strtod(text, &end);
    if (end == text || !(number >= 0) || text[0] == '-' || errno == ERANGE)
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a time; expected one like 10us",
                       text);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) != 0)
            continue;
        number *= units[i].ns;
        if (number > 1e18)
            return cn_fail(err, CN_ERR_USAGE, "%s is more than 30 years", text);
        *out_ns = (uint64_t)(number + 0.5);
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "'%s': unknown unit '%s'; use ns, us, ms, s, m or h", text, end);
}

/* Patterns without special characters are names. */
static bool is_plain_name(const char *pattern, enum cn_match match)
{
    return !strpbrk(pattern, match == CN_MATCH_GLOB ? "*?[" : ".?*+^$|()[]{}\\");
}

static bool parse_condition(const char *text, struct cn_call_condition *out,
                            struct cn_error *err)
{
    static const struct {
        const char *sign;
        enum cn_compare compare;
    } signs[] = {
        {"==", CN_COMPARE_EQUAL},      {"!=", CN_COMPARE_UNEQUAL},
        {"<=", CN_COMPARE_LESS_EQUAL}, {">=", CN_COMPARE_MORE_EQUAL},
        {"<", CN_COMPARE_LESS},        {">", CN_COMPARE_MORE},
        {"=", CN_COMPARE_EQUAL},       {"&", CN_COMPARE_BITS},
    };
    char *end;
    unsigned long argument;

    if (strncmp(text, "arg", 3) != 0)
        return cn_fail(err, CN_ERR_USAGE, "condition '%s' does not start with argN",
                       text);
    argument = strtoul(text + 3, &end, 10);
    if (end == text + 3 || argument == 0 || argument > UINT8_MAX)
        return cn_fail(err, CN_ERR_USAGE, "condition '%s': no such argument", text);
    end += strspn(end, " ");
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        size_t len = strlen(signs[i].sign);
        char *rest;

        if (strncmp(end, signs[i].sign, len) != 0)
            continue;
        out->argument = (uint8_t)argument;
        out->compare = signs[i].compare;
        out->value = strtoll(end + len, &rest, 0);
        if (rest == end + len || rest[strspn(rest, " ")])
            return cn_fail(err, CN_ERR_USAGE, "condition '%s': no number", text);
        return true;
    }
    return cn_fail(err, CN_ERR_USAGE, "condition '%s': expected one of == != < <= > >= &",
                   text);
}

static bool parse_depth(const char *text, uint16_t *out, struct cn_error *err)
{
    char *end;
    unsigned long depth = strtoul(text, &end, 10);

    if (end == text || *end || depth > DEPTH_MAX)
        return cn_fail(err, CN_ERR_USAGE, "depth '%s' is not a number up to %d", text,
                       DEPTH_MAX);
    *out = (uint16_t)depth;
    return true;
}

static unsigned flag_named(const char *name)
{
    static const struct {
        const char *name;
        unsigned flag;
    } known[] = {
        {"filter", CN_RULE_ONLY},         {"notrace", CN_RULE_NOT},
        {"hide", CN_RULE_HIDE},           {"trace", CN_RULE_TRACE},
        {"trace_on", CN_RULE_ON},         {"trace-on", CN_RULE_ON},
        {"traceon", CN_RULE_ON},          {"trace_off", CN_RULE_OFF},
        {"trace-off", CN_RULE_OFF},       {"traceoff", CN_RULE_OFF},
        {"backtrace", CN_RULE_BACKTRACE},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(name, known[i].name) == 0)
            return known[i].flag;
    }
    return 0;
}

/* True for actions of the recorder, which have no effect on a recording. */
static bool is_for_recording(const char *action)
{
    static const char *const prefixes[] = {"read=",   "arg",    "fparg",    "retval",
                                           "recover", "finish", "callsite", "size="};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        if (strncmp(action, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return false;
}

/* Parse one word after the '@'. A word that is no action names a module. */
static bool parse_action(struct cn_call_filter *filter, const char *action,
                         struct cn_call_rule *rule, const char **module,
                         struct cn_error *err)
{
    unsigned flag = flag_named(action);

    if (strncmp(action, "depth=", 6) == 0) {
        rule->flags |= CN_RULE_DEPTH;
        return parse_depth(action + 6, &rule->depth, err);
    }
    if (strncmp(action, "time=", 5) == 0) {
        rule->flags |= CN_RULE_TIME;
        return cn_call_time_parse(action + 5, &rule->time_ns, err);
    }
    if (strncmp(action, "color=", 6) == 0) {
        rule->flags |= CN_RULE_COLOR;
        rule->color = cn_arena_strdup(&filter->arena, action + 6);
        return true;
    }
    if (strncmp(action, "if:", 3) == 0)
        return parse_condition(action + 3, &rule->condition, err);
    if (flag)
        rule->flags |= (uint16_t)flag;
    else if (is_for_recording(action))
        return cn_fail(err, CN_ERR_USAGE,
                       "action '%s' is for cairn record and has no effect here", action);
    else
        *module = action;
    return true;
}

static bool parse_actions(struct cn_call_filter *filter, char *text,
                          struct cn_call_rule *rule, const char **module,
                          struct cn_error *err)
{
    char *save = NULL;

    for (char *word = strtok_r(text, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        if (!parse_action(filter, word, rule, module, err))
            return false;
    }
    return true;
}

static bool is_in_module(const struct cn_recording *rec,
                         const struct cn_call_function *function, const char *name)
{
    const char *module = rec->modules[function->module].name;
    size_t len = strlen(name);

    if (!name[0])
        return true;
    if (strcasecmp(name, "plt") == 0)
        return function->type == 'P';
    if (strcmp(name, "kernel") == 0)
        return function->type == 'K';
    /* "libc" means libc.so.6 and libc-2.36.so. */
    return strncmp(module, name, len) == 0 && (!module[len] || strchr(".-", module[len]));
}

static void add_rule(struct cn_call_filter *filter, uint32_t function,
                     const struct cn_call_rule *rule)
{
    uint32_t *link = &filter->rule_of[function];

    if (filter->rule_count == 0)
        filter->rule_count = 1;
    filter->rules = cn_grow(filter->rules, filter->rule_count, &filter->rule_capacity,
                            sizeof(*filter->rules));
    while (*link)
        link = &filter->rules[*link].next;
    *link = (uint32_t)filter->rule_count;
    filter->rules[filter->rule_count] = *rule;
    filter->rules[filter->rule_count++].next = 0;
    filter->match_count++;
}

static bool is_function(const struct cn_call_function *function)
{
    return strchr("TtWwPKiu", function->type) != NULL;
}

static bool add_matches(struct cn_call_filter *filter, const char *pattern,
                        const char *module, enum cn_match match,
                        const struct cn_call_rule *rule, struct cn_error *err)
{
    const struct cn_recording *rec = filter->rec;
    struct cn_name_filter names = {0};

    if (is_plain_name(pattern, match))
        match = CN_MATCH_NAME;
    if (!cn_name_filter_add(&names, pattern, match, err))
        return false;
    if (!filter->rule_of)
        filter->rule_of = cn_alloc(rec->function_count, sizeof(*filter->rule_of));
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const struct cn_call_function *function = &rec->functions[i];

        if (is_function(function) && is_in_module(rec, function, module) &&
            cn_name_filter_matches(&names, function->name))
            add_rule(filter, i, rule);
    }
    cn_name_filter_done(&names);
    return true;
}

bool cn_call_filter_add(struct cn_call_filter *filter, enum cn_filter_kind kind,
                        const char *spec, enum cn_match match, struct cn_error *err)
{
    static const uint16_t flags[] = {CN_RULE_ONLY, CN_RULE_NOT, CN_RULE_CALLER,
                                     CN_RULE_HIDE, 0};
    struct cn_call_rule rule = {.flags = flags[kind]};
    char *pattern = cn_strdup(spec);
    char *at = strchr(pattern, '@');
    const char *module = "";
    bool ok = true;

    filter->match_count = 0;

    if (at) {
        *at = '\0';
        ok = parse_actions(filter, at + 1, &rule, &module, err);
    }
    if (ok && kind == CN_FILTER_TRIGGER && rule.flags == 0)
        ok = cn_fail(err, CN_ERR_USAGE, "no action: expected FUNC@ACTION");
    ok = ok && add_matches(filter, pattern, module, match, &rule, err);
    free(pattern);
    return ok || cn_fail_in(err, "'%s'", spec);
}

static bool is_in_file(const struct cn_name_filter *names, const char *pattern,
                       bool is_exact, const char *file)
{
    size_t len = strlen(file), pattern_len = strlen(pattern);

    if (len == 0)
        return false;
    if (!is_exact)
        return cn_name_filter_matches(names, file);
    /* "single.c" means any path that ends in /single.c. */
    return len >= pattern_len && strcmp(file + len - pattern_len, pattern) == 0 &&
           (len == pattern_len || file[len - pattern_len - 1] == '/');
}

bool cn_call_filter_add_file(struct cn_call_filter *filter, const char *spec,
                             enum cn_match match, struct cn_error *err)
{
    const struct cn_recording *rec = filter->rec;
    char *pattern = cn_strdup(spec);
    char *at = strrchr(pattern, '@');
    bool is_hidden = at && strcmp(at, "@hide") == 0;
    struct cn_call_rule rule = {.flags = is_hidden ? CN_RULE_HIDE : CN_RULE_FILE};
    struct cn_name_filter names = {0};
    bool is_exact = !strpbrk(pattern, match == CN_MATCH_GLOB ? "*?[" : "?*+^$|()[]{}\\");
    bool ok = true;

    filter->match_count = 0;
    if (is_hidden)
        *at = '\0';
    if (!is_exact)
        ok = cn_name_filter_add(&names, pattern, match, err);
    if (ok && !filter->rule_of)
        filter->rule_of = cn_alloc(rec->function_count, sizeof(*filter->rule_of));
    for (uint32_t i = 0; ok && i < rec->function_count; i++) {
        if (is_in_file(&names, pattern, is_exact, rec->functions[i].file))
            add_rule(filter, i, &rule);
    }
    cn_name_filter_done(&names);
    free(pattern);
    return ok || cn_fail_in(err, "'%s'", spec);
}
