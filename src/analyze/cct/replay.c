#include "analyze/cct/replay.h"

#include <inttypes.h>

#include "analyze/cct/ranges.h"
#include "analyze/cct/task.h"

bool cn_cct_replay_open(struct cn_cct_replay *replay, const struct cn_cct_task *task,
                        const struct cn_tree *tree, size_t part, struct cn_error *err)
{
    struct cn_call_span span = {.end = UINT64_MAX};

    *replay = (struct cn_cct_replay){.is_open = true, .task = *task};
    cn_tree_borrow(&replay->task.tree, tree);
    if (part == 0) {
        cn_cct_follow_init(&replay->follow, task);
    } else {
        cn_cct_follow_copy(&replay->follow, &task->starts[part].follow);
        replay->done_count = task->starts[part].first_sample;
        if (replay->follow.clock.seen_ns > 0)
            replay->follow.last_ns = replay->follow.clock.seen_ns;
    }
    if (task->part_count > 0)
        span.part = &task->parts[part];
    return cn_cct_task_open_feed(task, span.part ? &span : NULL, &replay->follow.clock,
                                 &replay->feed, err);
}

static bool fail_changed(const struct cn_cct_replay *replay, struct cn_error *err)
{
    const struct cn_cct_task_options *options = &replay->task.options;

    return cn_fail(err, CN_ERR_FORMAT, "task %" PRIu32 " changed while it was read",
                   options->query->rec->tasks[options->task].tid);
}

/* The last sample, when calls are open at the end. */
static bool end_replay(struct cn_cct_replay *replay, struct cn_sample *out,
                       struct cn_error *err)
{
    const struct cn_cct_task *task = &replay->task;

    if (replay->follow.node == 0 || replay->done_count + 1 != task->sample_count)
        return fail_changed(replay, err);
    replay->follow.node = 0;
    replay->done_count++;
    *out = (struct cn_sample){task->end_ns, 0};
    return true;
}

/* The first call from `first` on after the next change of ranges. */
static size_t find_change(struct cn_cct_ranges *ranges, const struct cn_call_batch *batch,
                          size_t first)
{
    uint64_t time_ns = cn_cct_ranges_next_ns(ranges);
    size_t end = ranges ? first : batch->count;

    while (end < batch->count && batch->calls[end].time_ns <= time_ns)
        end++;
    return end;
}

/* Change the ranges. True when the current node changed. */
static bool change_ranges(struct cn_cct_replay *replay)
{
    struct cn_cct_follow *follow = &replay->follow;
    uint64_t time_ns = cn_cct_ranges_next_ns(follow->ranges);
    cn_cct_id node = follow->node;

    cn_cct_ranges_change(follow->ranges, &replay->task, follow, 0, false);
    if (time_ns > follow->last_ns)
        follow->last_ns = time_ns;
    return follow->node != node;
}

static size_t follow_batch(struct cn_cct_replay *replay, struct cn_sample *out,
                           size_t count)
{
    struct cn_cct_follow *follow = &replay->follow;
    const struct cn_call_batch *batch = &replay->batch;
    size_t done = 0, i = replay->next, change = find_change(follow->ranges, batch, i);

    while (i < batch->count && done < count) {
        if (i == change && change_ranges(replay))
            out[done++] = (struct cn_sample){follow->last_ns, follow->node};
        if (i == change) {
            change = find_change(follow->ranges, batch, i);
            continue;
        }
        size_t left = change - i;
        size_t run =
            cn_cct_run_sample(&replay->task, follow, batch->calls + i,
                              left < count - done ? left : count - done, out + done);

        done += run;
        i += run;
        if (i < change && done < count &&
            cn_cct_task_follow(&replay->task, follow, &batch->calls[i++], batch, false))
            out[done++] = (struct cn_sample){follow->last_ns, follow->node};
    }
    replay->next = i;
    return done;
}

bool cn_cct_replay_next(struct cn_cct_replay *replay, struct cn_sample *out, size_t count,
                        struct cn_error *err)
{
    size_t done = 0;

    while (done < count) {
        size_t more = follow_batch(replay, out + done, count - done);
        struct cn_error damage;

        done += more;
        replay->done_count += more;
        if (done == count)
            break;
        replay->next = 0;
        replay->batch.count = 0;
        /* Damage ends the timeline where it ended counting. */
        if (cn_call_feed_next(&replay->feed, &replay->batch, &damage) == CN_ITEM) {
            if (replay->batch.recorded)
                replay->batch.calls = replay->batch.recorded;
            replay->batch.recorded = NULL;
            continue;
        }
        if (!end_replay(replay, &out[done++], err))
            return false;
    }
    return !replay->task.tree.is_full || fail_changed(replay, err);
}

void cn_cct_replay_close(struct cn_cct_replay *replay)
{
    if (!replay->is_open)
        return;
    cn_call_feed_close(&replay->feed);
    cn_cct_follow_done(&replay->follow);
    cn_tree_done(&replay->task.tree);
    *replay = (struct cn_cct_replay){0};
}
