/* The Metrics section: header, scopes, metrics, then the scope instances and statistics
 * of each metric, then the strings. */
#include "formats/hpctoolkit/v4/write/writing.h"

struct layout {
    uint64_t scopes_off, metrics_off;
    uint64_t parts_off; /* of the next metric's instances, then its statistics */
    struct cn_hpc_strings strings;
};

static bool check_id(unsigned id, const char *what, struct cn_error *err)
{
    if (id <= CN_HPC_METRIC_ID_MAX)
        return true;
    return cn_fail(err, CN_ERR_LIMIT, "%s id %u, readers accept ids up to %d", what, id,
                   CN_HPC_METRIC_ID_MAX);
}

static bool check_scope(unsigned scope, const struct cn_metrics *metrics,
                        struct cn_error *err)
{
    if (scope < metrics->scope_count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "refers to scope %u, but there are %zu", scope,
                   metrics->scope_count);
}

static bool check_metric(const struct cn_metric *metric, const struct cn_metrics *metrics,
                         struct cn_error *err)
{
    if (metric->instance_count > UINT16_MAX || metric->statistic_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%zu scopes and %zu statistics, can write %d of each",
                       metric->instance_count, metric->statistic_count, UINT16_MAX);
    for (size_t i = 0; i < metric->instance_count; i++)
        if (!check_id(metric->instances[i].prop_id, "metric", err) ||
            !check_scope(metric->instances[i].scope, metrics, err))
            return false;
    for (size_t i = 0; i < metric->statistic_count; i++)
        if (!check_id(metric->statistics[i].stat_id, "statistic", err) ||
            !check_scope(metric->statistics[i].scope, metrics, err))
            return false;
    return true;
}

static bool check_metrics(const struct cn_metrics *metrics, struct cn_error *err)
{
    if (metrics->scope_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu scopes, can write %d",
                       metrics->scope_count, UINT16_MAX);
    for (size_t i = 0; i < metrics->count; i++)
        if (!check_metric(&metrics->list[i], metrics, err))
            return cn_fail_in(err, "metric %s", metrics->list[i].name);
    return true;
}

static uint64_t parts_len(const struct cn_metric *metric)
{
    return metric->instance_count * cn_hpc_scope_instance_size +
           metric->statistic_count * cn_hpc_statistic_size;
}

static bool write_header(struct cn_out *out, const struct cn_metrics *metrics,
                         const struct layout *layout, struct cn_error *err)
{
    struct cn_hpc_metrics_header header = {
        .metrics_off = layout->metrics_off,
        .metric_count = (uint32_t)metrics->count,
        .metric_len = cn_hpc_metric_size,
        .instance_len = cn_hpc_scope_instance_size,
        .statistic_len = cn_hpc_statistic_size,
        .scopes_off = layout->scopes_off,
        .scope_count = (uint16_t)metrics->scope_count,
        .scope_len = cn_hpc_scope_size,
    };

    return CN_OUT_RECORD(out, cn_hpc_metrics_header, &header, err) &&
           cn_out_pad(out, 8, err);
}

static bool write_scopes(struct cn_out *out, const struct cn_metrics *metrics,
                         struct layout *layout, struct cn_error *err)
{
    for (size_t i = 0; i < metrics->scope_count; i++) {
        const struct cn_scope *scope = &metrics->scopes[i];
        struct cn_hpc_scope record = {
            .name_off = cn_hpc_strings_add(&layout->strings, scope->name),
            .type = scope->type,
            .propagation = scope->propagation,
        };

        if (!CN_OUT_RECORD(out, cn_hpc_scope, &record, err))
            return false;
    }
    return true;
}

static bool write_list(struct cn_out *out, const struct cn_metrics *metrics,
                       struct layout *layout, struct cn_error *err)
{
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        struct cn_hpc_metric record = {
            .name_off = cn_hpc_strings_add(&layout->strings, metric->name),
            .instances_off = layout->parts_off,
            .statistics_off =
                layout->parts_off + metric->instance_count * cn_hpc_scope_instance_size,
            .instance_count = (uint16_t)metric->instance_count,
            .statistic_count = (uint16_t)metric->statistic_count,
        };

        layout->parts_off += parts_len(metric);
        if (!CN_OUT_RECORD(out, cn_hpc_metric, &record, err))
            return false;
    }
    return true;
}

static bool write_parts(struct cn_out *out, const struct cn_metric *metric,
                        struct layout *layout, struct cn_error *err)
{
    for (size_t i = 0; i < metric->instance_count; i++) {
        const struct cn_scope_instance *instance = &metric->instances[i];
        struct cn_hpc_scope_instance record = {
            .scope_off =
                layout->scopes_off + (uint64_t)instance->scope * cn_hpc_scope_size,
            .prop_id = instance->prop_id,
        };
        uint8_t bytes[cn_hpc_scope_instance_size];

        cn_hpc_scope_instance_encode(&record, bytes);
        if (!cn_out_write(out, bytes, sizeof(bytes), err))
            return false;
    }
    for (size_t i = 0; i < metric->statistic_count; i++) {
        const struct cn_statistic *statistic = &metric->statistics[i];
        struct cn_hpc_statistic record = {
            .scope_off =
                layout->scopes_off + (uint64_t)statistic->scope * cn_hpc_scope_size,
            .formula_off = cn_hpc_strings_add(&layout->strings, statistic->formula),
            .combine = statistic->combine,
            .stat_id = statistic->stat_id,
        };
        uint8_t bytes[cn_hpc_statistic_size];

        cn_hpc_statistic_encode(&record, bytes);
        if (!cn_out_write(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

bool cn_hpc_metrics_write(struct cn_out *out, struct cn_hpc_writing *w,
                          struct cn_hpc_meta_layout *meta, struct cn_error *err)
{
    const struct cn_metrics *metrics = &w->db->metrics;
    struct layout layout = {
        .scopes_off = cn_align_up(out->end_off + cn_hpc_metrics_header_size, 8),
    };
    bool ok = check_metrics(metrics, err);

    (void)meta;
    layout.metrics_off = layout.scopes_off + metrics->scope_count * cn_hpc_scope_size;
    layout.parts_off = layout.metrics_off + metrics->count * cn_hpc_metric_size;
    layout.strings.end_off = layout.parts_off;
    for (size_t i = 0; i < metrics->count; i++)
        layout.strings.end_off += parts_len(&metrics->list[i]);
    ok = ok && write_header(out, metrics, &layout, err) &&
         write_scopes(out, metrics, &layout, err) &&
         write_list(out, metrics, &layout, err);
    for (size_t i = 0; ok && i < metrics->count; i++)
        ok = write_parts(out, &metrics->list[i], &layout, err);
    ok = ok && cn_hpc_strings_write(&layout.strings, out, err);
    cn_hpc_strings_done(&layout.strings);
    return ok;
}
