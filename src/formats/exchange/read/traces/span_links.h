/* Links in tags of Zipkin, while spans are read.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_LINKS_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_LINKS_H

#include <stdbool.h>

#include "base/bytes/bytes.h"

struct cn_span_set;

/* A tag `otlp.link.N`, which collectors of OpenTelemetry write for Zipkin:
 * "TRACE|SPAN|state|{attributes as JSON}|dropped attributes". False, and nothing is added, if the
 * text is none. */
bool cn_span_set_link_tag(struct cn_span_set *set, struct cn_bytes text);

#endif
