#include "launcher/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "formats/uftrace/text/value_rules.h"
#include "launcher/arguments.h"
#include "launcher/elf_file.h"
#include "launcher/shared_memory.h"
#include "symbols/demangle.h"

enum { RULES_STEP = 1024 }; /* allocated at once */

struct cn_pattern_rule {
    struct cn_name_filter names; /* a single pattern */
    struct cn_rec_rule what;     /* without addresses */
    bool has_matched;            /* some function */
};

static bool add(struct cn_rules *rules, const char *pattern,
                const struct cn_rec_rule *what, struct cn_error *err)
{
    struct cn_pattern_rule rule = {.what = *what};

    if (!cn_name_filter_add(&rule.names, pattern,
                            cn_uft_match_of(pattern, rules->is_glob), err))
        return false;
    rules->list =
        cn_grow(rules->list, rules->count, &rules->capacity, sizeof(*rules->list));
    rules->list[rules->count++] = rule;
    return true;
}

bool cn_rules_add(struct cn_rules *rules, const char *pattern, uint32_t actions,
                  struct cn_error *err)
{
    return add(rules, pattern, &(struct cn_rec_rule){.actions = actions}, err);
}

static bool parse_number(const char *text, size_t len, uint64_t *out, const char **rest)
{
    char digits[24] = "";
    char *end;

    if (len == 0 || len >= sizeof(digits) || text[0] < '0' || text[0] > '9')
        return false;
    memcpy(digits, text, len);
    *out = strtoull(digits, &end, 10);
    *rest = text + (end - digits);
    return true;
}

static bool parse_time(const char *text, size_t len, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"", 1}};
    const char *rest;
    size_t rest_len;

    if (!parse_number(text, len, out, &rest))
        return false;
    rest_len = len - (size_t)(rest - text);
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strlen(units[i].unit) == rest_len &&
            memcmp(units[i].unit, rest, rest_len) == 0)
            return !__builtin_mul_overflow(*out, units[i].ns, out);
    }
    return false;
}

static bool parse_action(const char *text, size_t len, struct cn_rec_rule *what)
{
    static const struct {
        const char *name;
        uint32_t action;
    } names[] = {
        {"trace_on", CN_REC_RULE_ON},
        {"traceon", CN_REC_RULE_ON},
        {"trace_off", CN_REC_RULE_OFF},
        {"traceoff", CN_REC_RULE_OFF},
        {"finish", CN_REC_RULE_FINISH},
        {"filter", CN_REC_RULE_ONLY},
        {"notrace", CN_REC_RULE_NOT},
        {"hide", CN_REC_RULE_HIDE},
        {"callsite", CN_REC_RULE_SITE},
        {"read=proc/statm", CN_REC_RULE_READ_STATM},
        {"read=page-fault", CN_REC_RULE_READ_FAULTS},
    };
    const char *rest;
    uint64_t depth;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i].name) == len && memcmp(names[i].name, text, len) == 0) {
            what->actions |= names[i].action;
            return true;
        }
    }
    if (len > 6 && memcmp(text, "depth=", 6) == 0 &&
        parse_number(text + 6, len - 6, &depth, &rest) && rest == text + len &&
        depth < UINT32_MAX) {
        what->actions |= CN_REC_RULE_DEPTH;
        what->depth = (uint32_t)depth;
        return true;
    }
    what->actions |= CN_REC_RULE_TIME;
    return len > 5 && memcmp(text, "time=", 5) == 0 &&
           parse_time(text + 5, len - 5, &what->time_ns);
}

bool cn_rules_add_trigger(struct cn_rules *rules, const char *text, struct cn_error *err)
{
    const char *at = strchr(text, '@');
    struct cn_rec_rule what = {0};
    char *pattern;
    bool ok;

    if (!at || at == text)
        return cn_fail(
            err, CN_ERR_USAGE,
            "'%s' is not a trigger; expected FUNCTION@ACTION, as in main@trace_on", text);
    for (const char *action = at + 1;;) {
        size_t len = strcspn(action, ",");

        if (!parse_action(action, len, &what))
            return cn_fail(
                err, CN_ERR_USAGE,
                "unknown action '%.*s'; known are trace_on, trace_off, depth=N, "
                "time=TIME, finish, filter, notrace, hide, callsite, "
                "read=proc/statm and read=page-fault",
                (int)len, action);
        if (!action[len])
            break;
        action += len + 1;
    }
    pattern = cn_strdup(text);
    pattern[at - text] = '\0';
    ok = add(rules, pattern, &what, err);
    free(pattern);
    return ok;
}

static void merge(struct cn_rec_rule *into, const struct cn_rec_rule *what)
{
    into->actions |= what->actions;
    if (what->actions & CN_REC_RULE_DEPTH)
        into->depth = what->depth;
    if (what->actions & CN_REC_RULE_TIME)
        into->time_ns = what->time_ns;
}

/* `is_first`: readers show this one of the function's names. */
static struct cn_rec_rule rule_of(const struct cn_rules *rules,
                                  const struct cn_elf_symbol *symbol, bool is_first,
                                  struct cn_argument_finder *finder, struct cn_text *name)
{
    struct cn_rec_rule rule = {
        .low = symbol->address,
        .high = symbol->address + (symbol->size ? symbol->size : 1),
    };
    bool is_function = strchr("TtwWi", symbol->kind) != NULL;

    if (!is_function && symbol->kind != 'P')
        return rule;
    cn_text_clear(name);
    if (!cn_demangle(symbol->name, rules->demangle, name))
        cn_text_str_add(name, symbol->name);
    for (size_t i = 0; i < rules->count; i++) {
        if (!cn_name_filter_matches(&rules->list[i].names, cn_text_str(name)))
            continue;
        rules->list[i].has_matched = true;
        merge(&rule, &rules->list[i].what);
    }
    if (is_function && symbol->size < rules->size_min)
        rule.actions |= CN_REC_RULE_HIDE;
    /* Readers find the values by this name. */
    if (finder && is_first && rules->demangle != CN_DEMANGLE_SIMPLE) {
        cn_text_clear(name);
        if (!cn_demangle(symbol->name, CN_DEMANGLE_SIMPLE, name))
            cn_text_str_add(name, symbol->name);
    }
    if (finder && is_first)
        cn_argument_finder_find(finder, symbol, cn_text_str(name), &rule);
    return rule;
}

bool cn_rules_store(const struct cn_rules *rules, const struct cn_elf_file *elf,
                    struct cn_argument_finder *finder, struct cn_shared_memory *memory,
                    uint32_t *count, struct cn_error *err)
{
    struct cn_rec_shared *head = memory->head;
    uint32_t first = head->rule_count, end = first;
    struct cn_text name = {0};
    bool ok = true;

    for (size_t i = 0; i < elf->symbol_count && ok; i++) {
        const struct cn_elf_symbol *symbol = &elf->symbols[i];
        bool is_first = i == 0 || symbol[-1].address != symbol->address;
        struct cn_rec_rule rule = rule_of(rules, symbol, is_first, finder, &name);

        if (rule.actions == 0)
            continue;
        /* Several names of a function make one rule. */
        if ((end == first || end % RULES_STEP == 0) &&
            !cn_shared_memory_reserve_rules(memory, end, RULES_STEP))
            ok = cn_fail_errno(err, "no memory for the rules about functions");
        else if (end > first && memory->rules[end - 1].low == rule.low)
            merge(&memory->rules[end - 1], &rule);
        else if (end < CN_REC_RULE_MAX)
            memory->rules[end++] = rule;
        else
            ok = cn_fail(err, CN_ERR_LIMIT, "filters match more than %d functions",
                         CN_REC_RULE_MAX);
    }
    if (ok) {
        *count = end - first;
        head->rule_count = end;
    }
    cn_text_done(&name);
    return ok;
}

uint32_t cn_rules_actions(const struct cn_rules *rules)
{
    uint32_t actions = rules->size_min > 0 ? CN_REC_RULE_HIDE : 0;

    for (size_t i = 0; i < rules->count; i++)
        actions |= rules->list[i].what.actions;
    return actions;
}

bool cn_rules_has_matched(const struct cn_rules *rules, size_t i)
{
    return rules->list[i].has_matched;
}

void cn_rules_done(struct cn_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        cn_name_filter_done(&rules->list[i].names);
    free(rules->list);
    *rules = (struct cn_rules){0};
}
