/* The spans of a trace that a store does not have yet, as traces of their own.
 *
 *     if (cn_unknown_spans_find(&unknown, trace, is_known, arg))
 *         while (cn_unknown_spans_next(&unknown)) ... unknown.trace ...
 *     cn_unknown_spans_done(&unknown);
 *
 * Senders repeat spans that were stored, together with others that were not: what is known is left
 * out, and a span whose caller is left out begins a trace with the same id.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_UNKNOWN_SPANS_H
#define CN_STORE_WRITE_UNKNOWN_SPANS_H

#include "model/traces/trace.h"

struct cn_unknown_spans {
    const struct cn_trace *from;
    uint32_t *group_of; /* by node of `from`; CN_NONE: known */
    uint32_t group_count, next;
    struct cn_trace
        trace; /* the last one; borrows attributes, values, events and links */
};

typedef bool (*cn_span_is_known)(void *arg, const struct cn_trace *trace,
                                 const struct cn_trace_span *span);

/* False if the whole trace is unknown, or can only be taken as it is: one that arrives in parts, or of
 * an agent. `trace` must outlive the result. */
bool cn_unknown_spans_find(struct cn_unknown_spans *out, const struct cn_trace *trace,
                           cn_span_is_known is_known, void *arg);

/* Make `trace` the next of them; false after the last. */
bool cn_unknown_spans_next(struct cn_unknown_spans *unknown);

void cn_unknown_spans_done(struct cn_unknown_spans *unknown); /* a zeroed one is fine */

#endif
