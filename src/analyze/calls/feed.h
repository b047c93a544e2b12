/* The calls of one task for a view, in batches: without calls that are too short (-t) or
 * do not lead to a chosen function (-C), and with corrected times unless the query is raw.
 * Batches with corrected times also have the recorded ones: views add up the former and
 * place calls in time by the latter.
 *
 * Whether such a call is shown is decided when it ends, or when it has lasted long enough.
 * Until then the feed delays it and the events inside it. A call is shown when one inside it
 * is.
 *
 *     cn_call_feed_open(&feed, query, task, err)
 *     while ((step = cn_call_feed_next(&feed, &batch, err)) == CN_ITEM) ...
 *     cn_call_feed_close(&feed);
 *
 * Zero-initialised means "not open". Batches are borrowed until the next call.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_FEED_H
#define CN_ANALYZE_CALLS_FEED_H

#include "analyze/calls/clock.h"
#include "analyze/calls/filter.h"
#include "base/text.h"
#include "model/calls/query.h"

struct cn_pending_call;

struct cn_call_feed {
    const struct cn_recording *rec;
    const struct cn_call_filter *filter;
    struct cn_call_stream *stream;
    bool is_corrected;
    struct cn_call_clock clock;
    struct cn_call *corrected; /* the batch with corrected times */
    size_t corrected_capacity;
    struct cn_call_batch in; /* the batch being filtered */

    /* Of a span. */
    uint64_t skip_count, more_count; /* calls to skip, then to read */
    bool is_settling;                /* the clock is not known yet; calls are left out */
    struct cn_call_settling settling;
    uint64_t left_out;
    uint32_t open_count; /* calls that are open after those left out */
    uint64_t settled_ns; /* time of the last one left out */

    struct cn_pending_call *pending;
    size_t pending_count, pending_capacity;
    size_t undecided; /* entries among the pending calls */
    struct cn_text pending_data;
    uint64_t *limits_ns; /* by depth: the shortest time of a shown call */

    struct cn_call *ready; /* the next batch */
    size_t ready_count, ready_capacity;
    struct cn_call *ready_recorded; /* with recorded times, where `ready` is corrected */
    size_t ready_recorded_capacity;
    struct cn_text ready_data;
    enum cn_step ending; /* the last step of the stream; CN_ITEM before its end */
    struct cn_error err;
};

CN_CHECK bool cn_call_feed_open(struct cn_call_feed *feed,
                                const struct cn_call_query *query, uint32_t task,
                                struct cn_error *err);

/* Some calls of a part of a task. */
struct cn_call_span {
    const struct cn_call_part *part;
    uint64_t first, end; /* numbers of calls in the part */
};

/* The same for a span; the filter must not need the future. `clock` is the task's at the
 * first call; NULL: unknown. Then calls are left out up to an exit after which the clock is
 * right except for a constant offset; `left_out` counts them. */
CN_CHECK bool cn_call_feed_open_span(struct cn_call_feed *feed,
                                     const struct cn_call_query *query, uint32_t task,
                                     const struct cn_call_span *span,
                                     const struct cn_call_clock *clock,
                                     struct cn_error *err);

/* After a failure: true if all calls were returned, and records are wrong (is_whole of
 * struct cn_call_stream). */
static inline bool cn_call_feed_is_whole(const struct cn_call_feed *feed)
{
    return feed->stream && feed->stream->is_whole;
}

/* CN_FAIL: the task is damaged here; all calls before were returned. */
CN_CHECK enum cn_step cn_call_feed_next(struct cn_call_feed *feed,
                                        struct cn_call_batch *out, struct cn_error *err);
void cn_call_feed_close(struct cn_call_feed *feed);

#endif
