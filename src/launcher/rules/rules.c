#include "launcher/rules/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/name_filter.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/uftrace/text/value_rules.h"
#include "launcher/elf/file.h"
#include "launcher/files/shared_memory.h"
#include "launcher/rules/arguments.h"
#include "model/calls/trigger.h"
#include "record/pmu_events.h"
#include "symbols/demangle.h"

enum {
    RULES_STEP = 1024 /* allocated at once */,
    CHAIN_MAX = 64 /* rules of a function */
};

struct cn_pattern_rule {
    const char *option;
    char *text;                  /* as typed */
    struct cn_name_filter names; /* a single pattern */
    char *module;
    struct cn_rec_rule what; /* without addresses and condition */
    struct cn_call_condition condition;
    uint32_t cleared; /* actions of earlier rules that it removes */
    bool is_file;     /* a pattern of -L: names of source files */
    bool has_matched; /* some function */
    bool has_unknown; /* an argument of a condition is unknown */
};

/* CN_REC_RULE_* of CN_ACT_*; what views do is left out. */
static uint32_t actions_of(const struct cn_call_trigger *trigger)
{
    static const struct {
        uint32_t typed, recorded;
    } actions[] = {
        {CN_ACT_ONLY, CN_REC_RULE_ONLY},
        {CN_ACT_NOT, CN_REC_RULE_NOT},
        {CN_ACT_HIDE, CN_REC_RULE_HIDE},
        {CN_ACT_DEPTH, CN_REC_RULE_DEPTH},
        {CN_ACT_TIME, CN_REC_RULE_TIME},
        {CN_ACT_TRACE, CN_REC_RULE_TRACE},
        {CN_ACT_ON, CN_REC_RULE_ON},
        {CN_ACT_OFF, CN_REC_RULE_OFF},
        {CN_ACT_SIZE, CN_REC_RULE_SIZE},
        {CN_ACT_FINISH, CN_REC_RULE_FINISH},
        {CN_ACT_SITE, CN_REC_RULE_SITE},
        {CN_ACT_READ_STATM, CN_REC_RULE_READ_STATM},
        {CN_ACT_READ_FAULTS, CN_REC_RULE_READ_FAULTS},
        {CN_ACT_READ_CYCLES, CN_REC_RULE_READ_CYCLES},
        {CN_ACT_READ_CACHE, CN_REC_RULE_READ_CACHE},
        {CN_ACT_READ_BRANCHES, CN_REC_RULE_READ_BRANCHES},
    };
    uint32_t result = 0;

    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        result |= trigger->actions & actions[i].typed ? actions[i].recorded : 0;
    return result;
}

static void append(struct cn_rules *rules, const struct cn_pattern_rule *rule)
{
    CN_PUSH(rules->list, rules->count, rules->capacity, *rule);
}

bool cn_rules_add(struct cn_rules *rules, const char *option,
                  const struct cn_call_trigger *trigger, const char *text,
                  uint32_t actions, struct cn_error *err)
{
    struct cn_pattern_rule rule = {
        .option = option,
        .text = cn_strdup(text),
        .what = {.actions = actions | actions_of(trigger),
                 .depth = trigger->depth,
                 .time_ns = trigger->time_ns,
                 .size_min = trigger->size_min},
        .condition = trigger->condition,
    };

    if (!cn_name_filter_add(&rule.names, trigger->pattern,
                            cn_uft_match_of(trigger->pattern, rules->is_glob), err)) {
        free(rule.text);
        return false;
    }
    rule.module = cn_strdup(trigger->module);
    rules->has_conditions |= trigger->condition.argument > 0;
    rules->has_sizes |= (trigger->actions & CN_ACT_SIZE) != 0;
    append(rules, &rule);
    return true;
}

bool cn_rules_add_clear(struct cn_rules *rules, const char *option,
                        const struct cn_call_trigger *trigger, const char *text,
                        uint32_t actions, struct cn_error *err)
{
    struct cn_call_trigger only = {.pattern = trigger->pattern,
                                   .module = trigger->module};

    if (!cn_rules_add(rules, option, &only, text, 0, err))
        return false;
    rules->list[rules->count - 1].cleared = actions;
    return true;
}

bool cn_rules_add_file(struct cn_rules *rules, const char *option, const char *text,
                       struct cn_error *err)
{
    static const char hide[] = "@hide";
    size_t len = strlen(text), hide_len = strlen(hide);
    bool is_hidden = len > hide_len && strcmp(text + len - hide_len, hide) == 0;
    struct cn_pattern_rule rule = {
        .option = option,
        .text = cn_strdup(text),
        .what = {.actions = is_hidden ? CN_REC_RULE_HIDE : 0},
        .is_file = true,
    };
    char *pattern = cn_strdup(text);

    if (is_hidden)
        pattern[len - hide_len] = '\0';
    else
        rules->has_files = true;
    bool ok = cn_name_filter_add(
        &rule.names, pattern,
        cn_match_of_path(pattern, rules->is_glob ? CN_MATCH_GLOB : CN_MATCH_REGEX), err);
    free(pattern);
    if (!ok) {
        free(rule.text);
        return false;
    }
    rule.module = cn_strdup("");
    rules->needs_lines = true;
    append(rules, &rule);
    return true;
}

/* The rules of one function, while they are collected. */
struct rules_chain {
    struct cn_rec_rule list[CHAIN_MAX];
    size_t count;
};

static void merge(struct cn_rec_rule *into, const struct cn_rec_rule *what)
{
    const uint32_t either = CN_REC_RULE_ONLY | CN_REC_RULE_NOT;

    /* The last one of -F and -N counts. */
    if (what->actions & either)
        into->actions &= ~either;
    into->actions |= what->actions;
    if (what->actions & CN_REC_RULE_DEPTH)
        into->depth = what->depth;
    if (what->actions & CN_REC_RULE_TIME)
        into->time_ns = what->time_ns;
    if (what->actions & CN_REC_RULE_SIZE)
        into->size_min = what->size_min;
}

/* Add a rule with a condition, or without one after such. */
static void extend(struct rules_chain *chain, const struct cn_rec_rule *what,
                   const struct cn_rec_rule *condition)
{
    struct cn_rec_rule *last = &chain->list[chain->count - 1];
    bool is_same =
        last->compare == condition->compare &&
        (last->compare == CN_REC_ALWAYS ||
         (last->condition == condition->condition && last->limit == condition->limit));

    if (!is_same && chain->count < CHAIN_MAX) {
        last->has_more = true;
        last = &chain->list[chain->count++];
        *last = (struct cn_rec_rule){
            .low = chain->list[0].low,
            .high = chain->list[0].high,
            .call_off = chain->list[0].call_off,
            .compare = condition->compare,
            .condition = condition->condition,
            .limit = condition->limit,
        };
    }
    merge(last, what);
}

/* A function: the symbols at one address, with their demangled names. */
struct named {
    const struct cn_elf_symbol *symbols;
    size_t count, capacity;
    struct cn_text *names;
    const char *file; /* source file; NULL: unknown */
};

static bool matches(const struct cn_pattern_rule *rule, const struct named *named,
                    const char *module)
{
    if (rule->is_file)
        return named->file && cn_name_filter_matches(&rule->names, named->file);
    for (size_t i = 0; i < named->count; i++) {
        if (strchr("TtwWiP", named->symbols[i].kind) &&
            cn_call_module_matches(rule->module, module, named->symbols[i].kind) &&
            cn_name_filter_matches(&rule->names, cn_text_str(&named->names[i])))
            return true;
    }
    return false;
}

/* The value that the condition of a rule compares. False when it is unknown. */
static bool find_condition(struct cn_pattern_rule *rule, const struct named *named,
                           struct cn_argument_finder *finder, struct cn_rec_rule *out)
{
    static const uint8_t compares[] = {
        [CN_COMPARE_EQUAL] = CN_REC_EQUAL, [CN_COMPARE_UNEQUAL] = CN_REC_UNEQUAL,
        [CN_COMPARE_LESS] = CN_REC_LESS,   [CN_COMPARE_LESS_EQUAL] = CN_REC_LESS_EQUAL,
        [CN_COMPARE_MORE] = CN_REC_MORE,   [CN_COMPARE_MORE_EQUAL] = CN_REC_MORE_EQUAL,
        [CN_COMPARE_BITS] = CN_REC_BITS,
    };

    *out = (struct cn_rec_rule){0};
    if (rule->condition.argument == 0)
        return true;
    out->compare = compares[rule->condition.compare];
    out->limit = rule->condition.value;
    if (finder && cn_argument_finder_number(finder, &named->symbols[0],
                                            cn_text_str(&named->names[0]),
                                            rule->condition.argument, &out->condition))
        return true;
    rule->has_unknown = true;
    return false;
}

static bool is_function(const struct named *named)
{
    for (size_t i = 0; i < named->count; i++) {
        if (strchr("TtwWiP", named->symbols[i].kind))
            return true;
    }
    return false;
}

static void hide(const struct cn_rules *rules, const struct named *named,
                 struct cn_rec_rule *rule, bool is_in_file)
{
    const struct cn_elf_symbol *symbol = &named->symbols[0];
    uint64_t size = cn_call_filtered_size(symbol->size, symbol->kind);

    rule->size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    if (rules->has_sizes)
        rule->actions |= CN_REC_RULE_SIZED;
    if ((!rules->has_sizes && size < rules->size_min) ||
        (rules->has_files && !is_in_file))
        rule->actions |= CN_REC_RULE_HIDE;
}

/* Readers find the values of a function by its simple name. */
static void find_values(struct cn_argument_finder *finder, const struct cn_rules *rules,
                        const struct named *named, struct cn_rec_rule *rule)
{
    const struct cn_elf_symbol *symbol = &named->symbols[0];
    struct cn_text simple = {0};
    bool is_other = rules->demangle != CN_DEMANGLE_SIMPLE &&
                    cn_demangle(symbol->name, CN_DEMANGLE_SIMPLE, &simple);

    cn_argument_finder_find(finder, symbol,
                            cn_text_str(is_other ? &simple : &named->names[0]), rule);
    cn_text_done(&simple);
}

static void find_rules(const struct cn_rules *rules, const struct named *named,
                       const char *module, struct cn_argument_finder *finder,
                       struct rules_chain *chain)
{
    const uint32_t patching = CN_REC_RULE_PATCH | CN_REC_RULE_UNPATCH;
    const struct cn_elf_symbol *symbol = &named->symbols[0];
    struct cn_rec_rule *first = &chain->list[0], condition;
    bool is_in_file = false;

    chain->count = 1;
    *first = (struct cn_rec_rule){
        .low = symbol->address,
        .high = symbol->address + (symbol->size ? symbol->size : 1),
    };
    if (!is_function(named))
        return;
    if (finder)
        find_values(finder, rules, named, first);
    for (size_t i = 0; i < rules->count; i++) {
        struct cn_pattern_rule *rule = &rules->list[i];

        if (!matches(rule, named, module))
            continue;
        rule->has_matched = true;
        for (size_t k = 0; k < chain->count && rule->cleared; k++)
            chain->list[k].actions &= ~rule->cleared;
        is_in_file |= rule->is_file;
        if (!find_condition(rule, named, finder, &condition))
            continue;
        if (rule->what.actions & patching) /* the last one counts */
            first->actions =
                (first->actions & ~patching) | (rule->what.actions & patching);
        if ((rule->what.actions & CN_REC_RULE_PATCH) && *rule->module)
            first->actions |= CN_REC_RULE_PATCH_NAMED;
        if (rule->what.actions & ~patching)
            extend(chain, &rule->what, &condition);
    }
    hide(rules, named, first, is_in_file);
}

/* The function of the symbols from `first` on; returns the index of the next. */
static size_t name_symbols(struct named *named, const struct cn_elf_file *elf,
                           size_t first, enum cn_demangle how)
{
    size_t end = first;

    named->symbols = &elf->symbols[first];
    named->count = 0;
    for (; end < elf->symbol_count &&
           elf->symbols[end].address == elf->symbols[first].address;
         end++) {
        if (named->count == named->capacity) {
            size_t before = named->capacity;

            CN_GROW(named->names, named->count, named->capacity);
            memset(named->names + before, 0,
                   (named->capacity - before) * sizeof(*named->names));
        }
        struct cn_text *name = &named->names[named->count++];
        cn_text_clear(name);
        if (!cn_demangle(elf->symbols[end].name, how, name))
            cn_text_str_add(name, elf->symbols[end].name);
    }
    return end;
}

static bool store(struct cn_shared_memory *memory, const struct rules_chain *chain,
                  uint32_t first, uint32_t *end, struct cn_error *err)
{
    if (chain->count == 1 && chain->list[0].actions == 0)
        return true;
    for (size_t i = 0; i < chain->count; i++) {
        if ((*end == first || *end % RULES_STEP == 0) &&
            !cn_shared_memory_reserve_rules(memory, *end, RULES_STEP))
            return cn_fail_errno(err, "no memory for the rules about functions");
        if (*end == CN_REC_RULE_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "filters match more than %d functions",
                           CN_REC_RULE_MAX);
        memory->rules[(*end)++] = chain->list[i];
    }
    return true;
}

bool cn_rules_store(const struct cn_rules *rules, const char *path,
                    const struct cn_elf_file *elf, struct cn_argument_finder *finder,
                    struct cn_shared_memory *memory, uint32_t *count,
                    struct cn_error *err)
{
    struct cn_rec_shared *head = memory->head;
    uint32_t first = head->rule_count, end = first;
    const char *module = cn_path_name(path);
    struct named named = {0};
    struct rules_chain chain;
    bool ok = true;

    for (size_t i = 0; i < elf->symbol_count && ok;) {
        i = name_symbols(&named, elf, i, rules->demangle);
        named.file = rules->needs_lines && finder
                         ? cn_argument_finder_file(finder, &named.symbols[0])
                         : NULL;
        find_rules(rules, &named, module, finder, &chain);
        ok = store(memory, &chain, first, &end, err);
    }
    if (ok) {
        *count = end - first;
        head->rule_count = end;
    }
    for (size_t i = 0; i < named.capacity; i++)
        cn_text_done(&named.names[i]);
    free(named.names);
    return ok;
}

bool cn_rules_patch_all(const struct cn_rules *rules)
{
    static const char *const all[] = {".", ".*", "*"};

    for (size_t i = 0; i < rules->count; i++) {
        const struct cn_pattern_rule *rule = &rules->list[i];

        if ((rule->what.actions & CN_REC_RULE_PATCH) && !*rule->module &&
            cn_list_has(all, CN_COUNT_OF(all), rule->text))
            return true;
    }
    return false;
}

bool cn_rules_patch_module(const struct cn_rules *rules, const char *path)
{
    const char *module = cn_path_name(path);

    for (size_t i = 0; i < rules->count; i++) {
        const struct cn_pattern_rule *rule = &rules->list[i];

        if ((rule->what.actions & CN_REC_RULE_PATCH) && *rule->module &&
            cn_call_module_matches(rule->module, module, 'T'))
            return true;
    }
    return false;
}

uint32_t cn_rules_actions(const struct cn_rules *rules)
{
    uint32_t actions = rules->size_min > 0 || rules->has_files ? CN_REC_RULE_HIDE : 0;

    for (size_t i = 0; i < rules->count; i++)
        actions |= rules->list[i].what.actions;
    return actions;
}

bool cn_module_name_is_plausible(const char *word, const char *program)
{
    const char *base = cn_path_name(program);
    const char *folders = getenv("PATH");

    if (strcasecmp(word, "plt") == 0 || strcmp(word, "kernel") == 0 ||
        strncmp(base, word, strlen(word)) == 0 || strncmp(word, "lib", 3) == 0 ||
        strncmp(word, "ld-", 3) == 0 || strstr(word, ".so") || access(word, F_OK) == 0)
        return true;
    /* A program that is started by the one that is recorded. */
    for (const char *at = folders; at && *at;) {
        size_t len = strcspn(at, ":");
        struct cn_text path = {0};

        cn_text_printf(&path, "%.*s/%s", (int)len, at, word);
        bool is_there = access(cn_text_str(&path), X_OK) == 0;
        cn_text_done(&path);
        if (is_there)
            return true;
        at += at[len] ? len + 1 : len;
    }
    return false;
}

/* Try the counters of the processor that triggers read. */
static bool check_counters(const struct cn_pattern_rule *rule, struct cn_error *err)
{
    for (unsigned i = 0; i < 2 * CN_REC_PMU_COUNT; i++) {
        struct perf_event_attr attr = cn_rec_pmu_attr(i / 2, i % 2);

        if (!(rule->what.actions & (uint32_t)CN_REC_RULE_READ_CYCLES << i / 2))
            continue;
        long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd < 0 && (errno == EACCES || errno == EPERM))
            return cn_fail(err, CN_ERR_USAGE,
                           "--%s '%s': the kernel does not allow it; set "
                           "/proc/sys/kernel/perf_event_paranoid to 2 or less",
                           rule->option, rule->text);
        if (fd < 0)
            return cn_fail(err, CN_ERR_USAGE,
                           "--%s '%s': this machine offers no such counters of the "
                           "processor; read=page-fault and read=proc/statm work",
                           rule->option, rule->text);
        (void)close((int)fd);
    }
    return true;
}

bool cn_rules_check(const struct cn_rules *rules, const char *program,
                    struct cn_error *err)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct cn_pattern_rule *rule = &rules->list[i];

        if (*rule->module && !cn_module_name_is_plausible(rule->module, program))
            return cn_fail(err, CN_ERR_USAGE,
                           "--%s '%s': '%s' is neither a module of the program nor an "
                           "action; actions are %s",
                           rule->option, rule->text, rule->module,
                           cn_call_trigger_actions);
        if (!check_counters(rule, err))
            return false;
    }
    return true;
}

void cn_rules_report(const struct cn_rules *rules, cn_rules_fn report, void *arg)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct cn_pattern_rule *rule = &rules->list[i];

        if (!rule->has_matched)
            report(arg, rule->option, rule->text, "matched no function");
        else if (rule->has_unknown)
            report(arg, rule->option, rule->text,
                   "its condition was false where the argument is unknown; build with "
                   "-g, or with -pg");
    }
}

bool cn_rules_clear_some(const struct cn_rules *rules)
{
    for (size_t i = 0; i < rules->count; i++)
        if (rules->list[i].cleared)
            return true;
    return false;
}

void cn_rules_cut(struct cn_rules *rules, size_t count)
{
    while (rules->count > count) {
        struct cn_pattern_rule *rule = &rules->list[--rules->count];

        cn_name_filter_done(&rule->names);
        free(rule->module);
        free(rule->text);
    }
}

void cn_rules_done(struct cn_rules *rules)
{
    cn_rules_cut(rules, 0);
    free(rules->list);
    *rules = (struct cn_rules){0};
}
