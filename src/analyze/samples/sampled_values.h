/* The values of one thread, carried up the context tree, and what all threads make
 * together.
 *
 * For each thread: begin, add the values as measured, finish. What comes out is
 * sorted by (context, id), and has been added to the summary.
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

/* The same over all threads; its numbers are in `sums`. */
struct cn_summary_cell {
    uint32_t next, metric;
    size_t numbers; /* place of its first number */
};

/* Values being collected; grows as needed. */
struct cn_value_list {
    struct cn_value *values;
    size_t count, capacity;
    uint32_t context_count;
};

struct cn_sampled_cells;

struct cn_sampled_values {
    struct cn_sampled_cells *aside; /* NULL: values are added to the summary at once;
                                       else put aside there */
    const struct cn_sampled_contexts *contexts;
    const struct cn_sampled_metrics *metrics;
    bool is_hpcprof_compatible;
    struct cn_sampled_cell *cells; /* cell 0 is none */
    size_t cell_count, cell_capacity;
    uint32_t last_context, last_cell; /* that was added to; cell 0: none */
    uint32_t *heads;   /* first cell of each context; all 0 between threads */
    uint64_t *touched; /* a bit for each context that has cells */
    size_t first_word, end_word;
    size_t head_capacity;
    struct cn_summary_cell *summary; /* cell 0 is none */
    size_t summary_count, summary_capacity;
    uint32_t *summary_heads;
    double *numbers; /* of summary cells: scopes of the first statistic, then the next */
    size_t number_count, number_capacity;
};

/* The contexts and metrics may have grown since the last thread. */
void cn_sampled_values_begin(struct cn_sampled_values *values);

/* Room for contexts that are new since the thread began. */
void cn_sampled_values_fit(struct cn_sampled_values *values);

/* Values of one context should come with metrics in ascending order: that is
 * fastest. */
void cn_sampled_values_add(struct cn_sampled_values *values, uint32_t context,
                           uint32_t metric, double value);

/* Add the shares of a value, the last of which says so. */
void cn_sampled_values_spread(struct cn_sampled_values *values,
                              const struct cn_sampled_share *shares, uint32_t metric,
                              bool is_moved, double value);

/* Propagate, put the result into `out` and add it to the summary. */
void cn_sampled_values_finish(struct cn_sampled_values *values,
                              struct cn_value_list *out);

/* Add to the summary what one more thread has of a metric in a context. */
void cn_sampled_values_summarise(struct cn_sampled_values *values, uint32_t context,
                                 uint32_t metric,
                                 const double of_scope[CN_SAMPLED_SCOPE_COUNT]);

/* The summary over all threads so far. */
void cn_sampled_values_summary(const struct cn_sampled_values *values,
                               struct cn_value_list *out);

void cn_sampled_values_done(struct cn_sampled_values *values);
void cn_value_list_add(struct cn_value_list *list, struct cn_value value);

#endif
