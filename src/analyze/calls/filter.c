#include "analyze/calls/filter.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/list.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"

void cn_call_filter_init(struct cn_call_filter *filter, const struct cn_recording *rec)
{
    *filter = (struct cn_call_filter){.rec = rec, .depth = UINT32_MAX};
}

void cn_call_filter_done(struct cn_call_filter *filter)
{
    free(filter->rule_of);
    free(filter->rules);
    free(filter->is_exec);
    cn_arena_done(&filter->arena);
}

/* Whether a function replaces the program when it succeeds. */
static bool is_exec(const char *name)
{
    static const char *const names[] = {"execl",  "execlp",   "execle",
                                        "execv",  "execvp",   "execvpe",
                                        "execve", "execveat", "fexecve"};

    return cn_list_has(names, CN_COUNT_OF(names), name);
}

void cn_call_filter_ready(struct cn_call_filter *filter)
{
    const struct cn_recording *rec = filter->rec;

    filter->is_exec = cn_alloc(rec->function_count, sizeof(*filter->is_exec));
    for (uint32_t i = 0; i < rec->function_count; i++)
        filter->is_exec[i] = is_exec(rec->functions[i].name);
    for (size_t i = 1; i < filter->rule_count; i++) {
        unsigned flags = filter->rules[i].flags;

        filter->has_only |= (flags & CN_RULE_ONLY) != 0;
        filter->has_caller |= (flags & CN_RULE_CALLER) != 0;
        filter->has_files |= (flags & CN_RULE_FILE) != 0;
        filter->has_time |= (flags & (CN_RULE_TIME | CN_RULE_TRACE)) != 0;
        filter->has_switches |= (flags & (CN_RULE_ON | CN_RULE_OFF)) != 0;
        filter->has_sizes |= (flags & CN_RULE_SIZE) != 0;
    }
    filter->has_sizes |= filter->size_min > 0;
    filter->has_rules = filter->rule_count > 1;
    filter->needs_future = filter->has_caller || filter->has_time || filter->time_ns > 0;
    filter->skips_outer_kernel = (rec->features & CN_FEATURE_KERNEL || rec->io) &&
                                 !filter->has_outer_kernel && !filter->is_kernel_only;
    filter->is_plain = !filter->skips_outer_kernel && !filter->is_kernel_only &&
                       !filter->has_outer_events && !filter->has_outer_kernel &&
                       !filter->has_rules && !filter->needs_future && !filter->is_off &&
                       !filter->has_files && !filter->has_only && !filter->has_sizes &&
                       filter->depth == UINT32_MAX && !filter->without_libcalls &&
                       !filter->without_events && !filter->without_schedule &&
                       !filter->without_preemption;
}

static bool compare(enum cn_compare how, int64_t value, int64_t limit)
{
    switch (how) {
    case CN_COMPARE_EQUAL:
        return value == limit;
    case CN_COMPARE_UNEQUAL:
        return value != limit;
    case CN_COMPARE_LESS:
        return value < limit;
    case CN_COMPARE_LESS_EQUAL:
        return value <= limit;
    case CN_COMPARE_MORE:
        return value > limit;
    case CN_COMPARE_MORE_EQUAL:
        return value >= limit;
    case CN_COMPARE_BITS:
        return (value & limit) != 0;
    }
    return false;
}

static bool is_true(const struct cn_call_filter *filter, const struct cn_call *call,
                    const struct cn_call_batch *batch,
                    const struct cn_call_condition *condition)
{
    struct cn_call_values values;
    struct cn_call_value value;

    if (condition->argument == 0)
        return true;
    cn_call_values_begin(&values, filter->rec, batch, call);
    while (cn_call_values_next(&values, &value)) {
        unsigned size = value.spec->size;
        unsigned shift = size > 0 && size < 8 ? 64 - 8 * size : 0; /* extends the sign */

        if (value.spec->index == condition->argument)
            return compare(condition->compare,
                           (int64_t)(cn_call_value_number(&values, &value) << shift) >>
                               shift,
                           condition->value);
    }
    return false;
}

void cn_call_filter_rule(const struct cn_call_filter *filter, const struct cn_call *call,
                         const struct cn_call_batch *batch, struct cn_call_rule *out)
{
    uint32_t i;

    *out = (struct cn_call_rule){0};
    if (!filter->rule_of || call->function == CN_NONE)
        return;
    for (i = filter->rule_of[call->function]; i > 0; i = filter->rules[i].next) {
        const struct cn_call_rule *rule = &filter->rules[i];

        if (!is_true(filter, call, batch, &rule->condition))
            continue;
        /* The last one of -F and -N counts. */
        if (rule->flags & (CN_RULE_ONLY | CN_RULE_NOT))
            out->flags &= (uint16_t) ~(CN_RULE_ONLY | CN_RULE_NOT);
        out->flags |= rule->flags;
        if (rule->flags & CN_RULE_DEPTH)
            out->depth = rule->depth;
        if (rule->flags & CN_RULE_SIZE)
            out->size_min = rule->size_min;
        if (rule->flags & CN_RULE_TIME)
            out->time_ns = rule->time_ns;
        if (rule->flags & CN_RULE_COLOR)
            out->color = rule->color;
    }
}

void cn_call_filter_begin(const struct cn_call_filter *filter,
                          struct cn_filter_scope *scope)
{
    *scope = (struct cn_filter_scope){
        .depth_left = filter->depth,
        .size_min =
            filter->size_min < UINT32_MAX ? (uint32_t)filter->size_min : UINT32_MAX,
    };
}

/* Whether a function may be shown, independent of its callers. */
static bool may_show(const struct cn_call_filter *filter, const struct cn_call *call,
                     unsigned flags, uint32_t size_min)
{
    if ((flags & CN_RULE_HIDE) ||
        (filter->is_kernel_only && !(call->flags & CN_CALL_KERNEL)))
        return false;
    if (filter->has_files && !(flags & CN_RULE_FILE))
        return false;
    if (call->function == CN_NONE)
        return size_min == 0;
    const struct cn_call_function *function = &filter->rec->functions[call->function];
    if (cn_call_filtered_size(function->size, function->type) < size_min)
        return false;
    return !filter->without_libcalls || function->type != 'P';
}

bool cn_call_filter_enter(const struct cn_call_filter *filter, const struct cn_call *call,
                          const struct cn_call_rule *rule, struct cn_filter_scope *scope,
                          bool *is_on)
{
    if (scope->not_count > 0)
        return false;
    if (rule->flags & CN_RULE_NOT)
        scope->not_count++;
    if (rule->flags & CN_RULE_ONLY) {
        scope->only_count++;
        scope->depth_left = filter->depth;
    }
    /* Where nothing is shown, no trigger acts. */
    if (scope->not_count > 0 || (filter->has_only && scope->only_count == 0))
        return false;
    if (rule->flags & CN_RULE_DEPTH)
        scope->depth_left = rule->depth;
    if (rule->flags & CN_RULE_SIZE)
        scope->size_min = rule->size_min;
    if (rule->flags & CN_RULE_ON)
        *is_on = true;
    if (rule->flags & CN_RULE_OFF)
        *is_on = false;
    if (scope->depth_left == 0 || !may_show(filter, call, rule->flags, scope->size_min))
        return false;
    scope->depth_left--;
    return true;
}

bool cn_call_filter_shows(const struct cn_call_filter *filter,
                          const struct cn_filter_scope *scope, bool is_on)
{
    return is_on && scope->not_count == 0 && scope->depth_left > 0 &&
           (!filter->has_only || scope->only_count > 0);
}
