/* The query API of Zipkin, version 2. Spans are sent to /api/v2/spans (server/http/collect.c).
 *
 * docs/apis.md lists paths and differences.
 * Threads: any thread.
 */
#ifndef CN_SERVER_COMPAT_ZIPKIN_ZIPKIN_H
#define CN_SERVER_COMPAT_ZIPKIN_ZIPKIN_H

#include "server/compat/common/call.h"

struct cn_find;

extern const struct cn_compat_api cn_zipkin_api;

/* The search of /api/v2/traces. The caller releases `out`; a failure leaves nothing. */
CN_CHECK bool cn_zipkin_parse(const struct cn_compat_call *call, struct cn_find *out,
                              struct cn_error *err);

#endif
