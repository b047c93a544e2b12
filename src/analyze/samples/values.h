/* The values of threads, propagated up the context tree, and statistics over them.
 *
 * For each thread: begin, add the measured values, finish. The result is sorted by (context,
 * id), and added to the statistics, which cn_sampled_values_sum_up() returns for the threads
 * since its last call.
 * Threads: one thread at a time; others may add contexts and metrics meanwhile.
 */
#ifndef CN_ANALYZE_SAMPLES_VALUES_H
#define CN_ANALYZE_SAMPLES_VALUES_H

#include "analyze/samples/contexts.h"
#include "analyze/samples/metrics.h"
#include "analyze/samples/reach.h"

/* A metric in a context of the current thread. */
struct cn_sampled_cell {
    double point, function, no_loops, execution;
    uint32_t next;   /* cell of the same context with a larger metric; 0: none */
    uint32_t metric; /* number in the list */
    bool has_point;
};

/* The same over several threads. */
struct cn_summary_cell {
    uint32_t next, metric;
    size_t numbers; /* index of its first number */
};

/* A growing list of values. */
struct cn_value_list {
    struct cn_value *values;
    size_t count, capacity;
    uint32_t context_count;
};

struct cn_sampled_sum;

struct cn_sampled_values {
    const struct cn_sampled_contexts *contexts;
    const struct cn_sampled_metrics *metrics;
    bool is_hpcprof_compatible;
    struct cn_sampled_cell *cells; /* cell 0 is none */
    size_t cell_count, cell_capacity;
    uint32_t last_context, last_cell; /* of the last value added; cell 0: none */
    uint32_t *heads;   /* by context: its first cell; all 0 between threads */
    uint64_t *touched; /* a bit for each context with cells */
    size_t first_word, end_word;
    uint64_t *summed;  /* a bit for each context with summary cells */
    size_t summed_end; /* words */
    size_t head_capacity;
    struct cn_summary_cell *summary; /* cell 0 is none */
    size_t summary_count, summary_capacity;
    uint32_t *summary_heads;
    double *numbers; /* of summary cells, as in sum.h */
    size_t number_count, number_capacity;
};

/* Begin a thread, with values in contexts below `context_count`. */
void cn_sampled_values_begin(struct cn_sampled_values *values, size_t context_count);

/* Make room for contexts added since the thread began. */
void cn_sampled_values_fit(struct cn_sampled_values *values, size_t context_count);

/* Add a value. Fastest if the metrics of one context ascend. */
void cn_sampled_values_add(struct cn_sampled_values *values, uint32_t context,
                           uint32_t metric, double value);

/* Add a value in shares, up to the one with is_last. */
void cn_sampled_values_spread(struct cn_sampled_values *values,
                              const struct cn_sampled_share *shares, uint32_t metric,
                              bool is_moved, double value);

/* Propagate, append the result to `out`, whose context_count is that of this thread, and add
 * it to the statistics. */
void cn_sampled_values_finish(struct cn_sampled_values *values,
                              struct cn_value_list *out);

/* The statistics over the threads since the last call, which begin again. */
struct cn_sampled_sum *cn_sampled_values_sum_up(struct cn_sampled_values *values);

void cn_sampled_values_done(struct cn_sampled_values *values);
void cn_value_list_add(struct cn_value_list *list, struct cn_value value);

#endif
