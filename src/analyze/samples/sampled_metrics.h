/* The metrics of sampled measurements, numbered over all profiles; their ids,
 * statistics and the way they are presented.
 *
 * A metric is known by its name and description. What the first profile that has it
 * says about showing it counts. A zeroed one with options is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_METRICS_H
#define CN_ANALYZE_SAMPLES_SAMPLED_METRICS_H

#include "base/map.h"
#include "base/text.h"
#include "model/contexts/samples.h"

/* Scopes, in the order of their ids. */
enum cn_sampled_scope {
    CN_SAMPLED_POINT,
    CN_SAMPLED_FUNCTION,
    CN_SAMPLED_LEX_AWARE,
    CN_SAMPLED_EXECUTION,
    CN_SAMPLED_SCOPE_COUNT,
};

/* Statistics over threads. */
enum cn_sampled_statistic {
    CN_SAMPLED_COUNT,
    CN_SAMPLED_SUM,
    CN_SAMPLED_SQUARES,
    CN_SAMPLED_MIN,
    CN_SAMPLED_MAX,
    CN_SAMPLED_STATISTIC_COUNT,
};

struct cn_measured_metric {
    const char *name, *description;
    const char *format;               /* of a formula; NULL when there is none */
    const struct cn_formula *formula; /* over metrics of this list; NULL: measured */
    uint32_t position;                /* in the table that brought it */
    uint16_t first_id;                /* of its values */
    uint8_t show;                     /* enum cn_metric_show */
    bool shows_percent;
    uint8_t statistics[CN_SAMPLED_STATISTIC_COUNT]; /* enum cn_sampled_statistic */
    uint8_t statistic_count;
};

struct cn_sampled_metrics {
    unsigned wanted; /* bits of enum cn_sampled_statistic; the sum is always kept */
    bool is_hpcprof_compatible;
    struct cn_arena arena;
    struct cn_names names; /* name and description */
    struct cn_measured_metric *list;
    size_t count, capacity;
    uint32_t next_id;
    struct cn_text mapped_id; /* the table that `map` belongs to */
    uint32_t *map;            /* its metrics -> metrics of the list */
    size_t map_count, map_capacity;
};

/* Learn the metrics of a profile; `metrics->map` then translates its numbers. On
 * failure, such as a formula that makes no sense, no new metric was learnt. */
CN_CHECK bool cn_sampled_metrics_add(struct cn_sampled_metrics *metrics,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* Whether a metric is kept in a scope. */
static inline bool cn_measured_metric_has(const struct cn_measured_metric *metric,
                                          enum cn_sampled_scope scope)
{
    switch (metric->show) {
    case CN_SHOW_TOTAL:
        return scope == CN_SAMPLED_POINT || scope == CN_SAMPLED_EXECUTION;
    case CN_SHOW_SELF:
        return scope != CN_SAMPLED_EXECUTION;
    default:
        return true;
    }
}

/* As a database has them, everything in `arena`. Without `with_roots` nothing is
 * presented. */
void cn_sampled_metrics_describe(const struct cn_sampled_metrics *metrics,
                                 bool with_roots, struct cn_arena *arena,
                                 struct cn_metrics *out, struct cn_taxonomy *taxonomy);

void cn_sampled_metrics_done(struct cn_sampled_metrics *metrics);

#endif
