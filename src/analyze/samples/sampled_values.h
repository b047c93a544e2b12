/* The values of one thread, propagated up the context tree, and the summary of all threads.
 *
 * For each thread: begin, add the measured values, finish. The result is sorted by (context,
 * id), and added to the summary.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_VALUES_H
#define CN_ANALYZE_SAMPLES_SAMPLED_VALUES_H

#include "analyze/samples/sampled_contexts.h"
#include "analyze/samples/sampled_metrics.h"
#include "analyze/samples/sampled_reach.h"

/* A metric in a context of the current thread. */
struct cn_sampled_cell {
    double point, function, no_loops, execution;
    uint32_t next;   /* cell of the same context with a larger metric; 0: none */
    uint32_t metric; /* number in the list */
    bool has_point;
};

/* The same over all threads. */
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

struct cn_sampled_values {
    /* Receives the value of a thread in each scope; NULL: it is added to the summary. */
    void (*take)(void *arg, uint32_t context, uint32_t metric,
                 const double of_scope[CN_SAMPLED_SCOPE_COUNT]);
    void *take_arg;
    const struct cn_sampled_contexts *contexts;
    const struct cn_sampled_metrics *metrics;
    bool is_hpcprof_compatible;
    struct cn_sampled_cell *cells; /* cell 0 is none */
    size_t cell_count, cell_capacity;
    uint32_t last_context, last_cell; /* of the last value added; cell 0: none */
    uint32_t *heads;   /* by context: its first cell; all 0 between threads */
    uint64_t *touched; /* a bit for each context with cells */
    size_t first_word, end_word;
    size_t head_capacity;
    struct cn_summary_cell *summary; /* cell 0 is none */
    size_t summary_count, summary_capacity;
    uint32_t *summary_heads;
    double *numbers; /* of summary cells: scopes of the first statistic, then the next */
    size_t number_count, number_capacity;
};

/* Begin a thread. Contexts and metrics may have been added since the last one. */
void cn_sampled_values_begin(struct cn_sampled_values *values);

/* Make room for contexts added since the thread began. */
void cn_sampled_values_fit(struct cn_sampled_values *values);

/* Add a value. Fastest if the metrics of one context ascend. */
void cn_sampled_values_add(struct cn_sampled_values *values, uint32_t context,
                           uint32_t metric, double value);

/* Add a value in shares, up to the one with is_last. */
void cn_sampled_values_spread(struct cn_sampled_values *values,
                              const struct cn_sampled_share *shares, uint32_t metric,
                              bool is_moved, double value);

/* Propagate, write the result to `out` and add it to the summary. */
void cn_sampled_values_finish(struct cn_sampled_values *values,
                              struct cn_value_list *out);

/* Add the value of one more thread, in each scope, to the summary. */
void cn_sampled_values_summarise(struct cn_sampled_values *values, uint32_t context,
                                 uint32_t metric,
                                 const double of_scope[CN_SAMPLED_SCOPE_COUNT]);

/* The summary over all threads so far. */
void cn_sampled_values_summary(const struct cn_sampled_values *values,
                               struct cn_value_list *out);

void cn_sampled_values_done(struct cn_sampled_values *values);
void cn_value_list_add(struct cn_value_list *list, struct cn_value value);

#endif
