/* The HTTP API of Tempo: what Grafana's data source for Tempo asks.
 *
 * docs/apis.md lists paths and differences.
 * Threads: any thread.
 */
#ifndef CN_SERVER_COMPAT_TEMPO_TEMPO_H
#define CN_SERVER_COMPAT_TEMPO_TEMPO_H

#include "server/compat/common/call.h"

struct cn_json;
struct cn_text;
struct cn_tql_value;

extern const struct cn_compat_api cn_tempo_api;

cn_compat_answer cn_tempo_trace, cn_tempo_trace_v2, cn_tempo_search, cn_tempo_tags,
    cn_tempo_tags_v2, cn_tempo_values, cn_tempo_values_v2, cn_tempo_query,
    cn_tempo_query_range;

/* `start` and `end`, seconds since the epoch, as nanoseconds; 0 and UINT64_MAX without them. Fails if
 * the end is not after the start. */
CN_CHECK bool cn_tempo_range(const struct cn_compat_call *call, uint64_t *first_ns,
                             uint64_t *last_ns, struct cn_error *err);

/* Append a query of TraceQL for `tags`, as "k=v k2=\"v 2\"", and durations of traces in
 * nanoseconds; 0 and UINT64_MAX are no limit. */
CN_CHECK bool cn_tempo_tags_to_query(const char *tags, uint64_t min_ns, uint64_t max_ns,
                                     struct cn_text *out, struct cn_error *err);

/* A time of metrics: seconds, with a fraction or not; nanoseconds if it has more than ten digits; or a
 * date. And a step: seconds, or a duration as Go writes it. */
CN_CHECK bool cn_tempo_time_parse(const char *text, uint64_t *out_ns,
                                  struct cn_error *err);
CN_CHECK bool cn_tempo_step(const struct cn_compat_call *call, uint64_t otherwise,
                            uint64_t *out_ns, struct cn_error *err);

/* Append {key, value: {stringValue ...}}, an attribute as OTLP has it. */
void cn_tempo_add_attribute(struct cn_json *json, const char *key,
                            const struct cn_tql_value *value);

/* Append {metrics}, which says what was read: nothing that is counted here. */
void cn_tempo_add_metrics(struct cn_json *json);

#endif
