#include "analyze/cct/ranges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/calls/recording.h"

struct cn_cct_ranges {
    const struct cn_call_query *query;
    uint32_t task;                 /* of the ranges */
    bool has_begun;                /* many tasks are made before the first is read */
    struct cn_call_stream *stream; /* NULL: it has ended */
    struct cn_call_batch batch;
    size_t next;    /* in the batch */
    uint32_t *open; /* functions of the ranges, the outermost first */
    uint32_t *keys; /* of nodes between two that are moved */
    size_t open_count, open_capacity, key_count, key_capacity;
};

/* Read the next calls where all were taken. */
static void fill(struct cn_cct_ranges *ranges)
{
    struct cn_error ignored; /* of memory that was read before */

    if (!ranges->stream || ranges->next < ranges->batch.count)
        return;
    ranges->next = 0;
    if (cn_call_stream_next(ranges->stream, &ranges->batch, &ignored) == CN_ITEM)
        return;
    cn_call_stream_close(ranges->stream);
    ranges->stream = NULL;
}

struct cn_cct_ranges *cn_cct_ranges_open(const struct cn_call_query *query, uint32_t task)
{
    uint32_t from = query->rec->tasks[task].ranges;
    struct cn_cct_ranges *ranges;

    if (from == 0)
        return NULL;
    ranges = cn_alloc(1, sizeof(*ranges));
    ranges->query = query;
    ranges->task = from;
    return ranges;
}

void cn_cct_ranges_close(struct cn_cct_ranges *ranges)
{
    if (!ranges)
        return;
    cn_call_stream_close(ranges->stream);
    free(ranges->open);
    free(ranges->keys);
    free(ranges);
}

uint64_t cn_cct_ranges_next_ns(struct cn_cct_ranges *ranges)
{
    struct cn_error ignored;

    if (ranges && !ranges->has_begun) {
        ranges->has_begun = true;
        if (cn_recording_stream_open(ranges->query->rec, ranges->task,
                                     ranges->query->range, &ranges->stream, &ignored))
            fill(ranges);
    }
    return ranges && ranges->stream ? ranges->batch.calls[ranges->next].time_ns
                                    : UINT64_MAX;
}

/* Take the calls of one change, with those of marks. */
static void take(struct cn_cct_ranges *ranges)
{
    uint64_t time_ns = cn_cct_ranges_next_ns(ranges);

    while (ranges->stream && cn_cct_ranges_next_ns(ranges) - time_ns <= CN_CCT_MARK_NS) {
        const struct cn_call *call = &ranges->batch.calls[ranges->next++];

        time_ns = call->time_ns;
        if (call->kind == CN_CALL_ENTER) {
            CN_PUSH(ranges->open, ranges->open_count, ranges->open_capacity,
                    call->function);
        } else if (call->kind == CN_CALL_EXIT && ranges->open_count > 0) {
            ranges->open_count--;
        }
        fill(ranges);
    }
}

/* The node in the place of `node`, which is below `above` or, if that is collapsed, elsewhere below the
 * ranges that were open. */
static cn_cct_id moved(struct cn_cct_ranges *ranges, struct cn_cct_task *task,
                       cn_cct_id node, cn_cct_id from, cn_cct_id above, cn_cct_id to,
                       cn_cct_id to_above)
{
    const struct cn_tree *tree = &task->tree;

    ranges->key_count = 0;
    for (; node != above && node != from && node != 0; node = tree->links[node].parent) {
        CN_PUSH(ranges->keys, ranges->key_count, ranges->key_capacity,
                tree->links[node].key);
    }
    node = node == above && above != 0 ? to_above : to;
    while (ranges->key_count > 0)
        node = cn_tree_child(&task->tree, node, ranges->keys[--ranges->key_count]);
    return node;
}

/* Count the self times of the open calls up to a time. */
static void count_until(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        uint64_t now_ns)
{
    struct cn_call_stack *stack = &follow->stack;

    for (uint32_t i = stack->count; i-- > 0;) {
        struct cn_call_frame *frame = &stack->frames[i];
        uint64_t total_ns = now_ns > frame->enter_ns ? now_ns - frame->enter_ns : 0;

        if (frame->mark != 0 && total_ns > frame->child_ns)
            cn_cct_costs_add_time(&task->costs, frame->mark, total_ns - frame->child_ns);
        if (total_ns > frame->child_ns)
            frame->child_ns = total_ns;
        /* Of its caller, that is time of a call until it ends. */
        now_ns = frame->enter_ns < now_ns ? frame->enter_ns : now_ns;
    }
}

void cn_cct_ranges_change(struct cn_cct_ranges *ranges, struct cn_cct_task *task,
                          struct cn_cct_follow *follow, uint64_t now_ns, bool is_counted)
{
    struct cn_call_stack *stack = &follow->stack;
    cn_cct_id from = follow->root, to = 0, above = 0, to_above = 0;

    take(ranges);
    for (size_t i = 0; i < ranges->open_count; i++)
        to = cn_tree_child(&task->tree, to, ranges->open[i]);
    if (to == from)
        return;
    if (is_counted)
        count_until(task, follow, now_ns);
    for (uint32_t i = 0; i < stack->count; i++) {
        struct cn_call_frame *frame = &stack->frames[i];
        cn_cct_id before = frame->mark;

        /* A call outside of all that are shown has no node. */
        if (before != 0)
            frame->mark = moved(ranges, task, before, from, above, to, to_above);
        above = before;
        to_above = frame->mark;
    }
    follow->root = to;
    follow->node = cn_cct_follow_node(follow);
}
