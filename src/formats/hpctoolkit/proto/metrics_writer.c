/* The section of metrics: each is followed by its scopes, each scope by its statistics. */
#include <inttypes.h>

#include "formats/hpctoolkit/proto/meta_writer.h"
#include "formats/hpctoolkit/scopes.h"

static bool write_string(struct cn_out *out, const char *text, struct cn_error *err)
{
    return cn_out_write(out, text, strlen(text) + 1, err);
}

static bool write_statistic(struct cn_out *out, const struct cn_statistic *statistic,
                            struct cn_error *err)
{
    struct cn_hpc_proto_statistic record = {statistic->stat_id, statistic->combine};

    return CN_OUT_RECORD(out, cn_hpc_proto_statistic, &record, err) &&
           write_string(out, statistic->formula, err);
}

/* The statistics of a scope belong to its first instance. */
static bool is_first(const struct cn_metric *metric, size_t instance)
{
    for (size_t i = 0; i < instance; i++)
        if (metric->instances[i].scope == metric->instances[instance].scope)
            return false;
    return true;
}

static bool write_scope(struct cn_out *out, const struct cn_metrics *metrics,
                        const struct cn_metric *metric, size_t i, struct cn_error *err)
{
    const struct cn_scope_instance *instance = &metric->instances[i];
    struct cn_hpc_proto_scope record = {.prop_id = instance->prop_id};
    bool has_statistics = is_first(metric, i);
    uint64_t count = 0;

    if (instance->scope >= metrics->scope_count)
        return cn_fail(err, CN_ERR_FORMAT, "refers to scope %u, but there are %zu",
                       instance->scope, metrics->scope_count);
    for (size_t k = 0; has_statistics && k < metric->statistic_count; k++)
        count += metric->statistics[k].scope == instance->scope;
    if (count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%" PRIu64 " statistics of a scope, can write %d", count,
                       UINT16_MAX);
    record.statistic_count = (uint16_t)count;
    if (!CN_OUT_RECORD(out, cn_hpc_proto_scope, &record, err) ||
        !write_string(out, metrics->scopes[instance->scope].name, err))
        return false;
    for (size_t k = 0; has_statistics && k < metric->statistic_count; k++)
        if (metric->statistics[k].scope == instance->scope &&
            !write_statistic(out, &metric->statistics[k], err))
            return false;
    return true;
}

static bool write_metric(struct cn_out *out, const struct cn_metrics *metrics,
                         const struct cn_metric *metric, struct cn_error *err)
{
    struct cn_hpc_proto_metric record = {(uint16_t)metric->instance_count};

    if (metric->instance_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu scopes of a metric, can write %d",
                       metric->instance_count, UINT16_MAX);
    if (!CN_OUT_RECORD(out, cn_hpc_proto_metric, &record, err) ||
        !write_string(out, metric->name, err))
        return false;
    for (size_t i = 0; i < metric->instance_count; i++)
        if (!write_scope(out, metrics, metric, i, err))
            return false;
    return true;
}

/* Statistics whose scope has no values of threads cannot be written. */
static uint64_t count_lost_statistics(const struct cn_metric *metric)
{
    uint64_t count = 0;

    for (size_t k = 0; k < metric->statistic_count; k++)
        count += cn_metric_prop_id(metric, metric->statistics[k].scope) == CN_NO_ID;
    return count;
}

/* Scopes are written with the metrics that have them. */
static uint64_t count_unused_scopes(const struct cn_metrics *metrics)
{
    uint64_t count = 0;

    for (size_t s = 0; s < metrics->scope_count; s++) {
        bool is_used = false;

        for (size_t i = 0; i < metrics->count && !is_used; i++)
            is_used = cn_metric_prop_id(&metrics->list[i], (unsigned)s) != CN_NO_ID;
        count += !is_used;
    }
    return count;
}

/* Scopes whose type does not follow from their name. */
static uint64_t count_odd_scopes(const struct cn_metrics *metrics)
{
    uint64_t count = 0;

    for (size_t i = 0; i < metrics->scope_count; i++) {
        const struct cn_scope *scope = &metrics->scopes[i];
        struct cn_scope known = cn_hpc_scope_of(scope->name);

        count += scope->type != known.type || (scope->type == CN_SCOPE_TRANSITIVE &&
                                               scope->propagation != known.propagation);
    }
    return count;
}

bool cn_hpc_proto_metrics_write(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    const struct cn_metrics *metrics = &w->db->metrics;
    struct cn_hpc_proto_metrics_header head = {(uint32_t)metrics->count};
    uint64_t lost_count = 0;

    if (!CN_OUT_RECORD(&w->out, cn_hpc_proto_metrics_header, &head, err))
        return false;
    for (size_t i = 0; i < metrics->count; i++) {
        if (!write_metric(&w->out, metrics, &metrics->list[i], err))
            return cn_fail_in(err, "metric %s", metrics->list[i].name);
        lost_count += count_lost_statistics(&metrics->list[i]);
    }
    cn_write_lose(w->options, "statistics of scopes without values of threads",
                  lost_count);
    cn_write_lose(w->options, "scopes that no metric has", count_unused_scopes(metrics));
    cn_write_lose(w->options, "scopes whose type does not follow from their name",
                  count_odd_scopes(metrics));
    return true;
}
