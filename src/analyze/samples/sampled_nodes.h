/* Where the nodes of a profile lie in the context tree.
 *
 * Zero-initialised means empty; used again for the next profile.
 * Threads: one thread at a time; reading from any while nobody places.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_NODES_H
#define CN_ANALYZE_SAMPLES_SAMPLED_NODES_H

#include "analyze/samples/sampled_contexts.h"
#include "analyze/samples/sampled_reach.h"
#include "base/text.h"

struct cn_sampled_node_contexts {
    uint32_t first, last; /* the outermost and the innermost that the node made; of a
                             node that is spread: CN_NONE, and its first share */
    uint32_t sampled;     /* where samples of the node are shown; CN_NONE: nowhere */
};

struct cn_sampled_nodes {
    struct cn_sampled_node_contexts *list;
    size_t capacity;
    struct cn_text mapped_id; /* the module list that `modules` belongs to */
    size_t mapped_folder;
    uint32_t *modules; /* of the profile -> of the measurements; CN_NONE: not used yet */
    size_t module_count, module_capacity;
    struct cn_sampled_reach reach; /* of nodes whose callers are not known */
};

/* Find the modules that nodes of profile number `index` lie in. */
CN_CHECK bool cn_sampled_nodes_check(struct cn_sampled_nodes *nodes,
                                     struct cn_measurements *measurements, size_t index,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* Put all nodes into the tree. */
CN_CHECK bool cn_sampled_nodes_place(struct cn_sampled_nodes *nodes,
                                     struct cn_sampled_contexts *contexts,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

void cn_sampled_nodes_done(struct cn_sampled_nodes *nodes);

#endif
