#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/write/latency_writer.h"
#include "model/contexts/bucket.h"

enum { ID_COUNT = UINT16_MAX + 1 };

static bool is_latency(const struct cn_metric *metric)
{
    struct cn_bucket_range range;

    return cn_metric_bucket(metric, &range);
}

static bool is_derived(const struct cn_cost_formulas *cost)
{
    return (cost->standard && cost->standard->op != CN_FORMULA_INPUT) ||
           (cost->custom && cost->custom->op != CN_FORMULA_INPUT);
}

/* Whether a column is not just an input. Recursion is at most CN_TAXONOMY_DEPTH_MAX deep. */
static bool has_derived(const struct cn_presented_metric *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < list[i].variant_count; k++)
            if (is_derived(&list[i].variants[k].total) ||
                is_derived(&list[i].variants[k].self))
                return true;
        if (has_derived(list[i].children, list[i].child_count))
            return true;
    }
    return false;
}

/* Latencies have a file of their own. hpcviewer gives the numbers after the count of
 * statistics to derived columns: no statistic may have such a number. */
static bool needs_overlay(const struct cn_database *db)
{
    const struct cn_metrics *metrics = &db->metrics;
    size_t count = 0;
    uint16_t largest = 0;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        if (is_latency(metric))
            return true;
        count += metric->statistic_count;
        for (size_t k = 0; k < metric->statistic_count; k++)
            if (metric->statistics[k].stat_id > largest)
                largest = metric->statistics[k].stat_id;
    }
    return largest > count && has_derived(db->taxonomy.roots, db->taxonomy.root_count);
}

/* Mark the ids that are used, then number statistics in the order of their old ids, so that
 * values remain sorted. */
static void number_ids(struct cn_hpc_shown *shown, const struct cn_metrics *metrics)
{
    uint16_t next = 0;

    shown->prop_ids = cn_realloc(NULL, ID_COUNT, sizeof(*shown->prop_ids));
    shown->stat_ids = cn_realloc(NULL, ID_COUNT, sizeof(*shown->stat_ids));
    memset(shown->prop_ids, 0xff, ID_COUNT * sizeof(*shown->prop_ids));
    memset(shown->stat_ids, 0xff, ID_COUNT * sizeof(*shown->stat_ids));
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; !is_latency(metric) && k < metric->instance_count; k++)
            shown->prop_ids[metric->instances[k].prop_id] = metric->instances[k].prop_id;
        for (size_t k = 0; !is_latency(metric) && k < metric->statistic_count; k++)
            shown->stat_ids[metric->statistics[k].stat_id] = 0;
    }
    for (size_t i = 0; i < ID_COUNT; i++)
        if (shown->stat_ids[i] != CN_HPC_SHOWN_DROPPED)
            shown->stat_ids[i] = next++;
}

static struct cn_metric renumber(struct cn_hpc_shown *shown,
                                 const struct cn_metric *metric)
{
    struct cn_metric copy = *metric;
    struct cn_statistic *statistics =
        cn_arena_alloc(&shown->arena, metric->statistic_count, sizeof(*statistics));

    for (size_t i = 0; i < metric->statistic_count; i++) {
        statistics[i] = metric->statistics[i];
        statistics[i].stat_id = shown->stat_ids[statistics[i].stat_id];
    }
    copy.statistics = statistics;
    return copy;
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_profile profile = {0};

    if (cursor->plane == CN_PLANE_OF_PROFILE &&
        !cn_database_profile(db, cursor->owner, &profile, err))
        return false;
    cursor->has_stat_ids = profile.is_summary;
    return cn_database_overlay_values_begin(db, cursor, err);
}

/* Values of dropped metrics are left out. What remains moves to the front of the cursor's
 * buffer, over values that were delivered. */
static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_hpc_shown *shown = (const struct cn_hpc_shown *)cursor->db;
    const uint16_t *ids = cursor->has_stat_ids ? shown->stat_ids : shown->prop_ids;
    size_t count = 0;

    while (count == 0) {
        struct cn_value_batch batch;
        enum cn_step step = cn_database_overlay_values_next(cursor, &batch, err);

        if (step != CN_ITEM)
            return step;
        if (batch.count > CN_VALUE_BATCH)
            return cn_fail(err, CN_ERR_LIMIT, "%zu values at once", batch.count);
        for (size_t i = 0; i < batch.count; i++) {
            struct cn_value value = batch.values[i];

            value.metric = ids[value.metric];
            if (value.metric != CN_HPC_SHOWN_DROPPED)
                cursor->batch[count++] = value;
        }
    }
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    const struct cn_hpc_shown *shown = (const struct cn_hpc_shown *)db;

    if (!cn_database_overlay_ops.profile(db, index, out, err))
        return false;
    if (shown->counts) {
        out->value_count = shown->counts[2 * (size_t)index];
        out->context_count = (uint32_t)shown->counts[2 * (size_t)index + 1];
    }
    return true;
}

static bool count_plane(struct cn_database *db, uint32_t profile, uint64_t counts[2],
                        struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    uint64_t last = UINT64_MAX;
    enum cn_step step;

    if (!cn_profile_values(db, profile, 0, UINT32_MAX, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM) {
        counts[0] += batch.count;
        for (size_t i = 0; i < batch.count; i++) {
            counts[1] += batch.values[i].key != last;
            last = batch.values[i].key;
        }
    }
    return step == CN_END;
}

bool cn_hpc_shown_count(struct cn_hpc_shown *shown, struct cn_error *err)
{
    struct cn_database *db = &shown->overlay.db;
    uint64_t *counts = cn_alloc(db->profile_count, 2 * sizeof(*counts));
    bool ok = true;

    for (uint32_t i = db->own_first; ok && i < cn_database_own_end(db); i++)
        ok = count_plane(db, i, &counts[2 * (size_t)i], err);
    shown->counts = counts;
    db->has_exact_counts = true;
    return ok;
}

void cn_hpc_shown_init(struct cn_hpc_shown *shown, struct cn_database *source,
                       struct cn_database **db)
{
    const struct cn_metrics *metrics = &source->metrics;
    size_t count = 0;

    *shown = (struct cn_hpc_shown){.overlay = {*source, source},
                                   .ops = cn_database_overlay_ops};
    *db = source;
    if (!needs_overlay(source))
        return;
    number_ids(shown, metrics);
    struct cn_metric *list = cn_arena_alloc(&shown->arena, metrics->count, sizeof(*list));
    for (size_t i = 0; i < metrics->count; i++)
        if (!is_latency(&metrics->list[i]))
            list[count++] = renumber(shown, &metrics->list[i]);
    shown->ops.profile = get_profile;
    shown->ops.values_begin = values_begin;
    shown->ops.values_next = values_next;
    shown->overlay.db.ops = &shown->ops;
    shown->overlay.db.has_exact_counts = false;
    shown->overlay.db.metrics.list = list;
    shown->overlay.db.metrics.count = count;
    *db = &shown->overlay.db;
}

void cn_hpc_shown_done(struct cn_hpc_shown *shown)
{
    free(shown->counts);
    free(shown->prop_ids);
    free(shown->stat_ids);
    cn_arena_done(&shown->arena);
}
