/* Links from a span to others, of the same trace or another one: OpenTelemetry's span links.
 *
 * They are an attribute `links` of the call, so that any reader of traces has them and searches
 * find `links.trace = ID`: a list of maps with `trace` (32 hexadecimal digits), `span` (16), and
 * the attributes of the link.
 * Threads: any thread may read while no thread changes the trace.
 */
#ifndef CN_MODEL_TRACES_LINKS_H
#define CN_MODEL_TRACES_LINKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

#define CN_TRACE_LINKS      "links"
#define CN_TRACE_LINK_TRACE "trace"
#define CN_TRACE_LINK_SPAN  "span"
#define CN_TRACE_LINK_STATE "trace_state" /* an attribute, where the link has one */

enum { CN_TRACE_ID_DIGITS = 32, CN_SPAN_ID_DIGITS = 16 };

struct cn_json;
struct cn_text;
struct cn_trace;
struct cn_trace_attribute;
struct cn_trace_value;

struct cn_trace_link {
    struct cn_bytes trace, span;        /* their digits, borrowed from the words */
    const struct cn_trace_value *items; /* keys and values in turn, also of these two */
    uint32_t count;
};

/* True if all of the attribute is links. */
bool cn_trace_is_links(const struct cn_trace *trace,
                       const struct cn_trace_attribute *attribute);

/* The attribute of a call that is its links; NULL if it has none. */
const struct cn_trace_attribute *cn_trace_find_links(const struct cn_trace *trace,
                                                     uint32_t node);

/* Number `i` of the links of an attribute that is links. */
struct cn_trace_link cn_trace_link_at(const struct cn_trace *trace,
                                      const struct cn_trace_attribute *links, uint32_t i);

/* The next attribute of a link, from `at` on, which is advanced; false after the last. */
bool cn_trace_link_next(const struct cn_trace *trace, const struct cn_trace_link *link,
                        uint32_t *at, const struct cn_trace_value **key,
                        const struct cn_trace_value **value);

/* True for the key of the trace state, which is not an attribute for OpenTelemetry. */
bool cn_trace_link_is_state(const struct cn_trace *trace,
                            const struct cn_trace_value *key);

/* Append "TRACE/SPAN", and its attributes as "TRACE/SPAN (key = value, ...)". */
void cn_trace_link_print(const struct cn_trace *trace, const struct cn_trace_link *link,
                         struct cn_text *out);

/* Append an array of objects. Typed: {trace_id, span_id, attributes: {}}; otherwise
 * {trace, span, attributes: [[key, value]]}, as cn_json_trace_value() has them. */
void cn_json_trace_links(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_attribute *links, bool is_typed);

#endif
