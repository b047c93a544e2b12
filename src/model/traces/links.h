/* Links and events of spans: as text, as JSON, and as earlier versions stored links.
 *
 * Those were an attribute `links` of the call: a list of maps with `trace` (32 hexadecimal digits),
 * `span` (16), and the attributes of the link.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_MODEL_TRACES_LINKS_H
#define CN_MODEL_TRACES_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

enum { CN_TRACE_ID_DIGITS = 32, CN_SPAN_ID_DIGITS = 16 };

struct cn_json;
struct cn_text;
struct cn_trace;
struct cn_trace_attribute;
struct cn_trace_event;
struct cn_trace_link;
struct cn_trace_list;
struct cn_trace_span;

/* At most 32 hexadecimal digits; false for anything else. */
bool cn_span_id_parse(struct cn_bytes text, uint64_t *high, uint64_t *low);

/* Add the links of a span that an attribute of it contains; false, and nothing is added, if not all
 * of it is links. */
bool cn_trace_take_links(struct cn_trace *trace, struct cn_trace_span *span,
                         const struct cn_trace_attribute *attribute);

/* Append "TRACE/SPAN", and what else it has as "TRACE/SPAN (key = value, ...)". */
void cn_trace_link_print(const struct cn_trace *trace, const struct cn_trace_link *link,
                         struct cn_text *out);

/* Append "NAME", and its attributes as "NAME (key = value, ...)". */
void cn_trace_event_print(const struct cn_trace *trace,
                          const struct cn_trace_event *event, struct cn_text *out);

/* Append the attributes from `first` on as members of an object. Values of the same key, such as those
 * of several events, are a list. */
void cn_json_add_attributes(struct cn_json *json, const struct cn_trace *trace,
                            uint32_t first);

/* Append attributes, typed as an object {key: value}, as cn_json_add_attributes() has them; otherwise
 * as an array of [key, value], as cn_json_trace_value() has values. */
void cn_json_trace_list(struct cn_json *json, const struct cn_trace *trace,
                        const struct cn_trace_list *list, bool is_typed);

/* Append an array of the links of a span, or of its events, as objects. Typed: {trace_id, span_id,
 * trace_state, flags, dropped_attributes, attributes: {}} and {time_ns, name, dropped_attributes,
 * attributes}; otherwise {trace, span, state, flags, dropped, attributes: [[key, value]]} and {time,
 * name, dropped, attributes}. What a link or event has not is left out. */
void cn_json_trace_links(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_span *span, bool is_typed);
void cn_json_trace_events(struct cn_json *json, const struct cn_trace *trace,
                          const struct cn_trace_span *span, bool is_typed);

#endif
