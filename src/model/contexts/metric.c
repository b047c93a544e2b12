#include "model/contexts/metric.h"

#include <string.h>

const char *cn_combine_name(unsigned combine)
{
    static const char *const names[] = {"sum", "min", "max"};

    return combine < sizeof(names) / sizeof(*names) ? names[combine] : "unknown";
}

int cn_metrics_find(const struct cn_metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->list[i].name, name) == 0)
            return (int)i;
    return CN_NO_ID;
}

int cn_metrics_find_scope(const struct cn_metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->scope_count; i++)
        if (strcmp(metrics->scopes[i].name, name) == 0)
            return (int)i;
    return CN_NO_ID;
}

int cn_metrics_find_scope_type(const struct cn_metrics *metrics, enum cn_scope_type type)
{
    for (size_t i = 0; i < metrics->scope_count; i++)
        if (metrics->scopes[i].type == type)
            return (int)i;
    return CN_NO_ID;
}

int cn_metric_prop_id(const struct cn_metric *metric, unsigned scope)
{
    for (size_t i = 0; i < metric->instance_count; i++)
        if (metric->instances[i].scope == scope)
            return metric->instances[i].prop_id;
    return CN_NO_ID;
}

int cn_metric_stat_id(const struct cn_metric *metric, unsigned scope, const char *formula,
                      enum cn_combine combine)
{
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];

        if (statistic->scope == scope && statistic->combine == combine &&
            strcmp(statistic->formula, formula) == 0)
            return statistic->stat_id;
    }
    return CN_NO_ID;
}

/* The smallest or largest of something, which never adds up. */
static bool is_extreme(const struct cn_metric *metric)
{
    bool has_extreme = false;

    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];

        if (strcmp(statistic->formula, "$$") != 0)
            continue;
        if (statistic->combine == CN_COMBINE_SUM)
            return false;
        has_extreme = true;
    }
    return has_extreme;
}

static void add_id(struct cn_zero_ids *ids, uint16_t id)
{
    ids->words[id / 64] |= UINT64_C(1) << id % 64;
}

void cn_zero_ids_init(struct cn_zero_ids *ids, const struct cn_metrics *metrics,
                      bool of_statistics)
{
    *ids = (struct cn_zero_ids){0};
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (!is_extreme(metric))
            continue;
        for (size_t k = 0; !of_statistics && k < metric->instance_count; k++)
            add_id(ids, metric->instances[k].prop_id);
        for (size_t k = 0; of_statistics && k < metric->statistic_count; k++)
            if (strcmp(metric->statistics[k].formula, "$$") == 0)
                add_id(ids, metric->statistics[k].stat_id);
    }
}
