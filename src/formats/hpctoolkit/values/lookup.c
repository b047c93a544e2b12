#include "formats/hpctoolkit/values/reader.h"

#include <inttypes.h>
#include <stdlib.h>

/* The smallest values found so far that come after those delivered: a heap in the cursor's
 * batch whose first element is the largest. */
struct lookup_selection {
    struct cn_value *heap;
    size_t count;
    bool has_last;
    struct cn_value last; /* delivered before */
};

static int compare(const void *left, const void *right)
{
    const struct cn_value *a = left, *b = right;

    if (a->metric != b->metric)
        return a->metric < b->metric ? -1 : 1;
    return (a->key > b->key) - (a->key < b->key);
}

static void swap(struct cn_value *a, struct cn_value *b)
{
    struct cn_value old = *a;

    *a = *b;
    *b = old;
}

static void sift_up(struct cn_value *heap, size_t at)
{
    for (; at > 0 && compare(&heap[at], &heap[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        swap(&heap[at], &heap[(at - 1) / 2]);
}

static void sift_down(struct cn_value *heap, size_t count)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && compare(&heap[child + 1], &heap[child]) > 0)
            child++;
        if (compare(&heap[at], &heap[child]) >= 0)
            return;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

static void select_value(struct lookup_selection *s, struct cn_value value)
{
    if (s->has_last && compare(&value, &s->last) <= 0)
        return;
    if (s->count < CN_VALUE_BATCH) {
        s->heap[s->count] = value;
        sift_up(s->heap, s->count++);
    } else if (compare(&value, &s->heap[0]) < 0) {
        s->heap[0] = value;
        sift_down(s->heap, s->count);
    }
}

static bool select_of_profile(const struct cn_hpc_planes *profiles,
                              const struct cn_hpc_metric_ids *ids, uint32_t profile,
                              uint32_t context, struct lookup_selection *s,
                              struct cn_error *err)
{
    struct cn_hpc_block block;
    uint16_t metric;

    if (!cn_hpc_planes_block(profiles, profile, &block, err))
        return false;
    uint64_t at = cn_hpc_block_find(&block, context);
    struct cn_hpc_plane_entry entry = cn_hpc_block_entry(&block, at);
    if (at == block.key_count || entry.key != context)
        return true;
    uint64_t end = cn_hpc_block_entry(&block, at + 1).start;
    if (entry.start > end || end > block.value_count)
        return cn_hpc_block_bad_entry(&block, at, UINT64_MAX, err) ||
               cn_fail_in(err, "profile %" PRIu32, profile);
    for (uint64_t i = entry.start; i < end; i++) {
        struct cn_hpc_plane_value value = cn_hpc_block_value(&block, i);

        if (cn_hpc_metric_ids_find(ids, (uint16_t)value.id, &metric))
            select_value(s, (struct cn_value){value.value, profile, metric});
    }
    return true;
}

void cn_hpc_lookup_begin(struct cn_value_cursor *cursor)
{
    cursor->at = 0; /* values delivered so far */
    cursor->metric = 0;
    cursor->key = 0;
}

static bool check_once(const struct cn_value_cursor *cursor,
                       const struct lookup_selection *s, struct cn_error *err)
{
    for (size_t i = 1; i < s->count; i++)
        if (compare(&s->heap[i - 1], &s->heap[i]) == 0)
            return cn_fail(err, CN_ERR_FORMAT,
                           "profile %" PRIu32 ": context %" PRIu32
                           " has two values for metric %u",
                           s->heap[i].key, cursor->owner, s->heap[i].metric);
    return true;
}

enum cn_step cn_hpc_lookup_next(const struct cn_hpc_planes *profiles,
                                const struct cn_hpc_metric_ids *ids,
                                struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct lookup_selection s = {
        .heap = cursor->batch,
        .has_last = cursor->at > 0,
        .last = {.key = cursor->key, .metric = cursor->metric},
    };

    for (uint32_t i = 1; i < profiles->records.count; i++)
        if (!select_of_profile(profiles, ids, i, cursor->owner, &s, err))
            return CN_FAIL;
    if (s.count == 0)
        return CN_END;
    qsort(s.heap, s.count, sizeof(*s.heap), compare);
    if (!check_once(cursor, &s, err))
        return CN_FAIL;
    cursor->at += s.count;
    cursor->metric = s.heap[s.count - 1].metric;
    cursor->key = s.heap[s.count - 1].key;
    *out = (struct cn_value_batch){cursor->batch, s.count};
    return CN_ITEM;
}
