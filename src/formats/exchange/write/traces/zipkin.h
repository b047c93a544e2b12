/* A request trace as Zipkin spans, version 2, with its own ids: what cn_zipkin_read() reads.
 *
 * Each call is a span. Attributes, also those of its resource, are tags, links are tags `otlp.link.N` as collectors of
 * OpenTelemetry write them, names of events are annotations.
 * Threads: one thread at a time for each JSON text.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_TRACES_ZIPKIN_H
#define CN_FORMATS_EXCHANGE_WRITE_TRACES_ZIPKIN_H

#include <stdint.h>

struct cn_json;
struct cn_trace;

/* What Zipkin cannot represent. */
struct cn_zipkin_losses {
    uint64_t times;      /* spans that do not begin and end at a whole microsecond */
    uint64_t typed;      /* attributes that are not texts: tags are */
    uint64_t repeated;   /* attributes whose key the span has already */
    uint64_t exceptions; /* written as tags */
    uint64_t types;      /* of spans, other than kinds */
    uint64_t event_attributes; /* events that have some */
    uint64_t rest; /* spans with a scope, a trace state, flags, or dropped counts */
};

/* Append the spans of all calls of a trace that began at `begin_ns` since the epoch, and count what
 * is lost. */
void cn_zipkin_trace(struct cn_json *json, const struct cn_trace *trace,
                     uint64_t begin_ns, struct cn_zipkin_losses *losses);

#endif
