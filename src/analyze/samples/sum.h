/* Statistics over threads, taken in parts: over the threads of each batch of profiles
 * (batches.h), then merged in a tree (base/run/merges.h).
 *
 * Sums of floating-point numbers depend on their order. Batches and tree depend on the profiles
 * alone, so the bits of the result are the same for any number of workers and processes.
 * Threads: one thread at a time; metrics may be added meanwhile.
 */
#ifndef CN_ANALYZE_SAMPLES_SUM_H
#define CN_ANALYZE_SAMPLES_SUM_H

#include "analyze/samples/metrics.h"
#include "analyze/samples/values.h"
#include "base/run/merges.h"
#include "base/text.h"

/* Numbers of a metric in a context: all scopes of its first statistic, then of the next. Where
 * hpcprof's minimum is wanted, whether it started again, in each scope. At the end how many
 * threads have a value, in each scope. */
size_t cn_sampled_number_count(const struct cn_measured_metric *metric,
                               bool is_hpcprof_compatible);

/* Add the value of one more thread, in each scope. */
void cn_sampled_numbers_add(const struct cn_measured_metric *metric,
                            bool is_hpcprof_compatible, double *numbers,
                            const double of_scope[CN_SAMPLED_SCOPE_COUNT]);

struct cn_sampled_sum_cell {
    uint32_t context, metric;
};

/* Cells sorted by context and metric, and their numbers. */
struct cn_sampled_sum {
    struct cn_sampled_sum_cell *cells;
    double *numbers;
    size_t count, number_count;
};

/* An empty sum with room for some cells and numbers. */
struct cn_sampled_sum *cn_sampled_sum_new(size_t count, size_t number_count);
void cn_sampled_sum_free(void *sum); /* NULL is fine */
void cn_sampled_sum_add(struct cn_sampled_sum *sum, struct cn_sampled_sum_cell cell,
                        const double *numbers, size_t number_count);

/* What merging depends on; `arg` of the merges. */
struct cn_sampled_sum_rules {
    const struct cn_sampled_metrics *metrics;
    bool is_hpcprof_compatible;
};

/* For struct cn_merges: `left` is over earlier threads than `right`. */
void *cn_sampled_sum_merge(void *arg, void *left, void *right);

/* Messages to the process before: the sums that are not merged yet. */
void cn_sampled_sums_encode(const struct cn_merges *merges, struct cn_text *message);
CN_CHECK bool cn_sampled_sums_take(struct cn_merges *merges, size_t context_count,
                                   struct cn_bytes message, struct cn_error *err);

/* The values of a sum. */
void cn_sampled_sum_list(const struct cn_sampled_sum *sum,
                         const struct cn_sampled_sum_rules *rules,
                         struct cn_value_list *out);

#endif
