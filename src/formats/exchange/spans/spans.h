/* The calls of a task as spans that nest: every beginning has one end, in order,
 * whatever the recording left out (see analyze/calls/call_stack.h for what that can be).
 *
 *     cn_spans_open(&spans, query, task, err)
 *     do
 *         step = cn_spans_next(&spans, visit, arg, err);    some events at a time
 *     while (step == CN_ITEM);
 *     cn_spans_finish(&spans, end_ns, visit, arg);          where spans are open
 *     cn_spans_close(&spans);
 *
 * Zero-initialised means "not open".
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_SPANS_SPANS_H
#define CN_FORMATS_EXCHANGE_SPANS_SPANS_H

#include "analyze/calls/call_merge.h"
#include "analyze/calls/call_stack.h"

enum cn_span_kind {
    CN_SPAN_BEGIN,
    CN_SPAN_END,
    CN_SPAN_EVENT, /* `address` is its id */
    CN_SPAN_LOST,  /* `address` says how many records */
};

struct cn_span {
    uint8_t kind;      /* enum cn_span_kind */
    bool has_begin;    /* of an end: false where a fork returns in the child */
    bool is_repaired;  /* of an end: nothing says when, or that, it ended */
    uint32_t depth;    /* spans around it */
    uint32_t function; /* or schedule, as cn_call_name() takes it; CN_NONE: unknown */
    uint64_t address;
    uint64_t number; /* of the span in its task, from 0 */
    uint64_t time_ns, begin_ns;
    uint64_t child_ns;          /* of an end: spent in spans inside */
    const struct cn_call *call; /* NULL when repaired */
    const struct cn_call_batch *batch;
};

typedef void (*cn_span_fn)(void *arg, const struct cn_span *span);

struct cn_open_span {
    uint64_t address, number, begin_ns, child_ns;
    uint32_t function;
    bool is_shown;
};

struct cn_spans {
    const struct cn_call_query *query;
    uint32_t task;
    struct cn_call_feed feed;
    struct cn_call_stack stack;
    bool is_on;
    struct cn_open_span *open; /* as many as the stack has frames */
    size_t count, capacity;
    uint32_t depth; /* of those shown */
    uint64_t next_number, last_ns;
};

CN_CHECK bool cn_spans_open(struct cn_spans *spans, const struct cn_call_query *query,
                            uint32_t task, struct cn_error *err);
CN_CHECK enum cn_step cn_spans_next(struct cn_spans *spans, cn_span_fn visit, void *arg,
                                    struct cn_error *err);

/* End the spans that are still open, because the recording has ended or the task is
 * damaged: at `end_ns`, or with the task's last record, which may be later. */
void cn_spans_finish(struct cn_spans *spans, uint64_t end_ns, cn_span_fn visit,
                     void *arg);
void cn_spans_close(struct cn_spans *spans);

#endif
