/* Metrics of TraceQL: series over time, computed from the spans that match.
 *
 *     cn_tql_metrics(search, program, &range, &metrics, err)
 *     for (i ...) metrics.series[i].labels[k], metrics.series[i].values[t] ...
 *     cn_tql_metrics_done(&metrics)
 *
 * The range is divided as in Tempo: its begin is rounded down and its end up to multiples of the step,
 * and a span belongs to the interval that it began in: after the begin of the interval, up to and
 * with its end. The point of an interval is its end. Durations are in seconds.
 *
 * Every answer is exact, except quantiles, which are interpolated between powers of two, and those of
 * sampled stores, which are estimated (store/sampling). The result owns its memory. A failure leaves nothing to release.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_SERIES_H
#define CN_STORE_TRACEQL_SERIES_H

#include "store/traceql/program.h"

struct cn_search;

enum { CN_TQL_POINTS_MAX = 100000, CN_TQL_SERIES_MAX = 100000 };

struct cn_tql_metrics_range {
    uint64_t first_ns, last_ns; /* since the epoch; the last must be above the first */
    uint64_t step_ns;           /* 0: one interval of exactly these times */
    size_t exemplar_max;        /* of a series; the hint "exemplars" comes first */
};

struct cn_tql_label {
    const char *name;          /* "resource.service.name", "p", "__bucket", "__name__" */
    struct cn_tql_value value; /* nil: of a group whose spans have none */
};

/* A span that is one of those a point was computed from. */
struct cn_tql_exemplar {
    uint64_t trace_high, trace_low, span_id;
    uint64_t time_ns;
    double value; /* what was measured; of counts and rates the point itself */
};

struct cn_tql_series {
    struct cn_tql_label *labels;
    size_t label_count;
    double *values; /* by interval; NaN: no point */
    struct cn_tql_exemplar *exemplars;
    size_t exemplar_count;
};

struct cn_tql_metrics {
    struct cn_arena arena;
    uint64_t begin_ns,
        step_ns;  /* the point of interval i is at begin_ns + (i + 1) * step_ns */
    size_t count; /* intervals */
    struct cn_tql_series *series; /* by their labels */
    size_t series_count, series_capacity;
    uint64_t span_count; /* that were measured */
};

/* The program must be one of metrics. */
CN_CHECK bool cn_tql_metrics(struct cn_search *search,
                             const struct cn_tql_program *program,
                             const struct cn_tql_metrics_range *range,
                             struct cn_tql_metrics *out, struct cn_error *err);
void cn_tql_metrics_done(struct cn_tql_metrics *metrics);

/* The step that Tempo chooses for a range. */
uint64_t cn_tql_default_step_ns(uint64_t first_ns, uint64_t last_ns);

/* Append the labels as "{name=\"a\", p=0.9}". */
void cn_tql_labels_print(const struct cn_tql_series *series, struct cn_text *out);

#endif
