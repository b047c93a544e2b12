/* Messages that answer OTLP, over gRPC and over HTTP.
 * Threads: immutable.
 */
#ifndef CN_SERVER_OTLP_FORMAT_H
#define CN_SERVER_OTLP_FORMAT_H

#include "base/bytes/protobuf.h"

/* The codes of gRPC that are used, also in answers over HTTP. */
enum cn_rpc_code {
    CN_RPC_OK = 0,
    CN_RPC_INVALID_ARGUMENT = 3,
    CN_RPC_DEADLINE_EXCEEDED = 4,
    CN_RPC_NOT_FOUND = 5,
    CN_RPC_PERMISSION_DENIED = 7,
    CN_RPC_RESOURCE_EXHAUSTED = 8,
    CN_RPC_UNIMPLEMENTED = 12,
    CN_RPC_INTERNAL = 13,
    CN_RPC_UNAVAILABLE = 14,
    CN_RPC_UNAUTHENTICATED = 16,
};

/* google.rpc.Status. */
#define CN_RPC_STATUS(F, m)                  \
    F(m, 1, int32, code, "enum cn_rpc_code") \
    F(m, 2, string, message, "one line")     \
    F(m, 3, Any, details, "any of the messages below")
CN_MESSAGE(cn_rpc_status, CN_RPC_STATUS);

#define CN_RPC_ANY(F, m)                                 \
    F(m, 1, string, type_url, "type.googleapis.com/...") \
    F(m, 2, bytes, value, "the message")
CN_MESSAGE(cn_rpc_any, CN_RPC_ANY);

/* google.rpc.RetryInfo. */
#define CN_RPC_RETRY_INFO(F, m) F(m, 1, Duration, retry_delay, "before the next attempt")
CN_MESSAGE(cn_rpc_retry_info, CN_RPC_RETRY_INFO);

#define CN_RPC_DURATION(F, m) F(m, 1, int64, seconds, "")
CN_MESSAGE(cn_rpc_duration, CN_RPC_DURATION);

/* google.rpc.BadRequest. */
#define CN_RPC_BAD_REQUEST(F, m) F(m, 1, FieldViolation, field_violations, "")
CN_MESSAGE(cn_rpc_bad_request, CN_RPC_BAD_REQUEST);

#define CN_RPC_FIELD_VIOLATION(F, m) \
    F(m, 2, string, description, "what is wrong, and where")
CN_MESSAGE(cn_rpc_field_violation, CN_RPC_FIELD_VIOLATION);

#endif
