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

/* Encoding of a merged tree as a message: names first, then the nodes that use them.
 *
 *   u32 has_waits, u32 has_times
 *   u64 count, then for each: modules (path, build id), files (path),
 *   functions (name, module, offset, file, line), lines (file, line),
 *   nodes except the root (parent, key, and with has_times the self time)
 *
 * Numbers in a message are those of the sender; decoding translates them. */

void cn_cct_merged_encode(const struct cn_cct_merged *merged, struct cn_text *message);

/* Merge the tree of a message. Returns the merged node of each of its nodes, to be released
 * with free(). After a failure some nodes may have been added. */
CN_CHECK bool cn_cct_merged_decode(struct cn_cct_merged *merged, struct cn_bytes message,
                                   uint32_t **nodes, size_t *count, struct cn_error *err);

#endif
