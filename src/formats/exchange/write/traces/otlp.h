/* A request trace as OpenTelemetry JSON or protobuf, with its own ids: what cn_otlp_json_read() and
 * cn_otlp_read() read.
 *
 * Each call is a span. What was sent as OpenTelemetry comes back field by field; spans with the same
 * resource and scope that follow each other are written together. The resource of other calls has
 * the name of their service.
 * Threads: one thread at a time for each output.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_TRACES_OTLP_H
#define CN_FORMATS_EXCHANGE_WRITE_TRACES_OTLP_H

#include <stdint.h>

struct cn_json;
struct cn_pb;
struct cn_trace;

/* Append the elements of "resourceSpans" for all calls of a trace that began at `begin_ns` since
 * the epoch. */
void cn_otlp_json_trace(struct cn_json *json, const struct cn_trace *trace,
                        uint64_t begin_ns);

/* The same as Protocol Buffers map messages to JSON: ids in base64, names of kinds and codes. */
void cn_otlp_mapped_trace(struct cn_json *json, const struct cn_trace *trace,
                          uint64_t begin_ns);

/* The same as fields of a message of all traces. */
void cn_otlp_trace(struct cn_pb *pb, const struct cn_trace *trace, uint64_t begin_ns);

#endif
