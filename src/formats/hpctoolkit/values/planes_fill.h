/* The loops that decode values, for a known encoding: in a header so that the compiler sees through
 * the description of the bytes.
 * Threads: any thread, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_PLANES_FILL_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_PLANES_FILL_H

#include "formats/hpctoolkit/values/planes_reader.h"

/* A context can have no more values than there are metric ids. */
enum { CN_HPC_RUN_MAX = 65536 };

static inline uint64_t cn_hpc_field_at(const struct cn_record_layout *layout,
                                       unsigned field, struct cn_bytes bytes, uint64_t i)
{
    return cn_field_get(layout, &layout->fields[field],
                        cn_bytes_element(bytes, i, layout->size).ptr);
}

static inline struct cn_hpc_plane_entry
cn_hpc_entry_at(const struct cn_hpc_plane_encoding *e, const struct cn_hpc_block *block,
                uint64_t i)
{
    if (i >= block->key_count)
        return (struct cn_hpc_plane_entry){e->end_key, block->value_count};
    return (struct cn_hpc_plane_entry){
        (uint32_t)cn_hpc_field_at(e->index, 0, block->index, i),
        cn_hpc_field_at(e->index, 1, block->index, i)};
}

static inline struct cn_hpc_plane_value
cn_hpc_value_at(const struct cn_hpc_plane_encoding *e, const struct cn_hpc_block *block,
                uint64_t i)
{
    uint64_t bits = cn_hpc_field_at(e->value, !e->id_field, block->values, i);
    struct cn_hpc_plane_value value = {
        .id = (uint32_t)cn_hpc_field_at(e->value, e->id_field, block->values, i)};

    memcpy(&value.value, &bits, sizeof(bits));
    return value;
}

/* The values of entry `i`. False if it is damaged. */
static inline __attribute__((always_inline)) bool
cn_hpc_run_open(const struct cn_hpc_plane_encoding *e, const struct cn_hpc_block *block,
                uint64_t i, struct cn_hpc_plane_run *out)
{
    struct cn_hpc_plane_entry entry = cn_hpc_entry_at(e, block, i);
    uint64_t end = cn_hpc_entry_at(e, block, i + 1).start;

    out->key = entry.key;
    out->start = entry.start;
    out->end = end;
    return entry.start <= end && end <= block->value_count &&
           (i == 0 || entry.key > cn_hpc_entry_at(e, block, i - 1).key);
}

/* All values of a context, for which there is room; the number of them. Stops at a metric that has
 * two. */
static inline size_t cn_hpc_run_take(const struct cn_hpc_plane_encoding *e,
                                     const struct cn_hpc_block *block,
                                     const struct cn_hpc_metric_ids *ids,
                                     struct cn_hpc_plane_run *run, struct cn_value *out)
{
    size_t filled = 0;
    uint16_t metric;

    for (uint64_t i = run->start; i < run->end; i++) {
        struct cn_hpc_plane_value value = cn_hpc_value_at(e, block, i);
        size_t at = filled;

        if (!cn_hpc_metric_ids_find(ids, (uint16_t)value.id, &metric))
            continue;
        /* Sorted as they are inserted: most come sorted. */
        for (; !e->is_sorted && at > 0 && out[at - 1].metric > metric; at--)
            out[at] = out[at - 1];
        out[at] = (struct cn_value){value.value, run->key, metric};
        if (!e->is_sorted && at > 0 && out[at - 1].metric == metric) {
            run->twice = metric;
            break;
        }
        filled++;
    }
    return filled;
}

/* `fill` of a profile.db. What the loop needs is copied: the compiler keeps it in registers, which
 * it cannot do with the cursor itself. */
static inline bool cn_hpc_profile_fill(struct cn_hpc_plane_read *read,
                                       const struct cn_hpc_plane_encoding *e,
                                       struct cn_error *err)
{
    struct cn_value_cursor *cursor = read->cursor;
    const struct cn_hpc_block block = read->block;
    const struct cn_hpc_metric_ids ids = *read->ids;
    uint64_t at = cursor->index_at, end = cursor->index_end;
    uint32_t last_key = cursor->last_key, limit = read->limit;
    struct cn_hpc_plane_run run = {.twice = CN_NO_ID};
    size_t count = 0, taken;
    bool ok = true;

    for (; at < end; at++) {
        ok = cn_hpc_run_open(e, &block, at, &run) && run.key < limit &&
             run.end - run.start <= CN_HPC_RUN_MAX;
        if (run.key > last_key) {
            cursor->index_end = end = at;
            break;
        }
        if (!ok || run.end - run.start > CN_VALUE_BATCH - count)
            break;
        taken = cn_hpc_run_take(e, &block, &ids, &run, cursor->batch + count);
        if (run.twice != CN_NO_ID)
            break;
        count += taken;
    }
    cursor->index_at = at;
    read->count = count;
    if (at == end)
        return true;
    if (!ok)
        return cn_hpc_block_bad_entry(&read->block, at, limit, err);
    if (run.twice != CN_NO_ID)
        return cn_hpc_planes_twice(read, &run, err);
    return count > 0 || cn_hpc_planes_long_run(read, &run, err);
}

/* Move to the values of the next metric of a context. False when its entry is damaged. */
static inline bool cn_hpc_context_run_begin(struct cn_hpc_plane_read *read,
                                            const struct cn_hpc_plane_encoding *e)
{
    struct cn_value_cursor *cursor = read->cursor;
    struct cn_hpc_plane_run run;

    if (!cn_hpc_run_open(e, &read->block, cursor->index_at, &run))
        return false;
    cursor->index_at++;
    /* Values of metrics that are dropped are skipped. */
    if (cn_hpc_metric_ids_find(read->ids, (uint16_t)run.key, &cursor->metric)) {
        cursor->at = run.start;
        cursor->run_end = run.end;
    }
    return true;
}

/* `fill` of a cct.db. */
static inline bool cn_hpc_context_fill(struct cn_hpc_plane_read *read,
                                       const struct cn_hpc_plane_encoding *e,
                                       struct cn_error *err)
{
    struct cn_value_cursor *cursor = read->cursor;
    size_t count = 0;
    bool ok = true;

    while (ok && count < CN_VALUE_BATCH) {
        uint64_t at = cursor->at;
        uint64_t end = cursor->run_end;
        uint16_t metric = cursor->metric;

        if (end - at > CN_VALUE_BATCH - count)
            end = at + CN_VALUE_BATCH - count;
        for (; at < end; at++) {
            struct cn_hpc_plane_value value = cn_hpc_value_at(e, &read->block, at);

            if (value.id >= read->limit)
                break;
            cursor->batch[count++] = (struct cn_value){value.value, value.id, metric};
        }
        cursor->at = at;
        read->count = count;
        if (at < end)
            return cn_hpc_planes_no_profile(read, err);
        if (cursor->at < cursor->run_end)
            continue;
        if (cursor->index_at == cursor->index_end)
            break;
        ok = cn_hpc_context_run_begin(read, e);
    }
    return ok || cn_hpc_block_bad_entry(&read->block, cursor->index_at, UINT64_MAX, err);
}

#endif
