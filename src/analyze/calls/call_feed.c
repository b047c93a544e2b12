#include "analyze/calls/call_feed.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Events in a call that is never decided pile up; the oldest views of a program that
 * did nothing but sleep can do without more than these. */
enum { HELD_MAX = 1 << 16, DEPTH_COUNT = 1 << 16 };

struct cn_held_call {
    struct cn_call call;
    size_t data_off;   /* in held_data */
    bool is_undecided; /* an entry that has neither lasted nor led anywhere yet */
    bool is_on_path;   /* a function of -C was entered in it */
};

bool cn_call_feed_open(struct cn_call_feed *feed, const struct cn_recording *rec,
                       const struct cn_call_filter *filter, uint32_t task,
                       struct cn_time_range range, struct cn_error *err)
{
    *feed = (struct cn_call_feed){
        .rec = rec,
        .filter = filter,
        .clock = {.rec = rec},
        .more_count = UINT64_MAX,
        .ending = CN_ITEM,
    };
    if (!cn_recording_stream_open(rec, task, range, &feed->stream, err))
        return false;
    if (filter->needs_future)
        feed->limits_ns = cn_alloc(DEPTH_COUNT, sizeof(*feed->limits_ns));
    return true;
}

bool cn_call_feed_open_span(struct cn_call_feed *feed, const struct cn_recording *rec,
                            const struct cn_call_filter *filter, uint32_t task,
                            const struct cn_call_span *span,
                            const struct cn_call_clock *clock, struct cn_error *err)
{
    assert(!filter->needs_future);
    *feed = (struct cn_call_feed){
        .rec = rec,
        .filter = filter,
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
    free(feed->held);
    free(feed->limits_ns);
    free(feed->ready);
    cn_text_done(&feed->held_data);
    cn_text_done(&feed->ready_data);
    *feed = (struct cn_call_feed){0};
}

static void emit(struct cn_call_feed *feed, const struct cn_call *call,
                 struct cn_bytes data)
{
    struct cn_call *out;

    feed->ready = cn_grow(feed->ready, feed->ready_count, &feed->ready_capacity,
                          sizeof(*feed->ready));
    out = &feed->ready[feed->ready_count++];
    *out = *call;
    out->data_off = (uint32_t)feed->ready_data.len;
    cn_text_add(&feed->ready_data, (const char *)data.ptr, data.len);
}

/* Hand out the first `count` held calls. */
static void release(struct cn_call_feed *feed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct cn_held_call *held = &feed->held[i];

        emit(feed, &held->call,
             (struct cn_bytes){(const uint8_t *)cn_text_str(&feed->held_data) +
                                   held->data_off,
                               held->call.data_len});
        feed->undecided -= held->is_undecided;
    }
    feed->held_count -= count;
    for (size_t i = 0; i < feed->held_count; i++)
        feed->held[i] = feed->held[count + i];
    if (feed->held_count == 0)
        cn_text_clear(&feed->held_data);
}

/* Forget the held calls from `first` on. */
static void drop(struct cn_call_feed *feed, size_t first)
{
    for (size_t i = first; i < feed->held_count; i++)
        feed->undecided -= feed->held[i].is_undecided;
    if (first < feed->held_count)
        feed->held_data.len = feed->held[first].data_off;
    feed->held_count = first;
}

static void hold(struct cn_call_feed *feed, const struct cn_call *call, bool is_undecided,
                 bool is_on_path)
{
    struct cn_bytes data = cn_call_data(&feed->in, call);

    if (feed->held_count >= HELD_MAX && !is_undecided)
        return;
    feed->held =
        cn_grow(feed->held, feed->held_count, &feed->held_capacity, sizeof(*feed->held));
    feed->held[feed->held_count++] = (struct cn_held_call){
        .call = *call,
        .data_off = feed->held_data.len,
        .is_undecided = is_undecided,
        .is_on_path = is_on_path,
    };
    feed->undecided += is_undecided;
    cn_text_add(&feed->held_data, (const char *)data.ptr, data.len);
}

/* Hand out everything up to the last call that is decided at `now_ns`, and the
 * events that follow it. */
static void release_decided(struct cn_call_feed *feed, uint64_t now_ns)
{
    const struct cn_call_filter *filter = feed->filter;
    size_t count = 0;

    for (size_t i = 0; i < feed->held_count; i++) {
        const struct cn_held_call *held = &feed->held[i];

        if (!held->is_undecided)
            continue;
        if (now_ns - held->call.time_ns < feed->limits_ns[held->call.depth] ||
            (filter->has_caller && !held->is_on_path))
            break;
        count = i + 1;
    }
    while (count > 0 && count < feed->held_count && !feed->held[count].is_undecided &&
           feed->held[count].call.address != CN_EVENT_CALLSITE)
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
    hold(feed, call, true, (rule.flags & CN_RULE_CALLER) != 0);
    if (rule.flags & CN_RULE_CALLER)
        for (size_t i = 0; i < feed->held_count; i++)
            feed->held[i].is_on_path = true;
    if (rule.flags & CN_RULE_TRACE)
        release(feed, feed->held_count);
    else
        release_decided(feed, call->time_ns);
}

/* The held entry at this depth; held_count when its entry was handed out, or never
 * seen. Deeper ones never returned and are forgotten. */
static size_t find_entry(struct cn_call_feed *feed, unsigned depth)
{
    size_t i = feed->held_count;

    while (i-- > 0) {
        const struct cn_held_call *held = &feed->held[i];

        if (held->is_undecided && held->call.depth == depth)
            return i;
        if (held->is_undecided && held->call.depth < depth)
            break;
        if (held->is_undecided)
            drop(feed, i);
    }
    return feed->held_count;
}

static void leave(struct cn_call_feed *feed, const struct cn_call *call)
{
    size_t entry;

    release_decided(feed, call->time_ns);
    entry = find_entry(feed, call->depth);
    if (entry == feed->held_count) {
        release(feed, feed->held_count);
        emit(feed, call, cn_call_data(&feed->in, call));
        return;
    }
    /* Where it was called from comes just before it. */
    if (entry > 0 && feed->held[entry - 1].call.kind == CN_CALL_EVENT &&
        feed->held[entry - 1].call.address == CN_EVENT_CALLSITE)
        entry--;
    drop(feed, entry);
}

static void sort_out(struct cn_call_feed *feed, const struct cn_call *call)
{
    if (call->kind == CN_CALL_ENTER) {
        enter(feed, call);
    } else if (call->kind == CN_CALL_EXIT) {
        leave(feed, call);
    } else if (call->kind == CN_CALL_LOST) {
        /* What is held has lost its end. */
        release(feed, feed->held_count);
        emit(feed, call, cn_call_data(&feed->in, call));
    } else {
        release_decided(feed, call->time_ns);
        if (feed->undecided > 0 || call->address == CN_EVENT_CALLSITE)
            hold(feed, call, false, false);
        else
            emit(feed, call, cn_call_data(&feed->in, call));
    }
}

/* Calls that were still running are shown, unless they should have led somewhere. */
static void sort_out_rest(struct cn_call_feed *feed)
{
    size_t count = feed->held_count;

    if (feed->filter->has_caller)
        for (count = 0; count < feed->held_count; count++)
            if (feed->held[count].is_undecided && !feed->held[count].is_on_path)
                break;
    release(feed, count);
    drop(feed, 0);
}

/* Leave calls out; returns how many of these. */
static size_t settle(struct cn_call_feed *feed, const struct cn_call_batch *batch)
{
    size_t i = 0;

    while (feed->is_settling && i < batch->count) {
        const struct cn_call *call = &batch->calls[i++];
        bool is_settled =
            !feed->filter->corrects_times || cn_call_clock_settle(&feed->settling, call);

        if (is_settled && call->kind == CN_CALL_EXIT) {
            feed->is_settling = false;
            feed->clock = feed->settling.least;
            feed->open_count = call->depth;
        }
    }
    feed->left_out += i;
    return i;
}

/* Take what does not belong to the span off a batch. */
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

static enum cn_step read_span(struct cn_call_feed *feed, struct cn_call_batch *out,
                              struct cn_error *err)
{
    enum cn_step step;

    do {
        if (feed->more_count == 0)
            return CN_END;
        step = cn_call_stream_next(feed->stream, out, err);
        if (step == CN_ITEM)
            cut(feed, out);
    } while (step == CN_ITEM && out->count == 0);
    return step;
}

/* The next calls of the stream, with their times as the filter wants them. */
static enum cn_step read_batch(struct cn_call_feed *feed, struct cn_call_batch *out,
                               struct cn_error *err)
{
    enum cn_step step = read_span(feed, out, err);

    if (step != CN_ITEM || !feed->filter->corrects_times)
        return step;
    if (out->count > feed->corrected_capacity) {
        free(feed->corrected);
        feed->corrected = cn_alloc(out->count, sizeof(*feed->corrected));
        feed->corrected_capacity = out->count;
    }
    cn_call_clock_correct(&feed->clock, out->calls, out->count, feed->corrected);
    out->calls = feed->corrected;
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
            sort_out(feed, &feed->in.calls[i]);
        if (feed->ending != CN_ITEM)
            sort_out_rest(feed);
    }
    if (feed->ready_count == 0) {
        if (feed->ending == CN_FAIL)
            *err = feed->err;
        return feed->ending;
    }
    *out = (struct cn_call_batch){
        .calls = feed->ready,
        .count = feed->ready_count,
        .data = {(const uint8_t *)cn_text_str(&feed->ready_data), feed->ready_data.len},
    };
    return CN_ITEM;
}
