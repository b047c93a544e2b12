/* The contexts of the nodes of a profile.
 *
 * begin() finds those that other profiles had before; check() and place() add the rest.
 * Zero-initialised means empty; reused for the next profile.
 * Threads: cn_sampled_nodes_begin() and _sampled() from any thread, each with its own nodes;
 * the rest as cn_sampled_contexts.
 */
#ifndef CN_ANALYZE_SAMPLES_NODES_H
#define CN_ANALYZE_SAMPLES_NODES_H

#include "analyze/samples/contexts.h"
#include "analyze/samples/reach.h"
#include "base/text.h"

struct cn_sampled_node_contexts {
    uint32_t first, last; /* the outermost and the innermost context of the node; of a
                             spread node: CN_NONE, and its first share */
    uint32_t sampled;     /* the context of its samples; CN_NONE: none */
};

struct cn_sampled_nodes {
    struct cn_sampled_node_contexts *list;
    size_t capacity;
    size_t placed_count;      /* the first nodes, which have contexts */
    struct cn_text mapped_id; /* of the module list that `modules` translates */
    size_t mapped_folder;
    uint32_t *modules; /* of the profile -> of the measurements; CN_NONE: not used yet */
    size_t module_count, module_capacity;
    struct cn_sampled_reach reach; /* of nodes with unknown callers */
};

/* Begin a profile: find the contexts of its first nodes, up to one that is not known. */
void cn_sampled_nodes_begin(struct cn_sampled_nodes *nodes,
                            const struct cn_sampled_contexts *contexts,
                            const struct cn_sampled_profile *profile);

/* Find the modules of the nodes of profile number `index`. */
CN_CHECK bool cn_sampled_nodes_check(struct cn_sampled_nodes *nodes,
                                     struct cn_measurements *measurements, size_t index,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* Add all other nodes to the tree. */
CN_CHECK bool cn_sampled_nodes_place(struct cn_sampled_nodes *nodes,
                                     struct cn_sampled_contexts *contexts,
                                     const struct cn_sampled_profile *profile,
                                     struct cn_error *err);

/* Find the contexts of samples, when all nodes are placed. */
void cn_sampled_nodes_find_sampled(struct cn_sampled_nodes *nodes,
                                   const struct cn_sampled_contexts *contexts,
                                   const struct cn_sampled_profile *profile);

void cn_sampled_nodes_done(struct cn_sampled_nodes *nodes);

#endif
