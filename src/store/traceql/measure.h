/* Measures spans for one function of metrics: each span is added to the series of its labels, in the
 * interval that it began in.
 *
 *     cn_tql_measure_init(&measure, program, node, metrics, exemplar_max)
 *     cn_tql_measure_add(&measure, view, span, is_selected, err) ...
 *     cn_tql_measure_take(&measure, &set)
 *     cn_tql_measure_done(&measure)
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_MEASURE_H
#define CN_STORE_TRACEQL_MEASURE_H

#include "store/traceql/labels.h"
#include "store/traceql/series.h"
#include "store/traceql/span.h"

/* Series before they are part of the result; memory of the arena of the metrics. */
struct cn_tql_series_set {
    struct cn_tql_series *list;
    size_t count, capacity;
};

/* What is counted for one series. */
struct cn_tql_group {
    const struct cn_tql_value *by; /* the bucket last, where there is one */
    double *values;                /* by interval */
    double *weights;               /* of averages */
    struct cn_tql_exemplar *exemplars;
    size_t exemplar_count;
    uint8_t *exemplar_counts; /* by slice of time */
};

struct cn_tql_measure {
    const struct cn_tql_program *program;
    const struct cn_tql_node *node;
    struct cn_tql_metrics *metrics;
    size_t exemplar_max;
    size_t by_count; /* with the bucket */
    struct cn_tql_group *groups;
    size_t group_count, group_capacity;
    struct cn_tql_labels labels; /* by group */
};

/* A span as it counts. */
struct cn_tql_measured {
    size_t interval;       /* SIZE_MAX: it does not */
    double number, weight; /* the number is NaN if none is measured */
    struct cn_tql_value by[CN_TQL_BY_MAX + 1];
};

void cn_tql_measure_init(struct cn_tql_measure *measure,
                         const struct cn_tql_program *program,
                         const struct cn_tql_node *node, struct cn_tql_metrics *metrics,
                         size_t exemplar_max);
void cn_tql_measure_done(struct cn_tql_measure *measure);

/* `is_selected`: of compare(), the span is of the selection. */
CN_CHECK bool cn_tql_measure_add(struct cn_tql_measure *measure, struct cn_tql_view *view,
                                 const struct cn_tql_span *span, bool is_selected,
                                 struct cn_error *err);

/* The same in two steps, except for compare(): find out how a span counts, which several threads may do, each
 * with a view; then count it, in the group of its values; CN_NONE if there are too many. */
CN_CHECK bool cn_tql_measure_span(const struct cn_tql_measure *measure,
                                  struct cn_tql_view *view,
                                  const struct cn_tql_span *span,
                                  struct cn_tql_measured *out, struct cn_error *err);
uint32_t cn_tql_measure_group(struct cn_tql_measure *measure,
                              const struct cn_tql_value *by);
void cn_tql_measure_count(struct cn_tql_measure *measure, struct cn_tql_view *view,
                          const struct cn_tql_span *span, uint32_t group, size_t interval,
                          double number, double weight);

/* The interval of a time; SIZE_MAX outside of all. */
size_t cn_tql_interval_of(const struct cn_tql_metrics *metrics, uint64_t time_ns);

/* What is measured in a value, durations in seconds, and the bucket of the value, where the function has
 * buckets. False if it has none of them. */
bool cn_tql_measure_value(const struct cn_tql_measure *measure,
                          const struct cn_tql_value *value, double *number,
                          struct cn_tql_value *bucket);
bool cn_tql_measure_has_bucket(const struct cn_tql_measure *measure);

/* Turn what was measured into series. */
void cn_tql_measure_take(struct cn_tql_measure *measure, struct cn_tql_series_set *out);

#endif
