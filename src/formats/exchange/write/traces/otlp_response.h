/* The answer to a request of OTLP with traces: an ExportTraceServiceResponse.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_EXCHANGE_WRITE_TRACES_OTLP_RESPONSE_H
#define CN_FORMATS_EXCHANGE_WRITE_TRACES_OTLP_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

struct cn_text;

/* Append it as JSON or protobuf. If spans were rejected, it is a partial success; `message` says
 * why. */
void cn_otlp_response(struct cn_text *out, bool is_json, uint64_t rejected,
                      const char *message);

#endif
