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
