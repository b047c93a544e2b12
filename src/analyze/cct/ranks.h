/* Numbering of contexts over several processes: ids are those that one process would give.
 *
 * Each rank merges the trees of its own tasks, lower ranks have the earlier tasks. Trees are
 * sent up pairwise and merged lower rank first, which is the order of tasks. Rank 0 numbers
 * the contexts; the ids are sent back the same way, to each rank those of its own nodes. Only
 * rank 0 has the whole tree.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_RANKS_H
#define CN_ANALYZE_CCT_RANKS_H

#include "analyze/cct/merge.h"

struct cn_ranks;

/* cn_cct_merged_number(), called by all ranks together. */
CN_CHECK bool cn_cct_merged_number_together(struct cn_cct_merged *merged,
                                            struct cn_ranks *ranks, uint64_t min_ns,
                                            struct cn_error *err);

#endif
