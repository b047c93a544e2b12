/* The trees of many tasks put together: nodes of the same path are one.
 *
 * Tasks are added in a fixed order, so that the result does not depend on who was
 * ready first. Below the root are the entry points, below them functions, and
 * between a function and what it calls the line of the call and the inlined
 * functions around it, where they are known.
 * Threads: one thread at a time; once numbered, any thread may read.
 */
#ifndef CN_ANALYZE_CCT_CCT_MERGE_H
#define CN_ANALYZE_CCT_CCT_MERGE_H

#include "analyze/cct/cct_names.h"
#include "analyze/cct/cct_task.h"

/* Keys: of an entry point, a child of the root, an enum cn_entry; below them the
 * number of a function, or with one of these bits that of an inlined function or of
 * a line. */
enum { CN_CCT_KEY_INLINED = 1 << 30 };
#define CN_CCT_KEY_LINE UINT32_C(0x80000000)

struct cn_cct_merged {
    struct cn_cct tree;
    struct cn_cct_names names;
    bool has_schedule; /* some task is known to have slept */

    /* Own time of each node, only where contexts are to be left out. */
    uint64_t *self_ns;
    size_t self_capacity;

    /* Once numbered. */
    uint32_t *ids;          /* by node: its context; that of the nearest one above that is
                                kept when it is not */
    uint32_t context_count; /* ids are below this; 0 is the global context */
};

/* The numbers that functions of one recording have in the merged names. */
struct cn_cct_functions {
    uint32_t *numbers; /* by function or schedule id: number + 1 */
};

void cn_cct_merged_init(struct cn_cct_merged *merged, const struct cn_cct_places *places);
void cn_cct_merged_done(struct cn_cct_merged *merged);

void cn_cct_functions_init(struct cn_cct_functions *functions,
                           const struct cn_recording *rec);
void cn_cct_functions_done(struct cn_cct_functions *functions);

/* Add a task's tree. Returns the merged node of each of its nodes, to be released
 * with free(). */
CN_CHECK bool cn_cct_merged_add(struct cn_cct_merged *merged,
                                struct cn_cct_functions *functions,
                                const struct cn_cct_task *task, uint32_t **nodes,
                                struct cn_error *err);

/* Remember the own time of a node, or of a task's nodes. */
void cn_cct_merged_weigh_node(struct cn_cct_merged *merged, cn_cct_id node,
                              uint64_t self_ns);
void cn_cct_merged_weigh(struct cn_cct_merged *merged, const struct cn_cct_costs *costs,
                         const uint32_t *nodes, size_t count);
void cn_cct_merged_weigh_open(struct cn_cct_merged *merged,
                              const struct cn_cct_task *task, const uint32_t *nodes);

/* Give contexts their ids, in depth-first order. Those in which all tasks together
 * spent less than `min_ns` are left out. */
void cn_cct_merged_number(struct cn_cct_merged *merged, uint64_t min_ns);

static inline bool cn_cct_merged_keeps(const struct cn_cct_merged *merged, cn_cct_id node)
{
    return node == 0 || merged->ids[node] != merged->ids[merged->tree.links[node].parent];
}

#endif
