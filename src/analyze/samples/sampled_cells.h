/* The summary over threads that several processes have, with the sums taken in the
 * order of threads, as one process takes them.
 *
 * Sums of floating-point numbers depend on their order, so ranks must not add up what
 * they have and then put sums together. Instead each rank is in charge of some of the
 * contexts: while profiles are analysed, what they have in a context is put aside for
 * the rank in charge, which then goes through it rank by rank, that is in the order of
 * profiles. Rank 0 collects the results.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_CELLS_H
#define CN_ANALYZE_SAMPLES_SAMPLED_CELLS_H

#include "analyze/samples/sampled_values.h"
#include "base/files/spool.h"
#include "base/run/ranks.h"

struct cn_sampled_cells;

struct cn_sampled_cells *cn_sampled_cells_new(struct cn_ranks *ranks,
                                              struct cn_spool *spool);
void cn_sampled_cells_free(struct cn_sampled_cells *cells);

/* Put aside what one thread has of a metric in a context. */
void cn_sampled_cells_add(struct cn_sampled_cells *cells, uint32_t context,
                          uint32_t metric, const double of_scope[CN_SAMPLED_SCOPE_COUNT]);

/* When all ranks have put everything aside: the whole summary on rank 0, nothing on the
 * others. `values` is where this rank sums up. */
CN_CHECK bool cn_sampled_cells_summary(struct cn_sampled_cells *cells,
                                       struct cn_sampled_values *values,
                                       struct cn_value_list *out, struct cn_error *err);

#endif
