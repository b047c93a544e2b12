#include "analyze/calls/merge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/heap.h"

struct cn_merge_input {
    struct cn_call_feed feed;
    struct cn_call_batch batch;
    size_t next;      /* in the batch */
    uint64_t time_ns; /* recorded, of that call; lost records: of the call before */
};

void cn_call_damages_add(struct cn_call_damages *damages, uint32_t task,
                         const struct cn_error *err)
{
    CN_PUSH(damages->list, damages->count, damages->capacity,
            (struct cn_call_damage){task, *err});
}

void cn_call_damages_done(struct cn_call_damages *damages)
{
    free(damages->list);
    *damages = (struct cn_call_damages){0};
}

static bool is_before(const void *data, uint32_t a, uint32_t b)
{
    const struct cn_merge_input *inputs = data;
    uint64_t a_ns = inputs[a].time_ns, b_ns = inputs[b].time_ns;

    return a_ns < b_ns || (a_ns == b_ns && a < b);
}

static void note_time(struct cn_merge_input *input)
{
    uint64_t time_ns =
        cn_call_recorded_ns(&input->batch, &input->batch.calls[input->next]);

    if (time_ns > input->time_ns)
        input->time_ns = time_ns;
}

/* Read the next batch of a input; false at its end. */
static bool refill(struct cn_call_merge *merge, uint32_t slot)
{
    struct cn_merge_input *input = &merge->inputs[slot];
    struct cn_error err;
    enum cn_step step = cn_call_feed_next(&input->feed, &input->batch, &err);

    input->next = 0;
    if (step == CN_FAIL)
        cn_call_damages_add(&merge->damages, merge->query->tasks[slot], &err);
    if (step != CN_ITEM)
        return false;
    note_time(input);
    return true;
}

bool cn_call_merge_open(struct cn_call_merge *merge, const struct cn_call_query *query,
                        struct cn_error *err)
{
    *merge = (struct cn_call_merge){
        .query = query,
        .inputs = cn_alloc(query->task_count, sizeof(*merge->inputs)),
        .heap = cn_alloc(query->task_count, sizeof(*merge->heap)),
    };
    for (uint32_t i = 0; i < query->task_count; i++) {
        if (!cn_call_feed_open(&merge->inputs[i].feed, query, query->tasks[i], err)) {
            cn_call_merge_close(merge);
            return false;
        }
        if (refill(merge, i))
            merge->heap[merge->heap_count++] = i;
    }
    cn_heap_build(merge->heap, merge->heap_count, is_before, merge->inputs);
    return true;
}

bool cn_call_merge_next(struct cn_call_merge *merge, struct cn_merged_call *out)
{
    struct cn_merge_input *input;

    if (merge->has_first) {
        input = &merge->inputs[merge->heap[0]];
        if (++input->next < input->batch.count)
            note_time(input);
        else if (!refill(merge, merge->heap[0]))
            merge->heap[0] = merge->heap[--merge->heap_count];
        cn_heap_sink(merge->heap, merge->heap_count, 0, is_before, merge->inputs);
    }
    merge->has_first = merge->heap_count > 0;
    if (!merge->has_first)
        return false;
    input = &merge->inputs[merge->heap[0]];
    *out = (struct cn_merged_call){&input->batch.calls[input->next], &input->batch,
                                   merge->heap[0]};
    return true;
}

void cn_call_merge_close(struct cn_call_merge *merge)
{
    for (uint32_t i = 0; merge->inputs && i < merge->query->task_count; i++)
        cn_call_feed_close(&merge->inputs[i].feed);
    free(merge->inputs);
    free(merge->heap);
    cn_call_damages_done(&merge->damages);
    *merge = (struct cn_call_merge){0};
}

/* The first time that a task is known to run; UINT64_MAX when it never does. */
static uint64_t start_of_task(const struct cn_recording *rec, uint32_t task)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error err;
    uint64_t start_ns = UINT64_MAX;

    if (!cn_recording_stream_open(rec, task, cn_time_always, &stream, &err))
        return start_ns;
    while (start_ns == UINT64_MAX &&
           cn_call_stream_next(stream, &batch, &err) == CN_ITEM) {
        for (size_t i = 0; start_ns == UINT64_MAX && i < batch.count; i++) {
            const struct cn_call *call = &batch.calls[i];

            if (call->kind <= CN_CALL_EXIT ||
                (call->kind == CN_CALL_EVENT && call->address <= CN_EVENT_SCHED_IN))
                start_ns = call->time_ns;
        }
    }
    cn_call_stream_close(stream);
    return start_ns;
}

uint64_t cn_call_query_start(const struct cn_call_query *query)
{
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i < query->rec->task_count; i++) {
        uint64_t start_ns = start_of_task(query->rec, i);

        if (start_ns < first_ns)
            first_ns = start_ns;
    }
    return first_ns == UINT64_MAX ? 0 : first_ns;
}
