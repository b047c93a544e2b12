/* Spans of traces, whole: what OpenTelemetry sends of a span, for readers of a trace.
 *
 *     trace->spans[s]            ids, kind (the word `type`), service, time, status, trace state,
 *                                flags, dropped counts
 *     cn_trace_span_end_ns()     its end
 *     cn_trace_span_name()       its name
 *     cn_trace_span_attributes() its attributes
 *     cn_trace_span_resource()   what made it, with attributes; cn_trace_span_scope() likewise
 *     cn_trace_span_events()     an array of span->event_count, each with time and attributes
 *     cn_trace_span_links()      an array of span->link_count, each with ids and attributes
 *
 * A list of attributes is walked with
 *
 *     for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next)
 *         trace->attributes[i].key    a word: cn_word_bytes(trace->words, key)
 *         trace->attributes[i].value  typed; cn_trace_value_type() tells texts and bytes apart
 *
 * or searched with cn_trace_list_find(). Traces that cn_segment_load() loads, and those of
 * cn_trace_visitor, are complete; cn_trace_complete() makes any other one so. What older stores and
 * other agents did not keep is absent: no resource, no scope, events at the begin of their span.
 * The service of a span is span->service in all of them.
 *
 * All of it is borrowed from the trace and its words.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_MODEL_TRACES_SPAN_H
#define CN_MODEL_TRACES_SPAN_H

#include "model/traces/trace.h"

/* Read the resources and scopes of the spans from the words of the trace, and turn what earlier
 * versions stored as attributes (`event`, `annotation`, `links`, `status.message`) into events,
 * links and status. Again: no effect. */
void cn_trace_complete(struct cn_trace *trace);

/* The innermost span that contains a call; NULL if there is none, as for CN_NONE. */
const struct cn_trace_span *cn_trace_span_around(const struct cn_trace *trace,
                                                 uint32_t node);

/* The service of that span, or its type where it names none: a word; 0: unknown. */
uint32_t cn_trace_service_of(const struct cn_trace *trace, uint32_t node);

/* Saturates at UINT64_MAX. May be before its start, as sent. */
uint64_t cn_trace_span_end_ns(const struct cn_trace *trace,
                              const struct cn_trace_span *span);

/* The name of its call, a text without an end in 0; empty if unknown. */
struct cn_bytes cn_trace_span_name(const struct cn_trace *trace,
                                   const struct cn_trace_span *span);

static inline struct cn_trace_list
cn_trace_span_attributes(const struct cn_trace *trace, const struct cn_trace_span *span)
{
    const struct cn_trace_node *node = &trace->nodes[span->node];

    return (struct cn_trace_list){node->first_attribute, node->last_attribute};
}

/* NULL if the span has none. */
const struct cn_trace_resource *cn_trace_span_resource(const struct cn_trace *trace,
                                                       const struct cn_trace_span *span);
const struct cn_trace_scope *cn_trace_span_scope(const struct cn_trace *trace,
                                                 const struct cn_trace_span *span);

static inline const struct cn_trace_event *
cn_trace_span_events(const struct cn_trace *trace, const struct cn_trace_span *span)
{
    return span->event_count > 0 ? trace->events + span->first_event : NULL;
}

static inline const struct cn_trace_link *
cn_trace_span_links(const struct cn_trace *trace, const struct cn_trace_span *span)
{
    return span->link_count > 0 ? trace->links + span->first_link : NULL;
}

/* The resource of a span where it is news: the innermost span around it has another. NULL if it has
 * the same, or there is none. The same of a scope. */
const struct cn_trace_resource *cn_trace_new_resource(const struct cn_trace *trace,
                                                      const struct cn_trace_span *span);
const struct cn_trace_scope *cn_trace_new_scope(const struct cn_trace *trace,
                                                const struct cn_trace_span *span);

/* True if an event has an attribute exception.type, exception.message or exception.stacktrace. */
bool cn_trace_event_is_exception(const struct cn_trace *trace,
                                 const struct cn_trace_event *event);

/* The first value with this key; NULL if the list has none. */
const struct cn_trace_value *cn_trace_list_find(const struct cn_trace *trace,
                                                struct cn_trace_list list,
                                                struct cn_bytes key);

/* The kinds of values of OpenTelemetry, with the numbers of their fields; 0: no value. */
enum cn_trace_value_type {
    CN_VALUE_IS_EMPTY,
    CN_VALUE_IS_TEXT,
    CN_VALUE_IS_BOOL,
    CN_VALUE_IS_INT,
    CN_VALUE_IS_DOUBLE,
    CN_VALUE_IS_LIST,
    CN_VALUE_IS_MAP,
    CN_VALUE_IS_BYTES,
};
enum cn_trace_value_type cn_trace_value_type(const struct cn_trace *trace,
                                             const struct cn_trace_value *value);

/* The bytes of a text, or of bytes; empty for other values. */
struct cn_bytes cn_trace_value_bytes(const struct cn_trace *trace,
                                     const struct cn_trace_value *value);

#endif
