#include "analyze/calls/call_merge.h"

#include <stdlib.h>

#include "base/alloc.h"

struct cn_merge_lane {
    struct cn_call_feed feed;
    struct cn_call_batch batch;
    size_t next; /* in the batch */
    uint64_t
        time_ns; /* of that call; of a loss, which has none, that of the one before */
};

void cn_call_damages_add(struct cn_call_damages *damages, uint32_t task,
                         const struct cn_error *err)
{
    damages->list = cn_grow(damages->list, damages->count, &damages->capacity,
                            sizeof(*damages->list));
    damages->list[damages->count++] = (struct cn_call_damage){task, *err};
}

void cn_call_damages_done(struct cn_call_damages *damages)
{
    free(damages->list);
    *damages = (struct cn_call_damages){0};
}

static bool is_before(const struct cn_call_merge *merge, uint32_t a, uint32_t b)
{
    uint64_t a_ns = merge->lanes[a].time_ns, b_ns = merge->lanes[b].time_ns;

    return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static void sift_down(struct cn_call_merge *merge, uint32_t at)
{
    uint32_t *heap = merge->heap;

    for (;;) {
        uint32_t child = 2 * at + 1;
        uint32_t slot = heap[at];

        if (child >= merge->heap_count)
            return;
        if (child + 1 < merge->heap_count &&
            is_before(merge, heap[child + 1], heap[child]))
            child++;
        if (!is_before(merge, heap[child], slot))
            return;
        heap[at] = heap[child];
        heap[child] = slot;
        at = child;
    }
}

static void note_time(struct cn_merge_lane *lane)
{
    uint64_t time_ns = lane->batch.calls[lane->next].time_ns;

    if (time_ns > lane->time_ns)
        lane->time_ns = time_ns;
}

/* The next call of a lane; false when it has none. */
static bool refill(struct cn_call_merge *merge, uint32_t slot)
{
    struct cn_merge_lane *lane = &merge->lanes[slot];
    struct cn_error err;
    enum cn_step step = cn_call_feed_next(&lane->feed, &lane->batch, &err);

    lane->next = 0;
    if (step == CN_FAIL)
        cn_call_damages_add(&merge->damages, merge->query->tasks[slot], &err);
    if (step != CN_ITEM)
        return false;
    note_time(lane);
    return true;
}

bool cn_call_merge_open(struct cn_call_merge *merge, const struct cn_call_query *query,
                        struct cn_error *err)
{
    *merge = (struct cn_call_merge){
        .query = query,
        .lanes = cn_alloc(query->task_count, sizeof(*merge->lanes)),
        .heap = cn_alloc(query->task_count, sizeof(*merge->heap)),
    };
    for (uint32_t i = 0; i < query->task_count; i++) {
        if (!cn_call_feed_open(&merge->lanes[i].feed, query->rec, query->filter,
                               query->tasks[i], query->range, err)) {
            cn_call_merge_close(merge);
            return false;
        }
        if (refill(merge, i))
            merge->heap[merge->heap_count++] = i;
    }
    for (uint32_t i = merge->heap_count / 2; i-- > 0;)
        sift_down(merge, i);
    return true;
}

bool cn_call_merge_next(struct cn_call_merge *merge, struct cn_merged_call *out)
{
    struct cn_merge_lane *lane;

    if (merge->has_first) {
        lane = &merge->lanes[merge->heap[0]];
        if (++lane->next < lane->batch.count)
            note_time(lane);
        else if (!refill(merge, merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->heap_count];
        sift_down(merge, 0);
    }
    merge->has_first = merge->heap_count > 0;
    if (!merge->has_first)
        return false;
    lane = &merge->lanes[merge->heap[0]];
    *out = (struct cn_merged_call){&lane->batch.calls[lane->next], &lane->batch,
                                   merge->heap[0]};
    return true;
}

void cn_call_merge_close(struct cn_call_merge *merge)
{
    for (uint32_t i = 0; merge->lanes && i < merge->query->task_count; i++)
        cn_call_feed_close(&merge->lanes[i].feed);
    free(merge->lanes);
    free(merge->heap);
    cn_call_damages_done(&merge->damages);
    *merge = (struct cn_call_merge){0};
}

static bool is_running(const struct cn_call *call)
{
    return call->kind == CN_CALL_ENTER || call->kind == CN_CALL_EXIT ||
           (call->kind == CN_CALL_EVENT &&
            (call->address < CN_EVENT_SCHED_IN || call->address == CN_EVENT_SCHED_IN));
}

static uint64_t start_of_task(const struct cn_recording *rec, uint32_t task)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err;
    uint64_t start_ns = 0;

    if (!cn_recording_stream_open(rec, task, cn_time_always, &stream, &err))
        return 0;
    while (start_ns == 0 && cn_call_stream_next(stream, &batch, &err) == CN_ITEM) {
        for (size_t i = 0; start_ns == 0 && i < batch.count; i++) {
            if (is_running(&batch.calls[i]))
                start_ns = batch.calls[i].time_ns;
        }
    }
    cn_call_stream_close(stream);
    return start_ns;
}

uint64_t cn_call_query_start(const struct cn_call_query *query)
{
    uint64_t first_ns = 0;

    for (uint32_t i = 0; i < query->rec->task_count; i++) {
        uint64_t start_ns = start_of_task(query->rec, i);

        if (start_ns && (!first_ns || start_ns < first_ns))
            first_ns = start_ns;
    }
    return first_ns;
}
