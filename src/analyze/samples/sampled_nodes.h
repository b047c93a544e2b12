/* The contexts of the nodes of a profile.
 *
 * Zero-initialised means empty; reused for the next profile.
 * Threads: one thread at a time; any thread may read between calls.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_NODES_H
#define CN_ANALYZE_SAMPLES_SAMPLED_NODES_H

#include "analyze/samples/sampled_contexts.h"
#include "analyze/samples/sampled_reach.h"
#include "base/text.h"

struct cn_sampled_node_contexts {
    uint32_t first, last; /* the outermost and the innermost context of the node; of a
                             spread node: CN_NONE, and its first share */
    uint32_t sampled;     /* the context of its samples; CN_NONE: none */
};

struct cn_sampled_nodes {
    struct cn_sampled_node_contexts *list;
    size_t capacity;
    struct cn_text mapped_id; /* of the module list that `modules` translates */
    size_t mapped_folder;
    uint32_t *modules; /* of the profile -> of the measurements; CN_NONE: not used yet */
    size_t module_count, module_capacity;
    struct cn_sampled_reach reach; /* of nodes with unknown callers */
};

/* Find the modules of the nodes of profile number `index`. */
CN_CHECK bool cn_sampled_nodes_check(struct cn_sampled_nodes *nodes,
                                     struct cn_measurements *measurements, size_t index,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* Add all nodes to the tree. */
CN_CHECK bool cn_sampled_nodes_place(struct cn_sampled_nodes *nodes,
                                     struct cn_sampled_contexts *contexts,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

void cn_sampled_nodes_done(struct cn_sampled_nodes *nodes);

#endif
