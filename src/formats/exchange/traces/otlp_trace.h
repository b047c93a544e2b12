/* A request trace as OpenTelemetry JSON, with its own ids: what cn_otlp_json_read() reads.
 *
 * Each call is a span. A call without a span id has one that depends on the trace and its number
 * alone. Resources have the name of the service; the other attributes of one are those of the
 * first call.
 * Threads: one thread at a time for each JSON text.
 */
#ifndef CN_FORMATS_EXCHANGE_TRACES_OTLP_TRACE_H
#define CN_FORMATS_EXCHANGE_TRACES_OTLP_TRACE_H

#include <stdint.h>

struct cn_json;
struct cn_trace;

/* Append the elements of "resourceSpans" for all calls of a trace that began at `begin_ns` since
 * the epoch. */
void cn_otlp_json_trace(struct cn_json *json, const struct cn_trace *trace,
                        uint64_t begin_ns);

#endif
