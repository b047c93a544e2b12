/* Percentiles of latencies: from the metrics that count calls in buckets. */
#include <math.h>
#include <stdlib.h>

#include "analyze/buckets.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"

static int compare_latencies(const void *left, const void *right)
{
    const struct cn_cost_latency *a = left, *b = right;

    return (a->low_ns > b->low_ns) - (a->low_ns < b->low_ns);
}

/* Inputs for all buckets that the database has. */
static bool add_latencies(struct cn_costs *costs, struct cn_error *err)
{
    const struct cn_metrics *metrics = &costs->db->metrics;

    costs->latencies = cn_alloc(metrics->count, sizeof(*costs->latencies));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        struct cn_cost_latency latency;
        struct cn_bucket_range range;

        if (metric->instance_count == 0 || !cn_bucket_name_parse(metric->name, &range))
            continue;
        latency.low_ns = (double)range.low_ns;
        latency.middle_ns = cn_bucket_middle(range);
        if (!cn_cost_scope_input(costs, (int)i, metric->instances[0].scope, CN_NONE,
                                 &latency.input, err))
            return false;
        costs->latencies[costs->latency_count++] = latency;
    }
    if (costs->latency_count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "no percentiles: the database does not know how long calls took");
    qsort(costs->latencies, costs->latency_count, sizeof(*costs->latencies),
          compare_latencies);
    return true;
}

bool cn_costs_add_percentile(struct cn_costs *costs, double fraction, const char *name,
                             struct cn_error *err)
{
    struct cn_cost_column column = {
        .metric = name,
        .name = name,
        .title = name,
        .side = CN_SELF,
        .total = NAN,
        .fraction = fraction,
    };

    if (costs->column_count == CN_COST_COLUMN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d columns", CN_COST_COLUMN_MAX);
    if (!costs->latencies && !add_latencies(costs, err))
        return false;
    costs->columns[costs->column_count++] = column;
    return true;
}

double cn_cost_percentile(const struct cn_costs *costs, double fraction,
                          const double *inputs)
{
    double calls = 0, rest;
    const struct cn_cost_latency *last = NULL;

    for (size_t i = 0; i < costs->latency_count; i++)
        if (!isnan(inputs[costs->latencies[i].input]))
            calls += inputs[costs->latencies[i].input];
    rest = ceil(calls * fraction);
    for (size_t i = 0; i < costs->latency_count && rest > 0; i++) {
        if (isnan(inputs[costs->latencies[i].input]))
            continue;
        last = &costs->latencies[i];
        rest -= inputs[last->input];
    }
    return last ? last->middle_ns / 1e9 : NAN;
}
