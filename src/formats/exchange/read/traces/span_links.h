/* Links of spans, while spans are read: begin a link, add its attributes with
 * cn_span_set_attribute(), end it. A link without a trace id and a span id is dropped.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_LINKS_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_LINKS_H

#include <stdbool.h>

#include "base/bytes/bytes.h"

struct cn_span_set;

void cn_span_set_link_begin(struct cn_span_set *set);
void cn_span_set_link_end(struct cn_span_set *set);

/* The trace state of the link that was begun; empty: none. */
void cn_span_set_link_state(struct cn_span_set *set, struct cn_bytes state);

/* The links of the current span become an attribute of it. */
void cn_span_set_add_links(struct cn_span_set *set);

/* A tag `otlp.link.N`, which collectors of OpenTelemetry write for Zipkin:
 * "TRACE|SPAN|state|{attributes as JSON}|dropped attributes". False, and nothing is added, if the
 * text is none. */
bool cn_span_set_link_tag(struct cn_span_set *set, struct cn_bytes text);

#endif
