/* How many values of each metric the contexts of a database have: the statistics over its
 * threads count them.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_CELLS_H
#define CN_ANALYZE_SAMPLES_CELLS_H

#include "analyze/samples/sum.h"
#include "model/contexts/database.h"

/* Make the list, which the caller releases with free(). Fails if numbers of another
 * process are no counts. */
CN_CHECK bool cn_sampled_cells_list(struct cn_cells *cells,
                                    const struct cn_sampled_sum *sum,
                                    const struct cn_sampled_sum_rules *rules,
                                    struct cn_error *err);

/* In messages to other processes; limits of contexts are not checked. */
void cn_sampled_cells_encode(const struct cn_cells *cells, struct cn_text *message);
CN_CHECK bool cn_sampled_cells_decode(struct cn_cells *cells, struct cn_bytes from,
                                      struct cn_error *err);

#endif
