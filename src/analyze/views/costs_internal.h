/* What the files of costs share: reading the inputs of contexts and evaluating columns.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_COSTS_INTERNAL_H
#define CN_ANALYZE_VIEWS_COSTS_INTERNAL_H

#include "analyze/views/costs.h"

/* True if the values of an input come from the summary profile. */
bool cn_cost_input_is_summary(const struct cn_costs *costs,
                              const struct cn_cost_input *input);

/* True if profiles of threads must be read; and, column by column. */
bool cn_costs_need_threads(const struct cn_costs *costs);
bool cn_costs_need_tallies(const struct cn_costs *costs);

/* Add a value of an input to one that may be absent. */
static inline void cn_cost_add(const struct cn_cost_input *input, double *sum,
                               double value)
{
    bool is_absent = *sum != *sum;

    if (!is_absent && input->combine == CN_COMBINE_SUM)
        *sum += value;
    else if (is_absent ||
             (input->combine == CN_COMBINE_MIN ? value < *sum : value > *sum))
        *sum = value;
}

/* Count the value that each column has in one thread; `tallies` has one per column. */
void cn_cost_tally_thread(const struct cn_costs *costs, const double *thread_inputs,
                          struct cn_cost_tally *tallies);

/* One column's value; `tallies` as below. */
double cn_cost_column_value(const struct cn_costs *costs, size_t column,
                            const double *inputs, const struct cn_cost_tally *tallies);

/* The columns' values from summed inputs and, where columns need them, tallies. */
void cn_cost_columns(const struct cn_costs *costs, const double *inputs,
                     const struct cn_cost_tally *tallies, double *values);

/* From metric ids to the inputs that they feed, in the summary or in threads' profiles. */
struct cn_cost_routes {
    int16_t first[UINT16_MAX + 1]; /* input, or -1 */
    int16_t next[CN_COST_INPUT_MAX];
};

#endif
