#include "analyze/calls/feed.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Events in a call that is never decided pile up; more than these are dropped. */
enum { PENDING_MAX = 1 << 16, DEPTH_COUNT = 1 << 16 };

struct cn_pending_call {
    struct cn_call call;
    uint64_t recorded_ns;
    size_t data_off;   /* in pending_data */
    bool is_undecided; /* an entry that is not known to be shown yet */
    bool is_on_path;   /* a function of -C was entered in it */
};

bool cn_call_feed_open(struct cn_call_feed *feed, const struct cn_call_query *query,
                       uint32_t task, struct cn_error *err)
{
    /* Operations of a GPU are not recorded by hooks. */
    bool is_stream = query->rec->tasks[task].is_stream;

    *feed = (struct cn_call_feed){
        .rec = query->rec,
        .filter = query->filter,
        .is_corrected =
            !query->is_raw && !is_stream && cn_call_clock_is_needed(query->rec),
        .clock = {.rec = query->rec},
        .more_count = UINT64_MAX,
        .ending = CN_ITEM,
    };
    if (!cn_recording_stream_open(query->rec, task, query->range, &feed->stream, err))
        return false;
    if (feed->filter->needs_future)
        feed->limits_ns = cn_alloc(DEPTH_COUNT, sizeof(*feed->limits_ns));
    return true;
}

bool cn_call_feed_open_span(struct cn_call_feed *feed, const struct cn_call_query *query,
                            uint32_t task, const struct cn_call_span *span,
                            const struct cn_call_clock *clock, struct cn_error *err)
{
    const struct cn_recording *rec = query->rec;

    assert(!query->filter->needs_future);
    *feed = (struct cn_call_feed){
        .rec = rec,
        .filter = query->filter,
        .is_corrected = !query->is_raw && cn_call_clock_is_needed(rec),
        .clock = clock ? *clock : (struct cn_call_clock){.rec = rec},
        .skip_count = span->first,
        .more_count = span->end - span->first,
        .is_settling = !clock,
        .settling = {.least = {.rec = rec}, .most = {.rec = rec}},
        .ending = CN_ITEM,
    };
    return cn_recording_part_open(rec, task, span->part, &feed->stream, err);
}

void cn_call_feed_close(struct cn_call_feed *feed)
{
    cn_call_stream_close(feed->stream);
    free(feed->corrected);
    free(feed->pending);
    free(feed->limits_ns);
    free(feed->ready);
    free(feed->ready_recorded);
    cn_text_done(&feed->pending_data);
    cn_text_done(&feed->ready_data);
    *feed = (struct cn_call_feed){0};
}

static void emit(struct cn_call_feed *feed, const struct cn_call *call,
                 uint64_t recorded_ns, struct cn_bytes data)
{
    size_t at = feed->ready_count++;

    CN_GROW(feed->ready, at, feed->ready_capacity);
    feed->ready[at] = *call;
    if (!(call->flags & (CN_CALL_COVERED | CN_CALL_HAS_SELF)))
        feed->ready[at].data_off = (uint32_t)feed->ready_data.len;
    if (feed->is_corrected) {
        CN_GROW(feed->ready_recorded, at, feed->ready_recorded_capacity);
        feed->ready_recorded[at] = feed->ready[at];
        feed->ready_recorded[at].time_ns = recorded_ns;
    }
    cn_text_add(&feed->ready_data, (const char *)data.ptr, data.len);
}

/* Show the first `count` pending calls. */
static void release(struct cn_call_feed *feed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cn_pending_call *pending = &feed->pending[i];

        emit(feed, &pending->call, pending->recorded_ns,
             (struct cn_bytes){(const uint8_t *)cn_text_str(&feed->pending_data) +
                                   pending->data_off,
                               cn_call_data_len(&pending->call)});
        feed->undecided -= pending->is_undecided;
    }
    feed->pending_count -= count;
    for (size_t i = 0; i < feed->pending_count; i++)
        feed->pending[i] = feed->pending[count + i];
    if (feed->pending_count == 0)
        cn_text_clear(&feed->pending_data);
}

/* Drop the pending calls from `first` on. */
static void drop(struct cn_call_feed *feed, size_t first)
{
    for (size_t i = first; i < feed->pending_count; i++)
        feed->undecided -= feed->pending[i].is_undecided;
    if (first < feed->pending_count)
        feed->pending_data.len = feed->pending[first].data_off;
    feed->pending_count = first;
}

static void delay(struct cn_call_feed *feed, const struct cn_call *call,
                  bool is_undecided, bool is_on_path)
{
    struct cn_bytes data = cn_call_data(&feed->in, call);

    if (feed->pending_count >= PENDING_MAX && !is_undecided)
        return;
    CN_PUSH(feed->pending, feed->pending_count, feed->pending_capacity,
            (struct cn_pending_call){
                .call = *call,
                .recorded_ns = cn_call_recorded_ns(&feed->in, call),
                .data_off = feed->pending_data.len,
                .is_undecided = is_undecided,
                .is_on_path = is_on_path,
            });
    feed->undecided += is_undecided;
    cn_text_add(&feed->pending_data, (const char *)data.ptr, data.len);
}

/* Show a call that is not pending. */
static void pass_on(struct cn_call_feed *feed, const struct cn_call *call)
{
    emit(feed, call, cn_call_recorded_ns(&feed->in, call), cn_call_data(&feed->in, call));
}

/* Show all calls up to the last one that is decided at `now_ns`, and the events that
 * follow it. */
static void release_decided(struct cn_call_feed *feed, uint64_t now_ns)
{
    const struct cn_call_filter *filter = feed->filter;
    size_t count = 0;

    for (size_t i = 0; i < feed->pending_count; i++) {
        const struct cn_pending_call *pending = &feed->pending[i];

        if (!pending->is_undecided)
            continue;
        if (now_ns - pending->call.time_ns >= feed->limits_ns[pending->call.depth] &&
            (!filter->has_caller || pending->is_on_path))
            count = i + 1;
        else if (!filter->has_time)
            break; /* calls inside it are shorter */
    }
    while (count > 0 && count < feed->pending_count &&
           !feed->pending[count].is_undecided &&
           feed->pending[count].call.address != CN_EVENT_CALLSITE)
        count++;
    if (count > 0)
        release(feed, count);
}

static void enter(struct cn_call_feed *feed, const struct cn_call *call)
{
    const struct cn_call_filter *filter = feed->filter;
    struct cn_call_rule rule;
    uint64_t limit_ns = filter->time_ns;

    cn_call_filter_rule(filter, call, &feed->in, &rule);
    if (call->depth > 0 && filter->has_time)
        limit_ns = feed->limits_ns[call->depth - 1];
    if (rule.flags & CN_RULE_TIME)
        limit_ns = rule.time_ns;
    feed->limits_ns[call->depth] = limit_ns;
    delay(feed, call, true, (rule.flags & CN_RULE_CALLER) != 0);
    if (rule.flags & CN_RULE_CALLER)
        for (size_t i = 0; i < feed->pending_count; i++)
            feed->pending[i].is_on_path = true;
    if (rule.flags & CN_RULE_TRACE)
        release(feed, feed->pending_count);
    else
        release_decided(feed, call->time_ns);
}

/* The pending entry at a depth; pending_count when it was shown already, or is missing.
 * Deeper entries never returned and are dropped. */
static size_t find_entry(struct cn_call_feed *feed, unsigned depth)
{
    size_t i = feed->pending_count;

    while (i-- > 0) {
        const struct cn_pending_call *pending = &feed->pending[i];

        if (pending->is_undecided && pending->call.depth == depth)
            return i;
        if (pending->is_undecided && pending->call.depth < depth)
            break;
        if (pending->is_undecided)
            drop(feed, i);
    }
    return feed->pending_count;
}

static void leave(struct cn_call_feed *feed, const struct cn_call *call)
{
    size_t entry;

    release_decided(feed, call->time_ns);
    entry = find_entry(feed, call->depth);
    if (entry == feed->pending_count) {
        release(feed, feed->pending_count);
        pass_on(feed, call);
        return;
    }
    /* Its call site comes just before it. */
    if (entry > 0 && feed->pending[entry - 1].call.kind == CN_CALL_EVENT &&
        feed->pending[entry - 1].call.address == CN_EVENT_CALLSITE)
        entry--;
    drop(feed, entry);
}

static void filter_call(struct cn_call_feed *feed, const struct cn_call *call)
{
    if (call->kind == CN_CALL_ENTER) {
        enter(feed, call);
    } else if (call->kind == CN_CALL_EXIT) {
        leave(feed, call);
    } else if (call->kind == CN_CALL_LOST) {
        /* The exits of pending calls may be lost. */
        release(feed, feed->pending_count);
        pass_on(feed, call);
    } else {
        release_decided(feed, call->time_ns);
        if (feed->undecided > 0 || call->address == CN_EVENT_CALLSITE)
            delay(feed, call, false, false);
        else
            pass_on(feed, call);
    }
}

/* At the end of the task: show calls that are still open, unless they had to lead to a
 * chosen function. */
static void end_pending(struct cn_call_feed *feed)
{
    size_t count = feed->pending_count;

    if (feed->filter->has_caller)
        for (count = 0; count < feed->pending_count; count++)
            if (feed->pending[count].is_undecided && !feed->pending[count].is_on_path)
                break;
    release(feed, count);
    drop(feed, 0);
}

/* Leave calls out until the clock is known; returns how many of the batch. */
static size_t settle(struct cn_call_feed *feed, const struct cn_call_batch *batch)
{
    size_t i = 0;

    while (feed->is_settling && i < batch->count) {
        const struct cn_call *call = &batch->calls[i++];
        bool is_settled =
            !feed->is_corrected || cn_call_clock_settle(&feed->settling, call);

        if (is_settled && call->kind == CN_CALL_EXIT) {
            feed->is_settling = false;
            feed->clock = feed->settling.least;
            feed->open_count = call->depth;
            feed->settled_ns = feed->is_corrected ? feed->clock.now_ns : call->time_ns;
        }
    }
    feed->left_out += i;
    return i;
}

/* Remove the calls that are not part of the span from a batch. */
static void cut(struct cn_call_feed *feed, struct cn_call_batch *batch)
{
    size_t skipped =
        feed->skip_count < batch->count ? (size_t)feed->skip_count : batch->count;

    feed->skip_count -= skipped;
    batch->calls += skipped;
    batch->count -= skipped;
    if (batch->count > feed->more_count)
        batch->count = (size_t)feed->more_count;
    feed->more_count -= batch->count;
    skipped = settle(feed, batch);
    batch->calls += skipped;
    batch->count -= skipped;
}

/* The next calls of the stream. */
static enum cn_step read_batch(struct cn_call_feed *feed, struct cn_call_batch *out,
                               struct cn_error *err)
{
    do {
        enum cn_step step =
            feed->more_count > 0 ? cn_call_stream_next(feed->stream, out, err) : CN_END;

        if (step != CN_ITEM)
            return step;
        cut(feed, out);
    } while (out->count == 0);
    out->recorded = NULL;
    if (feed->is_corrected) {
        if (out->count > feed->corrected_capacity) {
            free(feed->corrected);
            feed->corrected = cn_alloc(out->count, sizeof(*feed->corrected));
            feed->corrected_capacity = out->count;
        }
        cn_call_clock_correct(&feed->clock, out->calls, out->count, feed->corrected);
        out->recorded = out->calls;
        out->calls = feed->corrected;
    }
    return CN_ITEM;
}

enum cn_step cn_call_feed_next(struct cn_call_feed *feed, struct cn_call_batch *out,
                               struct cn_error *err)
{
    if (!feed->filter->needs_future)
        return read_batch(feed, out, err);
    feed->ready_count = 0;
    cn_text_clear(&feed->ready_data);
    while (feed->ready_count == 0 && feed->ending == CN_ITEM) {
        feed->ending = read_batch(feed, &feed->in, &feed->err);
        for (size_t i = 0; feed->ending == CN_ITEM && i < feed->in.count; i++)
            filter_call(feed, &feed->in.calls[i]);
        if (feed->ending != CN_ITEM)
            end_pending(feed);
    }
    if (feed->ready_count == 0) {
        if (feed->ending == CN_FAIL)
            *err = feed->err;
        return feed->ending;
    }
    *out = (struct cn_call_batch){
        .calls = feed->ready,
        .count = feed->ready_count,
        .recorded = feed->is_corrected ? feed->ready_recorded : NULL,
        .data = {(const uint8_t *)cn_text_str(&feed->ready_data), feed->ready_data.len},
    };
    return CN_ITEM;
}
