/* Tasks written side by side: each worker turns the calls of one task into bytes, and
 * the bytes of all tasks reach the file in an order that does not depend on the
 * workers.
 *
 * A few tasks at a time are open, a lane each; in every round each lane fills its
 * text up to a limit, and the texts are written in the order of lanes. So the events
 * of a task are in order, those of different tasks come in pieces. Memory is bounded
 * by the lanes.
 * Threads: one thread at a time; uses the workers of the export.
 */
#ifndef CN_FORMATS_EXCHANGE_SPANS_LANES_H
#define CN_FORMATS_EXCHANGE_SPANS_LANES_H

#include "formats/exchange/export.h"
#include "formats/exchange/spans/spans.h"

enum { CN_LANES_MAX = 16 };

/* What writers count in their lanes. */
struct cn_lane_counts {
    uint64_t spans, events, lost, repaired, without_begin, arguments;
};

struct cn_lane {
    struct cn_export *x;
    const void *arg; /* as given to cn_export_lanes(); shared, so not changed */
    uint32_t slot;   /* of the query's tasks */
    const struct cn_task *task;
    struct cn_text text;    /* what is written next */
    struct cn_text scratch; /* the writer's, as are the next ones */
    void *own;
    uint64_t base_ns;
    struct cn_lane_counts counts;

    struct cn_spans spans; /* the rest is the business of lanes.c */
    enum cn_step step;
    struct cn_error err;
};

struct cn_lane_ops {
    void (*begin)(struct cn_lane *lane); /* before the first span; may be NULL */
    cn_span_fn visit;                    /* its argument is the lane */
    void (*end)(struct cn_lane *lane);   /* after the last one; may be NULL */
    bool is_apart; /* a task is complete before the next one begins */
    bool is_list; /* what lanes write begins with a comma; the first of all is left out */
};

/* Time since the start of the recording; damaged records may claim to be before it. */
static inline uint64_t cn_lane_since_ns(const struct cn_lane *lane, uint64_t time_ns)
{
    return time_ns > lane->base_ns ? time_ns - lane->base_ns : 0;
}

/* All tasks of the query. `counts` receives the sum over lanes and may be NULL. */
CN_CHECK bool cn_export_lanes(struct cn_export *x, const struct cn_lane_ops *ops,
                              const void *arg, struct cn_lane_counts *counts,
                              struct cn_error *err);

/* Note as lost what `counts` says of events and of arguments. */
void cn_export_lose_counts(struct cn_export *x, const struct cn_lane_counts *counts,
                           bool keeps_events, bool keeps_arguments);

#endif
