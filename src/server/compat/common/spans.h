/* The calls of a loaded trace as spans of tracing systems, one after the other.
 *
 * Calls that an agent recorded inside of a span are spans as well, with ids of their own
 * (formats/exchange/read/traces/spans.h). What is in the struct is borrowed from the trace.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_SERVER_COMPAT_COMMON_SPANS_H
#define CN_SERVER_COMPAT_COMMON_SPANS_H

#include <stdint.h>

#include "model/traces/span.h"

struct cn_trace_set;
struct cn_json;

struct cn_compat_span {
    const struct cn_trace *trace;
    uint32_t node;
    const struct cn_trace_span *span;         /* NULL: a call that is no span itself */
    const struct cn_trace_resource *resource; /* NULL: unknown */
    uint64_t id, parent_id;                   /* 0: none */
    uint64_t time_ns, end_ns;                 /* the end is never before the begin */
    unsigned kind;                            /* index of cn_span_kinds */
    enum cn_trace_status status;
    uint32_t service; /* word; 0: unknown */
    struct cn_trace_list attributes;
};

typedef void cn_compat_span_visit(void *arg, const struct cn_compat_span *span);
void cn_compat_each_span(const struct cn_trace_set *set, cn_compat_span_visit *visit,
                         void *arg);

/* The exception of the call, unless one of its events is it; 0: none. */
uint32_t cn_compat_span_exception(const struct cn_compat_span *span);

/* Append the digits of the id of a trace; the upper half only if it is not 0. */
struct cn_text;
void cn_compat_print_trace_id(struct cn_text *out, uint64_t high, uint64_t low);
void cn_compat_add_trace_id(struct cn_json *json, const char *key, uint64_t high,
                            uint64_t low);

#endif
