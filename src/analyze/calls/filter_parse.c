/* Filters and triggers for the functions of a recording. */
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/filter.h"
#include "base/alloc.h"
#include "model/calls/recording.h"

/* Patterns without special characters are names. */
static bool is_plain_name(const char *pattern, enum cn_match match)
{
    return !strpbrk(pattern, match == CN_MATCH_GLOB ? "*?[" : ".?*+^$|()[]{}\\");
}

static void add_rule(struct cn_call_filter *filter, uint32_t function,
                     const struct cn_call_rule *rule)
{
    uint32_t *link = &filter->rule_of[function];

    if (filter->rule_count == 0)
        filter->rule_count = 1;
    CN_GROW(filter->rules, filter->rule_count, filter->rule_capacity);
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

        if (is_function(function) &&
            cn_call_module_matches(module, rec->modules[function->module].name,
                                   function->type) &&
            cn_name_filter_matches(&names, function->name))
            add_rule(filter, i, rule);
    }
    cn_name_filter_done(&names);
    return true;
}

/* The first action that only recording has, and that has no effect here; or NULL. */
static const char *find_idle(const struct cn_call_trigger *trigger)
{
    static const struct {
        uint32_t action;
        const char *name;
    } recorded[] = {
        {CN_ACT_FINISH, "finish"},
        {CN_ACT_SITE, "callsite"},
        {CN_ACT_VALUES, "argN, retval"},
        {CN_ACT_AUTO_ARGS, "auto-args"},
        {CN_ACT_RECOVER, "recover"},
        {CN_ACT_READ_STATM, "read=proc/statm"},
        {CN_ACT_READ_FAULTS, "read=page-fault"},
        {~(uint32_t)CN_RULES_OF_VIEWS, "read=pmu-*"},
    };

    for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
        if (trigger->actions & recorded[i].action)
            return recorded[i].name;
    return NULL;
}

bool cn_call_filter_add(struct cn_call_filter *filter, enum cn_filter_kind kind,
                        const char *spec, enum cn_match match, struct cn_error *err)
{
    static const uint32_t flags[] = {CN_RULE_ONLY, CN_RULE_NOT, CN_RULE_CALLER,
                                     CN_RULE_HIDE, 0};
    struct cn_call_trigger trigger;
    bool ok = cn_call_trigger_parse(&trigger, spec, err);

    filter->match_count = 0;
    filter->idle = ok ? find_idle(&trigger) : NULL;
    if (ok && kind == CN_FILTER_TRIGGER && trigger.actions == 0)
        ok = cn_fail(err, CN_ERR_USAGE, "'%s': no action: expected FUNC@ACTION%s%s%s",
                     spec, *trigger.module ? "; '" : "", trigger.module,
                     *trigger.module ? "' is taken for a module" : "");
    if (ok) {
        struct cn_call_rule rule = {
            .flags = (uint16_t)(flags[kind] | (trigger.actions & CN_RULES_OF_VIEWS)),
            .depth = trigger.depth,
            .size_min = trigger.size_min,
            .time_ns = trigger.time_ns,
            .color =
                trigger.color ? cn_arena_strdup(&filter->arena, trigger.color) : NULL,
            .condition = trigger.condition,
        };

        ok = add_matches(filter, trigger.pattern, trigger.module, match, &rule, err) ||
             cn_fail_in(err, "'%s'", spec);
    }
    cn_call_trigger_done(&trigger);
    return ok;
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

    filter->match_count = 0;
    filter->idle = NULL;
    if (is_hidden)
        *at = '\0';
    bool ok = cn_name_filter_add(&names, pattern, cn_match_of_path(pattern, match), err);
    if (ok && !filter->rule_of)
        filter->rule_of = cn_alloc(rec->function_count, sizeof(*filter->rule_of));
    for (uint32_t i = 0; ok && i < rec->function_count; i++) {
        if (rec->functions[i].file[0] &&
            cn_name_filter_matches(&names, rec->functions[i].file))
            add_rule(filter, i, &rule);
    }
    cn_name_filter_done(&names);
    free(pattern);
    return ok || cn_fail_in(err, "'%s'", spec);
}
