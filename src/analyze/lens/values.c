/* The values of a database with a lens: those of a node are added up from its sources when they are
 * asked for. Nodes with many sources have their sums over threads from the start. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/durations/histogram.h"
#include "analyze/lens/internal.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "model/contexts/bucket.h"

enum { SUMMARY = 1, HEAVY_MIN = 32 };

static unsigned part_of_scope(const struct cn_scope *scope)
{
    switch (scope->type) {
    case CN_SCOPE_POINT:
        return CN_LENS_POINT;
    case CN_SCOPE_EXECUTION:
        return CN_LENS_TOTAL;
    case CN_SCOPE_CUSTOM:
        return strcmp(scope->name, "lex_aware") == 0 ? CN_LENS_OWN_LOOP : CN_LENS_SELF;
    default:
        return CN_LENS_SELF;
    }
}

/* How values of several contexts are combined: those of the shortest call by the minimum. */
static uint8_t combine_of(const struct cn_metric *metric)
{
    uint8_t combine = CN_COMBINE_SUM;

    for (size_t i = 0; i < metric->statistic_count; i++) {
        if (strcmp(metric->statistics[i].formula, "$$") != 0)
            continue;
        if (metric->statistics[i].combine == CN_COMBINE_SUM)
            return CN_COMBINE_SUM;
        combine = metric->statistics[i].combine;
    }
    return combine;
}

static void list_ids(struct cn_lens_ids *ids)
{
    ids->list = cn_alloc(UINT16_MAX + 1, sizeof(*ids->list));
    for (unsigned i = 0; i <= UINT16_MAX; i++)
        if (ids->parts[i] != 0) {
            ids->slots[i] = (uint16_t)ids->count;
            ids->list[ids->count++] = (uint16_t)i;
        }
}

static void find_ids(struct cn_lens_database *self)
{
    const struct cn_metrics *metrics = &self->overlay.source->metrics;

    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];
        uint8_t combine = combine_of(metric);
        struct cn_bucket_range range;
        bool is_of_calls = combine != CN_COMBINE_SUM ||
                           strcmp(metric->name, CN_CALLS_NAME) == 0 ||
                           cn_bucket_name_parse(metric->name, &range);

        for (size_t k = 0; k < metric->instance_count; k++) {
            const struct cn_scope_instance *of = &metric->instances[k];
            unsigned part = part_of_scope(&metrics->scopes[of->scope]);

            self->ids[0].parts[of->prop_id] =
                (uint8_t)(is_of_calls && part != CN_LENS_TOTAL ? CN_LENS_OWN : part);
            self->ids[0].combines[of->prop_id] = combine;
        }
        for (size_t k = 0; k < metric->statistic_count; k++) {
            const struct cn_statistic *of = &metric->statistics[k];
            unsigned part = part_of_scope(&metrics->scopes[of->scope]);

            if (strcmp(of->formula, "$$") != 0 || of->combine != combine)
                continue;
            self->ids[SUMMARY].parts[of->stat_id] =
                (uint8_t)(is_of_calls && part != CN_LENS_TOTAL ? CN_LENS_OWN : part);
            self->ids[SUMMARY].combines[of->stat_id] = combine;
        }
    }
    list_ids(&self->ids[0]);
    list_ids(&self->ids[SUMMARY]);
}

/* The values of one node, by slot; NAN where there is none. `scales` are those of sums from which
 * others were subtracted. */
struct gathered {
    const struct cn_lens_ids *ids;
    double *values, *scales;
};

static void gathered_begin(struct gathered *g, const struct cn_lens_ids *ids)
{
    g->ids = ids;
    g->values = cn_alloc(ids->count + 1, sizeof(*g->values));
    g->scales = cn_alloc(ids->count + 1, sizeof(*g->scales));
}

static void gathered_clear(struct gathered *g)
{
    for (size_t i = 0; i < g->ids->count; i++) {
        g->values[i] = NAN;
        g->scales[i] = 0;
    }
}

static void gathered_done(struct gathered *g)
{
    free(g->values);
    free(g->scales);
}

static void add_value(struct gathered *g, const struct cn_value *value, unsigned parts,
                      int sign)
{
    unsigned slot = g->ids->slots[value->metric];
    double *sum = &g->values[slot];
    uint8_t combine = g->ids->combines[value->metric];

    if (!(g->ids->parts[value->metric] & parts))
        return;
    if (combine == CN_COMBINE_SUM) {
        *sum = (isnan(*sum) ? 0 : *sum) + sign * value->value;
        g->scales[slot] += fabs(value->value);
    } else if (isnan(*sum) ||
               (combine == CN_COMBINE_MIN ? value->value < *sum : value->value > *sum)) {
        *sum = value->value;
    }
}

static bool add_contexts(struct cn_lens_database *self, struct gathered *g,
                         uint32_t profile, uint32_t first, uint32_t last, unsigned parts,
                         int sign, struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_profile_values(self->overlay.source, profile, first, last, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            add_value(g, &batch.values[i], parts, sign);
    return step == CN_END;
}

/* Transfers at a node or below it: from *first to *end. */
static void find_transfers(const struct cn_lens_database *self, uint32_t node,
                           size_t *first, size_t *end)
{
    uint32_t bounds[2] = {0};
    size_t found[2] = {0};

    if (self->transfer_count > 0) {
        bounds[0] = self->dfs_begin[node];
        bounds[1] = self->dfs_end[node];
    }
    for (int i = 0; i < 2 && self->transfer_count > 0; i++) {
        size_t low = 0, high = self->transfer_count;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (self->dfs_begin[self->transfers[middle].node] < bounds[i])
                low = middle + 1;
            else
                high = middle;
        }
        found[i] = low;
    }
    *first = found[0];
    *end = found[1];
}

/* What remains of sums that cancel each other is no value. */
static void round_off(struct gathered *g)
{
    for (size_t i = 0; i < g->ids->count; i++)
        if (g->ids->combines[g->ids->list[i]] == CN_COMBINE_SUM &&
            fabs(g->values[i]) <= CN_LENS_ROUNDING * g->scales[i])
            g->values[i] = NAN;
}

static bool gather_sources(struct cn_lens_database *self, struct gathered *g,
                           uint32_t node, uint32_t profile, struct cn_error *err)
{
    const struct cn_lens_source *sources = self->sources;
    bool ok = true;

    for (uint32_t i = self->start[node], end; ok && i < self->start[node + 1]; i = end) {
        /* Contexts with consecutive ids are next to each other. */
        for (end = i + 1; end < self->start[node + 1] &&
                          sources[end].context == sources[end - 1].context + 1 &&
                          sources[end].parts == sources[i].parts;
             end++) {
        }
        ok = add_contexts(self, g, profile, sources[i].context, sources[end - 1].context,
                          sources[i].parts, 1, err);
    }
    return ok;
}

static bool gather(struct cn_lens_database *self, struct gathered *g, uint32_t node,
                   uint32_t profile, struct cn_error *err)
{
    size_t first, end;

    gathered_clear(g);
    if (!gather_sources(self, g, node, profile, err))
        return false;
    find_transfers(self, node, &first, &end);
    for (size_t i = first; i < end; i++)
        if (!add_contexts(self, g, profile, self->transfers[i].context,
                          self->transfers[i].context, CN_LENS_TOTAL,
                          self->transfers[i].sign, err))
            return false;
    round_off(g);
    return true;
}

/* Transfers of sums over threads: one value of each context, with the slot. */
struct moved_value {
    uint32_t node;
    uint16_t slot;
    double value, scale;
};

struct moved_values {
    struct moved_value *list;
    size_t count, capacity;
};

/* The total values of all transfers, by slot. */
static bool read_transfers(struct cn_lens_database *self, struct moved_values *out,
                           struct cn_error *err)
{
    const struct cn_lens_ids *ids = &self->ids[SUMMARY];
    struct gathered g;
    bool ok = true;

    gathered_begin(&g, ids);
    for (size_t i = 0; ok && i < self->transfer_count; i++) {
        const struct cn_lens_transfer *from = &self->transfers[i];

        gathered_clear(&g);
        ok = add_contexts(self, &g, 0, from->context, from->context, CN_LENS_TOTAL,
                          from->sign, err);
        for (size_t k = 0; ok && k < ids->count; k++)
            if (!isnan(g.values[k]))
                CN_PUSH(out->list, out->count, out->capacity,
                        (struct moved_value){from->node, (uint16_t)k, g.values[k],
                                             fabs(g.values[k])});
    }
    gathered_done(&g);
    return ok;
}

static bool is_heavy(const struct cn_lens_database *self, uint32_t node)
{
    size_t first, end;

    find_transfers(self, node, &first, &end);
    return self->start[node + 1] - self->start[node] + (end - first) > HEAVY_MIN;
}

/* Add up the transfers of each slot along the tree; those of heavy nodes are `out`, by node. */
static void move_up(struct cn_lens_database *self, const struct moved_values *from,
                    const bool *is_wanted, struct moved_values *out)
{
    size_t count = self->tree.count;
    double *sums = cn_alloc(count, sizeof(*sums)),
           *scales = cn_alloc(count, sizeof(*sums));

    for (size_t slot = 0; slot < self->ids[SUMMARY].count; slot++) {
        bool has_some = false;

        for (size_t i = 0; i < from->count; i++)
            if (from->list[i].slot == slot) {
                sums[from->list[i].node] += from->list[i].value;
                scales[from->list[i].node] += from->list[i].scale;
                has_some = true;
            }
        for (size_t i = count; has_some && i-- > 0;) {
            uint32_t parent = self->tree.links[i].parent;

            if (i > 0) {
                sums[parent] += sums[i];
                scales[parent] += scales[i];
            }
            if (is_wanted[i] && scales[i] > 0)
                CN_PUSH(out->list, out->count, out->capacity,
                        (struct moved_value){(uint32_t)i, (uint16_t)slot, sums[i],
                                             scales[i]});
            sums[i] = scales[i] = 0;
        }
    }
    free(sums);
    free(scales);
}

static void keep_heavy(struct cn_lens_database *self, uint32_t node,
                       const struct gathered *g)
{
    *cn_map_at(&self->heavy_of, node, 0) = (uint32_t)self->heavy_count;
    for (size_t i = 0; i < g->ids->count; i++)
        if (!isnan(g->values[i]))
            CN_PUSH(self->heavy_values, self->heavy_value_count,
                    self->heavy_value_capacity,
                    (struct cn_value){.value = g->values[i],
                                      .key = self->nodes[node].id,
                                      .metric = g->ids->list[i]});
    CN_GROW(self->heavy_start, self->heavy_count + 1, self->heavy_capacity);
    self->heavy_start[++self->heavy_count] = self->heavy_value_count;
}

static bool find_heavy(struct cn_lens_database *self, struct cn_error *err)
{
    size_t count = self->tree.count;
    bool *is_wanted = cn_alloc(count, sizeof(*is_wanted)), ok;
    struct moved_values moved = {0}, sums = {0};
    struct cn_map of_node = {0}; /* 1 + the newest of its sums */
    uint32_t *next = NULL;
    struct gathered g;

    for (uint32_t i = 0; i < count; i++)
        is_wanted[i] = is_heavy(self, i);
    ok = read_transfers(self, &moved, err);
    if (ok)
        move_up(self, &moved, is_wanted, &sums);
    next = cn_alloc(sums.count, sizeof(*next));
    for (size_t i = 0; i < sums.count; i++) {
        uint32_t *newest = cn_map_at(&of_node, sums.list[i].node, 0);

        next[i] = *newest;
        *newest = (uint32_t)i + 1;
    }
    gathered_begin(&g, &self->ids[SUMMARY]);
    CN_GROW(self->heavy_start, 0, self->heavy_capacity);
    self->heavy_start[0] = 0;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (!is_wanted[i])
            continue;
        gathered_clear(&g);
        ok = gather_sources(self, &g, i, 0, err);
        for (uint32_t k = cn_map_find(&of_node, i, 0); k > 0; k = next[k - 1]) {
            double *value = &g.values[sums.list[k - 1].slot];

            *value = (isnan(*value) ? 0 : *value) + sums.list[k - 1].value;
            g.scales[sums.list[k - 1].slot] += sums.list[k - 1].scale;
        }
        round_off(&g);
        if (ok)
            keep_heavy(self, i, &g);
    }
    gathered_done(&g);
    cn_map_done(&of_node);
    free(next);
    free(moved.list);
    free(sums.list);
    free(is_wanted);
    return ok;
}

bool cn_lens_values_init(struct cn_lens_database *self, struct cn_error *err)
{
    find_ids(self);
    return find_heavy(self, err);
}

void cn_lens_values_done(struct cn_lens_database *self)
{
    for (int i = 0; i <= SUMMARY; i++)
        free(self->ids[i].list);
    cn_map_done(&self->heavy_of);
    free(self->heavy_start);
    free(self->heavy_values);
}

unsigned cn_lens_part_of(const struct cn_database *db, uint16_t id, bool of_summary)
{
    return cn_lens_self(db)->ids[of_summary ? SUMMARY : 0].parts[id];
}

/* In the plane of a profile, `at` is the next context and `metric` the next id of its values; in
 * that of a context, `index_at` is the next slot and `at` the next profile. */
bool cn_lens_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                          struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(db);
    struct cn_profile profile;

    cursor->at = cursor->index_at = 0;
    cursor->metric = 0;
    cursor->key = CN_NONE;
    if (cursor->plane == CN_PLANE_OF_CONTEXT) {
        if (cursor->owner < self->id_limit)
            cursor->key = self->node_of_id[cursor->owner];
        return true;
    }
    cursor->at = cursor->first_key;
    cursor->end = cursor->last_key < self->id_limit ? cursor->last_key + (uint64_t)1
                                                    : self->id_limit;
    if (!cn_database_profile(self->overlay.source, cursor->owner, &profile, err))
        return false;
    cursor->has_stat_ids = cursor->owner == 0 || profile.is_summary;
    return true;
}

/* Append the values of a node from `cursor->metric` on; false if there is no room for all. */
static bool put_values(struct cn_value_cursor *cursor, uint32_t node,
                       const struct gathered *g, size_t *count)
{
    const struct cn_lens_database *self = cn_lens_self(cursor->db);

    for (size_t i = 0; i < g->ids->count; i++) {
        if (isnan(g->values[i]) || g->ids->list[i] < cursor->metric)
            continue;
        if (*count == CN_VALUE_BATCH) {
            cursor->metric = g->ids->list[i];
            return false;
        }
        cursor->batch[(*count)++] = (struct cn_value){.value = g->values[i],
                                                      .key = self->nodes[node].id,
                                                      .metric = g->ids->list[i]};
    }
    cursor->metric = 0;
    return true;
}

/* The same for a node whose sums are known. */
static bool put_heavy(struct cn_value_cursor *cursor, uint32_t heavy, size_t *count)
{
    const struct cn_lens_database *self = cn_lens_self(cursor->db);

    for (size_t i = self->heavy_start[heavy]; i < self->heavy_start[heavy + 1]; i++) {
        if (self->heavy_values[i].metric < cursor->metric)
            continue;
        if (*count == CN_VALUE_BATCH) {
            cursor->metric = self->heavy_values[i].metric;
            return false;
        }
        cursor->batch[(*count)++] = self->heavy_values[i];
    }
    cursor->metric = 0;
    return true;
}

static enum cn_step next_of_profile(struct cn_value_cursor *cursor, size_t *count,
                                    struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(cursor->db);
    struct gathered g;
    bool ok = true, has_room = true;

    gathered_begin(&g, &self->ids[cursor->has_stat_ids ? SUMMARY : 0]);
    while (ok && has_room && cursor->at < cursor->end) {
        uint32_t node = self->node_of_id[cursor->at], heavy = CN_NONE;

        if (node != CN_NONE && cursor->owner == 0)
            heavy = cn_map_find(&self->heavy_of, node, CN_NONE);
        if (heavy != CN_NONE) {
            has_room = put_heavy(cursor, heavy, count);
        } else if (node != CN_NONE) {
            ok = gather(self, &g, node, cursor->owner, err);
            has_room = !ok || put_values(cursor, node, &g, count);
        }
        cursor->at += has_room;
    }
    gathered_done(&g);
    return !ok ? CN_FAIL : *count > 0 ? CN_ITEM : CN_END;
}

/* Add one id of one context of the whole to sums by profile, which begin with profile `first`. */
static bool add_plane(struct cn_lens_database *self, uint32_t context, uint16_t id,
                      double factor, uint32_t first, double *sums, double *scales,
                      struct cn_error *err)
{
    uint8_t combine = self->ids[0].combines[id];
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!cn_context_values(self->overlay.source, context, &cursor, err))
        return false;
    while ((step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            const struct cn_value *value = &batch.values[i];
            uint64_t at = (uint64_t)value->key - first;
            double *sum;

            if (value->metric != id || value->key < first || at >= CN_VALUE_BATCH)
                continue;
            sum = &sums[at];
            scales[at] += fabs(value->value);
            if (combine == CN_COMBINE_SUM)
                *sum = (isnan(*sum) ? 0 : *sum) + factor * value->value;
            else if (isnan(*sum) || (combine == CN_COMBINE_MIN ? value->value < *sum
                                                               : value->value > *sum))
                *sum = value->value;
        }
    return step == CN_END;
}

/* The values of one id for profiles from `cursor->at` on. */
static bool fill_plane(struct cn_value_cursor *cursor, uint16_t id, double *sums,
                       double *scales, struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(cursor->db);
    uint32_t node = cursor->key, first_profile = (uint32_t)cursor->at;
    size_t first, end;
    bool ok = true;

    for (size_t i = 0; i < CN_VALUE_BATCH; i++) {
        sums[i] = NAN;
        scales[i] = 0;
    }
    for (uint32_t i = self->start[node]; ok && i < self->start[node + 1]; i++)
        if (self->sources[i].parts & self->ids[0].parts[id])
            ok = add_plane(self, self->sources[i].context, id, 1, first_profile, sums,
                           scales, err);
    find_transfers(self, node, &first, &end);
    for (size_t i = first; ok && i < end && self->ids[0].parts[id] == CN_LENS_TOTAL; i++)
        ok = add_plane(self, self->transfers[i].context, id, self->transfers[i].sign,
                       first_profile, sums, scales, err);
    return ok;
}

static enum cn_step next_of_context(struct cn_value_cursor *cursor, size_t *count,
                                    struct cn_error *err)
{
    struct cn_lens_database *self = cn_lens_self(cursor->db);
    const struct cn_lens_ids *ids = &self->ids[0];
    uint32_t profile_count = self->overlay.db.profile_count;
    double sums[CN_VALUE_BATCH], scales[CN_VALUE_BATCH];

    while (*count == 0 && cursor->key != CN_NONE && cursor->index_at < ids->count) {
        uint16_t id = ids->list[cursor->index_at];

        if (!fill_plane(cursor, id, sums, scales, err))
            return CN_FAIL;
        for (size_t i = 0; i < CN_VALUE_BATCH && cursor->at + i < profile_count; i++) {
            bool is_sum = ids->combines[id] == CN_COMBINE_SUM;

            if (isnan(sums[i]) ||
                (is_sum && fabs(sums[i]) <= CN_LENS_ROUNDING * scales[i]))
                continue;
            cursor->batch[(*count)++] = (struct cn_value){
                .value = sums[i], .key = (uint32_t)(cursor->at + i), .metric = id};
        }
        cursor->at += CN_VALUE_BATCH;
        if (cursor->at >= profile_count) {
            cursor->at = 0;
            cursor->index_at++;
        }
    }
    return *count > 0 ? CN_ITEM : CN_END;
}

enum cn_step cn_lens_values_next(struct cn_value_cursor *cursor,
                                 struct cn_value_batch *out, struct cn_error *err)
{
    size_t count = 0;
    enum cn_step step = cursor->plane == CN_PLANE_OF_CONTEXT
                            ? next_of_context(cursor, &count, err)
                            : next_of_profile(cursor, &count, err);

    if (step == CN_ITEM)
        *out = (struct cn_value_batch){cursor->batch, count};
    return step;
}
