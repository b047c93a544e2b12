/* What became of a request with spans, and its answer: the same over gRPC and over HTTP.
 *
 *     cn_otlp_outcome_set(&outcome, how, rejected, err);
 *     cn_otlp_outcome_body(&outcome, is_json, &text);
 *
 * The caller owns all memory.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_OTLP_OUTCOME_H
#define CN_SERVER_OTLP_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "server/otlp/format.h"
#include "store/pipeline/collector.h"

struct cn_text;

struct cn_otlp_outcome {
    enum cn_rpc_code code;
    unsigned http_status;
    unsigned
        retry_s; /* after so many seconds the sender may try again; 0: it should not */
    uint64_t rejected; /* spans that are not stored, of a request that is otherwise */
    char message[CN_ERROR_LEN];
};

/* The outcome that the collector called back with; `err` is read if something was not stored. */
void cn_otlp_outcome_set(struct cn_otlp_outcome *outcome, enum cn_collected how,
                         uint64_t rejected, const struct cn_error *err);

/* The collector did not take the request: too many wait. */
void cn_otlp_outcome_busy(struct cn_otlp_outcome *outcome);

/* Another failure, which an attempt later would repeat. */
CN_PRINTF(4, 5)
void cn_otlp_outcome_fail(struct cn_otlp_outcome *outcome, enum cn_rpc_code code,
                          unsigned http_status, const char *fmt, ...);

/* Append the body of the answer: an ExportTraceServiceResponse, or a google.rpc.Status with
 * RetryInfo or BadRequest where they apply. */
void cn_otlp_outcome_body(const struct cn_otlp_outcome *outcome, bool is_json,
                          struct cn_text *out);

#endif
