/* Files of Zipkin and OpenTelemetry spans as recordings of calls.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_CALLS_H
#define CN_FORMATS_EXCHANGE_READ_TRACES_SPAN_CALLS_H

#include "model/format.h"

/* True if the file looks like spans of this system. */
bool cn_zipkin_probe(const char *path);
bool cn_otlp_probe(const char *path);
bool cn_otlp_json_probe(const char *path);

/* The calls of all traces of the file; `query` must be "". The caller closes the
 * recording. */
CN_CHECK bool cn_span_calls_open(struct cn_recording **out, const char *path,
                                 const char *query, struct cn_error *err);

/* Visit the traces of the file, as walk_traces of a format. */
CN_CHECK bool cn_span_traces_walk(const char *path,
                                  const struct cn_trace_visitor *visitor,
                                  struct cn_error *err);

#endif
