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

#include "base/map.h"
#include "store/index/rows.h"
#include "store/traceql/series.h"
#include "store/traceql/span.h"

/* Series before they are part of the result; memory of the arena of the metrics. */
struct cn_tql_series_set {
    struct cn_tql_series *list;
    size_t count, capacity;
};

/* What is counted for one series. */
struct cn_tql_group {
    struct cn_tql_value by[CN_TQL_BY_MAX + 1]; /* the bucket last, where there is one */
    double *values;                            /* by interval */
    double *weights;                           /* of averages */
    struct cn_tql_exemplar *exemplars;
    size_t exemplar_count;
    uint8_t *exemplar_counts; /* by slice of time */
};

struct cn_tql_measure {
    const struct cn_tql_program *program;
    const struct cn_tql_node *node;
    struct cn_tql_metrics *metrics;
    uint64_t first_ns, last_ns; /* of spans that are measured, both ends included */
    size_t exemplar_max;
    size_t by_count; /* with the bucket */
    struct cn_tql_group *groups;
    size_t group_count, group_capacity;
    struct cn_map by_hash;
    uint32_t last; /* the group of the span before */
    /* Texts of columns stay where they are: groups by the places of texts, for a first look. */
    bool has_places;
    struct cn_tql_place {
        struct cn_tql_value by[2];
        uint32_t group; /* + 1; 0: none */
    } places[256];
    bool is_full; /* there are too many series */
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

/* True if spans are measured by columns alone: cn_tql_measure_rows() does it faster, without spans. */
bool cn_tql_measure_is_of_columns(const struct cn_tql_measure *measure,
                                  const struct cn_tql_view *view, uint32_t segment);

/* Measure all these rows of a segment. A row that cannot be read costs itself alone: the search of the
 * view reports it. */
CN_CHECK bool cn_tql_measure_rows(struct cn_tql_measure *measure,
                                  struct cn_tql_view *view, uint32_t segment,
                                  const struct cn_rows *rows, struct cn_error *err);

/* Turn what was measured into series. */
void cn_tql_measure_take(struct cn_tql_measure *measure, struct cn_tql_series_set *out);

#endif
