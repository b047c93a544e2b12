/* Metrics as text, in the formats of Prometheus and OpenMetrics.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_SERVER_HTTP_METRICS_H
#define CN_SERVER_HTTP_METRICS_H

#include <stdbool.h>

struct cn_span_metrics;
struct cn_text;

/* Append the metrics from spans, with the names of Tempo's generator. Only OpenMetrics can have
 * exemplars. */
void cn_metrics_add_spans(struct cn_text *out, const struct cn_span_metrics *metrics,
                          bool has_exemplars);

/* Turn the text of Prometheus into that of OpenMetrics: a counter is named without "_total", and there
 * is an end. */
void cn_metrics_to_open(struct cn_text *text);

#endif
