/* The HTTP API of Jaeger: what its page and Grafana's data source for Jaeger ask, and version 3, whose
 * traces are OTLP.
 *
 * docs/apis.md lists paths and differences.
 * Threads: any thread.
 */
#ifndef CN_SERVER_COMPAT_JAEGER_JAEGER_H
#define CN_SERVER_COMPAT_JAEGER_JAEGER_H

#include "server/compat/common/call.h"

struct cn_find;
struct cn_json;
struct cn_trace_set;

extern const struct cn_compat_api cn_jaeger_api;

/* Append a trace as an object: its spans, and the processes that made them. */
void cn_jaeger_trace(struct cn_json *json, const struct cn_trace_set *set);

/* The search of /api/traces; of version 3, with `query.` before the names of parameters. Fails without
 * a service, and for values that are not what they should be. The caller releases `out`. */
CN_CHECK bool cn_jaeger_parse(const struct cn_compat_call *call, struct cn_find *out,
                              struct cn_error *err);
CN_CHECK bool cn_jaeger_parse_v3(const struct cn_compat_call *call, struct cn_find *out,
                                 struct cn_error *err);

cn_compat_answer cn_jaeger_v3_services, cn_jaeger_v3_operations, cn_jaeger_v3_traces,
    cn_jaeger_v3_trace;

#endif
