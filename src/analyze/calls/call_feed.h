/* The calls of one task as a view wants them: in batches, without those that turn
 * out too short (-t) or that do not lead to a chosen function (-C), and with times
 * that the recorder's own work is taken off, if the filter says so.
 *
 * Whether such a call is shown is known when it ends, or when it has lasted long
 * enough. Until then it is held back with the events inside it; what was shown never
 * has to be taken back. A call is shown when one inside it is.
 *
 *     cn_call_feed_open(&feed, rec, filter, task, range, err)
 *     while ((step = cn_call_feed_next(&feed, &batch, err)) == CN_ITEM) ...
 *     cn_call_feed_close(&feed);
 *
 * Zero-initialised means "not open". Batches are borrowed until the next call.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_FEED_H
#define CN_ANALYZE_CALLS_CALL_FEED_H

#include "analyze/calls/call_clock.h"
#include "analyze/calls/call_filter.h"
#include "base/text.h"
#include "model/calls/recording.h"

struct cn_held_call;

struct cn_call_feed {
    const struct cn_recording *rec;
    const struct cn_call_filter *filter;
    struct cn_call_stream *stream;
    struct cn_call_clock clock;
    struct cn_call *corrected; /* NULL: times are as recorded */
    size_t corrected_capacity;
    struct cn_call_batch in; /* what is being sorted out */

    /* Of a span. */
    uint64_t skip_count, more_count; /* calls to be skipped, and then to be read */
    bool is_settling;                /* calls are being left out */
    struct cn_call_settling settling;
    uint64_t left_out;
    uint32_t open_count; /* calls that were open after those */

    struct cn_held_call *held;
    size_t held_count, held_capacity;
    size_t undecided; /* calls among the held ones */
    struct cn_text held_data;
    uint64_t *limits_ns; /* by depth: how long a call there must last */

    struct cn_call *ready; /* handed out as a batch */
    size_t ready_count, ready_capacity;
    struct cn_text ready_data;
    enum cn_step ending; /* how the stream ended; CN_ITEM while it has not */
    struct cn_error err;
};

CN_CHECK bool cn_call_feed_open(struct cn_call_feed *feed, const struct cn_recording *rec,
                                const struct cn_call_filter *filter, uint32_t task,
                                struct cn_time_range range, struct cn_error *err);

/* Some calls of a piece of a task. */
struct cn_call_span {
    const struct cn_call_part *part;
    uint64_t first, end; /* numbers of calls in the piece */
};

/* The same for these, with a filter that does not ask for the future. `clock` is the
 * task's at the first one; NULL: not known. Then calls are left out up to an exit after
 * which the clock goes right but for a constant; `left_out` says how many. */
CN_CHECK bool cn_call_feed_open_span(struct cn_call_feed *feed,
                                     const struct cn_recording *rec,
                                     const struct cn_call_filter *filter, uint32_t task,
                                     const struct cn_call_span *span,
                                     const struct cn_call_clock *clock,
                                     struct cn_error *err);

/* CN_FAIL: the task is damaged here; everything before was handed out. */
CN_CHECK enum cn_step cn_call_feed_next(struct cn_call_feed *feed,
                                        struct cn_call_batch *out, struct cn_error *err);
void cn_call_feed_close(struct cn_call_feed *feed);

#endif
