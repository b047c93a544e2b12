/* The trees of several processes put together: the contexts get the ids that one
 * process alone would have given them.
 *
 * Each rank has merged the trees of its own tasks, lower ranks those of earlier tasks.
 * Trees go up pairwise, lower before higher ranks, which is the order of tasks; rank 0
 * then numbers the contexts, and the ids go back the same way: each rank learns those
 * of its own nodes. Only rank 0 has the whole tree.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_CCT_RANKS_H
#define CN_ANALYZE_CCT_CCT_RANKS_H

#include "analyze/cct/cct_merge.h"

struct cn_ranks;

/* As cn_cct_merged_number(), called by all ranks. */
CN_CHECK bool cn_cct_merged_number_together(struct cn_cct_merged *merged,
                                            struct cn_ranks *ranks, uint64_t min_ns,
                                            struct cn_error *err);

#endif
