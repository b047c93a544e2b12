/* Statistics over threads.
 *
 * Sums are over the threads that have the metric at the context in any scope, as in the
 * databases of hpcprof: so the count, a sum of ones, is the divisor of means in all scopes.
 * Minimum and maximum are over the threads that have a value in the scope.
 */
#include "model/contexts/memory_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

/* A value of a thread, with its metric and scope. */
struct summary_item {
    uint32_t context, metric, profile;
    uint16_t scope;
    double value;
};

static bool find_instance(const struct cn_metrics *metrics, uint16_t prop_id,
                          struct summary_item *out)
{
    for (uint32_t i = 0; i < metrics->count; i++)
        for (size_t k = 0; k < metrics->list[i].instance_count; k++)
            if (metrics->list[i].instances[k].prop_id == prop_id) {
                out->metric = i;
                out->scope = metrics->list[i].instances[k].scope;
                return true;
            }
    return false;
}

static struct summary_item *collect(const struct cn_memory_database *m, size_t *count)
{
    struct summary_item *items = cn_alloc(m->value_count, sizeof(*items));

    *count = 0;
    for (size_t i = 0; i < m->value_count; i++) {
        const struct cn_memory_value *from = &m->values[i];
        struct summary_item *item = &items[*count];

        item->context = from->value.key;
        item->profile = from->profile;
        item->value = from->value.value;
        *count += find_instance(&m->db.metrics, from->value.metric, item);
    }
    CN_SORT(items, *count, CN_UP(struct summary_item, context),
            CN_UP(struct summary_item, metric), CN_UP(struct summary_item, profile),
            CN_UP(struct summary_item, scope));
    return items;
}

/* A statistic over the values of a context and metric. */
static double evaluate(const struct summary_item *items, size_t count,
                       const struct cn_statistic *statistic,
                       const struct cn_formula *formula)
{
    double result = 0;
    bool is_first = true;

    for (size_t i = 0; i < count;) {
        uint32_t profile = items[i].profile;
        double value = 0;

        for (; i < count && items[i].profile == profile; i++)
            if (items[i].scope == statistic->scope)
                value = items[i].value;
        if (value == 0 && statistic->combine != CN_COMBINE_SUM)
            continue;
        value = cn_formula_eval(formula, &value);
        if (is_first)
            result = value;
        else if (statistic->combine == CN_COMBINE_MIN)
            result = fmin(result, value);
        else if (statistic->combine == CN_COMBINE_MAX)
            result = fmax(result, value);
        else
            result += value;
        is_first = false;
    }
    return result;
}

static bool summarise_metric(struct cn_memory_database *m,
                             const struct summary_item *items, size_t count,
                             struct cn_error *err)
{
    const struct cn_metric *metric = &m->metrics[items->metric];
    struct cn_arena arena = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];
        const struct cn_formula *formula = NULL;
        double value = 0;

        ok = cn_formula_parse(&formula, statistic->formula, &arena, err) ||
             cn_fail_in(err, "metric %s", metric->name);
        if (ok)
            value = evaluate(items, count, statistic, formula);
        if (value != 0)
            cn_memory_database_add_value(m, 0, items->context, statistic->stat_id, value);
    }
    cn_arena_done(&arena);
    return ok;
}

bool cn_memory_summarise(struct cn_memory_database *m, struct cn_error *err)
{
    size_t count;
    struct summary_item *items = collect(m, &count);
    bool ok = true;

    for (size_t at = 0; ok && at < count;) {
        size_t end = at;

        while (end < count && items[end].context == items[at].context &&
               items[end].metric == items[at].metric)
            end++;
        ok = summarise_metric(m, items + at, end - at, err);
        at = end;
    }
    free(items);
    return ok;
}
