/* The inputs of all contexts, summed over threads, range by range: memory
 * does not grow with the number of contexts, and processors share the ranges.
 *
 * Each range reads its slice of every plane, so a context's values are added up in the order
 * of threads, whatever the number of workers.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_COSTS_BLOCKS_H
#define CN_ANALYZE_VIEWS_COSTS_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/progress.h"

struct cn_context_index;
struct cn_costs;

struct cn_cost_block {
    uint32_t first; /* context id */
    uint32_t count;
    const double *inputs; /* [context][input], NAN where absent */
};

/* The costs->thread_step with which about `thread_max` threads are read. 0 where no more than
 * `thread_many` would be read without it. */
uint32_t cn_costs_choose_step(const struct cn_costs *costs, uint32_t thread_max,
                              uint32_t thread_many);

/* One call a range, in the order of context ids. */
typedef void (*cn_cost_block_fn)(void *arg, const struct cn_cost_block *block);

/* Visit all contexts below `id_limit`; with costs->thread_step, estimates. When a plane is damaged, what comes before the damage
 * is visited, then it fails. */
CN_CHECK bool cn_costs_visit_blocks(struct cn_costs *costs, size_t id_limit,
                                    cn_cost_block_fn visit, void *arg,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

/* The values of contexts that have some, by context id. */
struct cn_context_costs {
    size_t *start; /* those of context i begin here and end where the next ones begin */
    uint16_t *inputs;
    double *values;
    size_t count, id_limit;
};

/* After a failure it has what could be read; release it in any case. */
CN_CHECK bool cn_context_costs_build(struct cn_context_costs *out, struct cn_costs *costs,
                                     size_t id_limit, const struct cn_progress *progress,
                                     struct cn_error *err);
void cn_context_costs_done(struct cn_context_costs *costs);
uint64_t cn_context_costs_size(const struct cn_context_costs *costs);

/* One column for each node of an index, NAN where there is no value. Only for columns that
 * are sums over threads. */
CN_CHECK bool cn_costs_column_of_nodes(struct cn_costs *costs,
                                       const struct cn_context_index *index,
                                       size_t column, double *out,
                                       const struct cn_progress *progress,
                                       struct cn_error *err);

#endif
