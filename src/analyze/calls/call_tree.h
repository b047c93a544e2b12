/* How trees of calls grow; of use to call_graph only.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_TREE_H
#define CN_ANALYZE_CALLS_CALL_TREE_H

#include "analyze/calls/call_graph.h"

void cn_call_tree_init(struct cn_call_tree *tree, const struct cn_recording *rec);
void cn_call_tree_done(struct cn_call_tree *tree);

/* The child of `parent` for `id`, added when there is none. */
uint32_t cn_call_tree_child(struct cn_call_tree *tree, uint32_t parent, uint32_t id,
                            uint64_t address, uint64_t time_ns);

/* Add everything below `from_node` of another tree below `node`. */
void cn_call_tree_merge(struct cn_call_tree *tree, uint32_t node,
                        const struct cn_call_tree *from, uint32_t from_node);

/* Put children into the order in which they were first called. */
void cn_call_tree_sort(struct cn_call_tree *tree);

#endif
