/* The metrics of sampled measurements, numbered over all profiles, with their ids, statistics
 * and taxonomy.
 *
 * A metric is identified by name and description; the first profile that has it decides how
 * it is shown. Zeroed metrics with options are empty.
 * Threads: one thread at a time adds; meanwhile any thread may read a metric of the list that
 * it was given.
 */
#ifndef CN_ANALYZE_SAMPLES_METRICS_H
#define CN_ANALYZE_SAMPLES_METRICS_H

#include "base/bytes/bytes.h"
#include "base/map.h"
#include "base/text.h"
#include "model/contexts/formula.h"
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
    uint32_t position;                /* in the first table that has it */
    uint16_t first_id;                /* of its values */
    uint8_t show;                     /* enum cn_metric_show */
    bool shows_percent;
    uint8_t statistics[CN_SAMPLED_STATISTIC_COUNT]; /* enum cn_sampled_statistic */
    uint8_t statistic_count;
};

struct cn_sampled_metrics {
    unsigned wanted; /* bits of enum cn_sampled_statistic, besides the sum */
    bool is_hpcprof_compatible;
    struct cn_arena arena;
    struct cn_names names;           /* name and description */
    struct cn_measured_metric *list; /* does not move */
    size_t count;
    uint32_t next_id;
    struct cn_text mapped_id; /* of the table that `map` translates */
    uint32_t *map;            /* metrics of the table -> metrics of the list */
    size_t map_count, map_capacity;
};

/* Add the metrics of a profile; `metrics->map` then translates its numbers. On failure, such
 * as an invalid formula, no metric is added. */
CN_CHECK bool cn_sampled_metrics_add(struct cn_sampled_metrics *metrics,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* True if a metric has values in a scope. */
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

/* The metrics and taxonomy of the database, allocated in `arena`. Without `with_roots` the
 * taxonomy presents no metric. */
void cn_sampled_metrics_describe(const struct cn_sampled_metrics *metrics,
                                 bool with_roots, struct cn_arena *arena,
                                 struct cn_metrics *out, struct cn_taxonomy *taxonomy);

void cn_sampled_metrics_done(struct cn_sampled_metrics *metrics);

/* Formulas of measured metrics: "100 * #3 / max(#1, #2)", where #3 is a metric of
 * the same table. */

/* Parse a formula. Its inputs are the numbers after '#', all below `limit`. */
CN_CHECK bool cn_sampled_formula_parse(const struct cn_formula **out,
                                       struct cn_bytes text, uint32_t limit,
                                       struct cn_arena *arena, struct cn_error *err);

/* The formula with input i replaced by inputs[i]; NULL when one of those is NULL. */
const struct cn_formula *
cn_sampled_formula_replace(const struct cn_formula *formula,
                           const struct cn_formula *const *inputs,
                           struct cn_arena *arena);

#endif
