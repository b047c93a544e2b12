/* The merged tree of all tasks: nodes of the same path are one.
 *
 * Tasks are added in a fixed order, so the result does not depend on scheduling. The children
 * of the root are entry points, their descendants functions; between a function and its
 * callee are the line of the call site and the inlined functions around it, where known.
 * Threads: one thread at a time; once numbered, any thread may read.
 */
#ifndef CN_ANALYZE_CCT_MERGE_H
#define CN_ANALYZE_CCT_MERGE_H

#include "analyze/cct/names.h"
#include "analyze/cct/task.h"

/* Keys: enum cn_entry for children of the root; else the number of a function, or with one
 * of these bits that of an inlined function or of a line. */
enum { CN_CCT_KEY_INLINED = 1 << 30 };
#define CN_CCT_KEY_LINE UINT32_C(0x80000000)

struct cn_cct_merged {
    struct cn_tree tree;
    struct cn_cct_names names;
    bool has_waits; /* a task waited: the node of its waiting is that of its call */

    /* Self time by node, only where short contexts are left out. */
    uint64_t *self_ns;
    size_t self_capacity;

    /* Once numbered. */
    uint32_t
        *ids; /* by node: its context; of a node that is left out, that of the nearest
                      context above */
    uint32_t context_count; /* ids are below this; 0 is the global context */
};

/* The numbers of one recording's functions in the merged names. */
struct cn_cct_functions {
    uint32_t *numbers; /* by function: number + 1 */
};

void cn_cct_merged_init(struct cn_cct_merged *merged,
                        const struct cn_cct_locations *locations);
void cn_cct_merged_done(struct cn_cct_merged *merged);

void cn_cct_functions_init(struct cn_cct_functions *functions,
                           const struct cn_recording *rec);
void cn_cct_functions_done(struct cn_cct_functions *functions);

/* Add the tree of a task. Returns the merged node of each of its nodes, to be released with
 * free(). */
CN_CHECK bool cn_cct_merged_add(struct cn_cct_merged *merged,
                                struct cn_cct_functions *functions,
                                const struct cn_cct_task *task, uint32_t **nodes,
                                struct cn_error *err);

/* Add the self time of a node, of a task's nodes, or of its open calls. */
void cn_cct_merged_weigh_node(struct cn_cct_merged *merged, cn_cct_id node,
                              uint64_t self_ns);
void cn_cct_merged_weigh(struct cn_cct_merged *merged, const struct cn_cct_costs *costs,
                         const uint32_t *nodes, size_t count);
void cn_cct_merged_weigh_open(struct cn_cct_merged *merged,
                              const struct cn_cct_task *task, const uint32_t *nodes);

/* Number contexts in depth-first order. Those with a total below `min_ns` are left out. */
void cn_cct_merged_number(struct cn_cct_merged *merged, uint64_t min_ns);

/* True if a node is a context of its own, not left out. */
static inline bool cn_cct_merged_is_context(const struct cn_cct_merged *merged,
                                            cn_cct_id node)
{
    return node == 0 || merged->ids[node] != merged->ids[merged->tree.links[node].parent];
}

#endif
