#include "formats/hpctoolkit/v4/read/metrics_reader.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/map.h"
#include "formats/hpctoolkit/scopes.h"
#include "formats/hpctoolkit/v4/read/meta_reader.h"
#include "model/contexts/metric.h"

struct reader {
    struct cn_hpc_span section;
    struct cn_hpc_metrics_header head;
    struct cn_hpc_table metrics, scopes;
    struct cn_arena *arena;
    uint64_t nested_len; /* of all arrays that metrics point to */
    struct cn_names *draft_scopes;
};

/* Open an array that a record of this section points to. */
static bool open_nested(struct reader *r, const struct cn_hpc_array *array,
                        struct cn_hpc_table *out, struct cn_error *err)
{
    if (!cn_hpc_table_open(r->section, array, out, err))
        return false;
    r->nested_len += out->span.bytes.len;
    if (r->nested_len > r->section.bytes.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " overlap with others: %" PRIu64
                       " bytes in a section of %zu",
                       array->what, array->off, r->nested_len, r->section.bytes.len);
    return true;
}

static bool read_scopes(struct reader *r, struct cn_metrics *out, struct cn_error *err)
{
    struct cn_scope *list = cn_arena_alloc(r->arena, r->scopes.count, sizeof(*list));
    struct cn_hpc_scope record;

    for (uint32_t i = 0; i < r->scopes.count; i++) {
        if (!cn_hpc_scope_decode(cn_hpc_table_at(&r->scopes, i), &record) ||
            !cn_hpc_span_string(r->section, record.name_off, "name", &list[i].name, err))
            return cn_fail_in(err, "scope %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(&r->scopes, i));
        list[i].type = record.type;
        list[i].propagation = record.propagation;
    }
    out->scopes = list;
    out->scope_count = r->scopes.count;
    return true;
}

static bool find_scope(const struct reader *r, uint64_t off, uint16_t *out,
                       struct cn_error *err)
{
    uint32_t index;

    if (!cn_hpc_table_find(&r->scopes, off, "scope", &index, err))
        return false;
    *out = (uint16_t)index; /* the file counts scopes in 16 bits */
    return true;
}

static bool read_instances(struct reader *r, const struct cn_hpc_metric *record,
                           struct cn_metric *metric, struct cn_error *err)
{
    struct cn_scope_instance *list;
    struct cn_hpc_table table;
    struct cn_hpc_scope_instance instance;

    if (!open_nested(r,
                     &(struct cn_hpc_array){.what = "scope instances",
                                            .off = record->instances_off,
                                            .count = record->instance_count,
                                            .stride = r->head.instance_len,
                                            .least = cn_hpc_scope_instance_size},
                     &table, err))
        return false;
    list = cn_arena_alloc(r->arena, table.count, sizeof(*list));
    for (uint32_t i = 0; i < table.count; i++) {
        if (!cn_hpc_scope_instance_decode(cn_hpc_table_at(&table, i), &instance) ||
            !find_scope(r, instance.scope_off, &list[i].scope, err))
            return cn_fail_in(err, "scope instance %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(&table, i));
        list[i].prop_id = instance.prop_id;
    }
    metric->instances = list;
    metric->instance_count = table.count;
    return true;
}

static bool read_statistics(struct reader *r, const struct cn_hpc_metric *record,
                            struct cn_metric *metric, struct cn_error *err)
{
    struct cn_statistic *list;
    struct cn_hpc_table table;
    struct cn_hpc_statistic statistic;

    if (!open_nested(r,
                     &(struct cn_hpc_array){.what = "statistics",
                                            .off = record->statistics_off,
                                            .count = record->statistic_count,
                                            .stride = r->head.statistic_len,
                                            .least = cn_hpc_statistic_size},
                     &table, err))
        return false;
    list = cn_arena_alloc(r->arena, table.count, sizeof(*list));
    for (uint32_t i = 0; i < table.count; i++) {
        if (!cn_hpc_statistic_decode(cn_hpc_table_at(&table, i), &statistic) ||
            !find_scope(r, statistic.scope_off, &list[i].scope, err) ||
            !cn_hpc_span_string(r->section, statistic.formula_off, "formula",
                                &list[i].formula, err))
            return cn_fail_in(err, "statistic %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(&table, i));
        list[i].combine = statistic.combine;
        list[i].stat_id = statistic.stat_id;
    }
    metric->statistics = list;
    metric->statistic_count = table.count;
    return true;
}

static bool read_final(struct reader *r, struct cn_metrics *out, struct cn_error *err)
{
    struct cn_hpc_metric record;
    struct cn_metric *list;

    if (!cn_hpc_table_open(r->section,
                           &(struct cn_hpc_array){.what = "metrics",
                                                  .off = r->head.metrics_off,
                                                  .count = r->head.metric_count,
                                                  .stride = r->head.metric_len,
                                                  .least = cn_hpc_metric_size},
                           &r->metrics, err) ||
        !cn_hpc_table_open(r->section,
                           &(struct cn_hpc_array){.what = "scopes",
                                                  .off = r->head.scopes_off,
                                                  .count = r->head.scope_count,
                                                  .stride = r->head.scope_len,
                                                  .least = cn_hpc_scope_size},
                           &r->scopes, err) ||
        !read_scopes(r, out, err))
        return false;
    list = cn_arena_alloc(r->arena, r->metrics.count, sizeof(*list));
    for (uint32_t i = 0; i < r->metrics.count; i++)
        if (!cn_hpc_metric_decode(cn_hpc_table_at(&r->metrics, i), &record) ||
            !cn_hpc_span_string(r->section, record.name_off, "name", &list[i].name,
                                err) ||
            !read_instances(r, &record, &list[i], err) ||
            !read_statistics(r, &record, &list[i], err))
            return cn_fail_in(err, "metric %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(&r->metrics, i));
    out->list = list;
    out->count = r->metrics.count;
    return true;
}

static bool add_draft_scope(struct reader *r, const struct cn_hpc_draft_scope *record,
                            uint16_t *out, struct cn_error *err)
{
    const char *name;
    uint32_t number;

    if (!cn_hpc_span_string(r->section, record->name_off, "name", &name, err))
        return false;
    number = cn_names_add(r->draft_scopes, name);
    if (number >= UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %u scopes", UINT16_MAX);
    *out = (uint16_t)number;
    return true;
}

/* Read the statistics of one scope of a draft's metric. */
static bool read_draft_statistics(struct reader *r, const struct cn_hpc_table *table,
                                  uint16_t scope, struct cn_statistic *list,
                                  struct cn_error *err)
{
    struct cn_hpc_draft_statistic record;

    for (uint32_t i = 0; i < table->count; i++) {
        if (!cn_hpc_draft_statistic_decode(cn_hpc_table_at(table, i), &record) ||
            !cn_hpc_span_string(r->section, record.formula_off, "formula",
                                &list[i].formula, err))
            return cn_fail_in(err, "statistic %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(table, i));
        list[i].scope = scope;
        list[i].combine = record.combine;
        list[i].stat_id = record.stat_id;
    }
    return true;
}

/* Open the statistics of each scope, and count them. */
static bool open_draft_statistics(struct reader *r, const struct cn_hpc_table *scopes,
                                  struct cn_hpc_table *tables, size_t *total,
                                  struct cn_error *err)
{
    struct cn_hpc_draft_scope record;

    *total = 0;
    for (uint32_t i = 0; i < scopes->count; i++) {
        struct cn_hpc_array array = {.what = "statistics",
                                     .stride = r->head.statistic_len,
                                     .least = cn_hpc_draft_statistic_size};

        if (!cn_hpc_draft_scope_decode(cn_hpc_table_at(scopes, i), &record))
            return cn_fail(err, CN_ERR_FORMAT, "scope %" PRIu32 " is cut off", i);
        array.off = record.statistics_off;
        array.count = record.statistic_count;
        if (!open_nested(r, &array, &tables[i], err))
            return false;
        *total += tables[i].count;
    }
    return true;
}

/* In drafts, metrics contain scopes, and scopes contain statistics. */
static bool read_draft_scopes(struct reader *r, const struct cn_hpc_table *scopes,
                              struct cn_metric *metric, struct cn_error *err)
{
    struct cn_scope_instance *instances =
        cn_arena_alloc(r->arena, scopes->count, sizeof(*instances));
    struct cn_hpc_table *tables =
        cn_arena_alloc(r->arena, scopes->count, sizeof(*tables));
    struct cn_statistic *statistics;
    struct cn_hpc_draft_scope record;
    size_t total, used = 0;

    if (!open_draft_statistics(r, scopes, tables, &total, err))
        return false;
    statistics = cn_arena_alloc(r->arena, total, sizeof(*statistics));
    for (uint32_t i = 0; i < scopes->count; i++) {
        if (!cn_hpc_draft_scope_decode(cn_hpc_table_at(scopes, i), &record) ||
            !add_draft_scope(r, &record, &instances[i].scope, err) ||
            !read_draft_statistics(r, &tables[i], instances[i].scope, statistics + used,
                                   err))
            return cn_fail_in(err, "scope %" PRIu32 " at 0x%" PRIx64, i,
                              cn_hpc_table_off(scopes, i));
        instances[i].prop_id = record.prop_id;
        used += tables[i].count;
    }
    *metric =
        (struct cn_metric){metric->name, instances, statistics, scopes->count, total};
    return true;
}

static bool read_draft_metric(struct reader *r, uint32_t i, struct cn_metric *out,
                              struct cn_error *err)
{
    struct cn_hpc_draft_metric record;
    struct cn_hpc_table scopes;

    if (cn_hpc_draft_metric_decode(cn_hpc_table_at(&r->metrics, i), &record) &&
        cn_hpc_span_string(r->section, record.name_off, "name", &out->name, err) &&
        open_nested(r,
                    &(struct cn_hpc_array){.what = "scopes",
                                           .off = record.scopes_off,
                                           .count = record.scope_count,
                                           .stride = r->head.instance_len,
                                           .least = cn_hpc_draft_scope_size},
                    &scopes, err) &&
        read_draft_scopes(r, &scopes, out, err))
        return true;
    return cn_fail_in(err, "metric %" PRIu32 " at 0x%" PRIx64, i,
                      cn_hpc_table_off(&r->metrics, i));
}

static bool read_draft(struct reader *r, struct cn_metrics *out, struct cn_error *err)
{
    struct cn_metric *list;
    struct cn_scope *scopes;

    if (!cn_hpc_table_open(r->section,
                           &(struct cn_hpc_array){.what = "metrics",
                                                  .off = r->head.metrics_off,
                                                  .count = r->head.metric_count,
                                                  .stride = r->head.metric_len,
                                                  .least = cn_hpc_draft_metric_size},
                           &r->metrics, err))
        return false;
    list = cn_arena_alloc(r->arena, r->metrics.count, sizeof(*list));
    for (uint32_t i = 0; i < r->metrics.count; i++)
        if (!read_draft_metric(r, i, &list[i], err))
            return false;
    scopes = cn_arena_alloc(r->arena, r->draft_scopes->count, sizeof(*scopes));
    for (size_t i = 0; i < r->draft_scopes->count; i++)
        scopes[i] = cn_hpc_scope_of(cn_arena_strdup(r->arena, r->draft_scopes->list[i]));
    *out = (struct cn_metrics){scopes, list, r->draft_scopes->count, r->metrics.count};
    return true;
}

bool cn_hpc_metrics_read(const struct cn_hpc_meta *meta, struct cn_arena *arena,
                         struct cn_metrics *out, struct cn_error *err)
{
    struct cn_names draft_scopes = {0};
    struct reader r = {.section = meta->sections.list[CN_HPC_METRICS],
                       .arena = arena,
                       .draft_scopes = &draft_scopes};
    struct cn_metrics metrics = {0};
    bool ok;

    if (!cn_hpc_metrics_header_decode(r.section.bytes, &r.head))
        return cn_hpc_section_too_short(&meta->sections, CN_HPC_METRICS, err);
    ok = meta->is_draft ? read_draft(&r, &metrics, err) : read_final(&r, &metrics, err);
    cn_names_done(&draft_scopes);
    if (ok)
        *out = metrics;
    return ok;
}
