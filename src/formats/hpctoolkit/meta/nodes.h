/* The contexts of a meta.db: lists of nodes of any length, each with the place of the list of
 * its children.
 * Threads: one thread at a time for each walk.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_NODES_H
#define CN_FORMATS_HPCTOOLKIT_META_NODES_H

#include "formats/hpctoolkit/meta/shapes.h"

struct cn_context;

/* A record of a context, with the records that follow it. */
struct cn_hpc_node {
    uint64_t len; /* in the file */
    uint64_t children_off, children_len;
    uint32_t id;
    uint8_t relation, kind; /* as in the model, or values of later versions */
    uint16_t propagation;
    unsigned flags; /* as in the file */
    bool has_function, has_source, has_point;
    bool has_surplus; /* more words than the flags need */
    uint64_t function_off, file_off, module_off, offset;
    uint32_t line;

    size_t callee_len; /* prototype: how it was called; 0: it was not */
    bool has_caller;
    uint64_t caller_file_off;
};

enum cn_hpc_node_state {
    CN_HPC_NODE_BAD,   /* the list ends here */
    CN_HPC_NODE_SHORT, /* too short for its flags: what they announce is missing */
    CN_HPC_NODE_GOOD,
};

/* Decode the node at the start of `rest`, what is left of its list. With a message unless the
 * node is good. */
typedef enum cn_hpc_node_state (*cn_hpc_node_fn)(struct cn_bytes rest,
                                                 struct cn_hpc_node *out,
                                                 struct cn_error *err);

/* The records of a node, in the order of the file, as far as it has them. */
struct cn_hpc_node_layouts {
    const struct cn_record_layout *context, *callee, *lexical, *function, *source, *point;
};

/* The context of a node, without `at`. Fails if a pointer leads to no record. */
CN_CHECK bool cn_hpc_node_context(const struct cn_hpc_meta *meta,
                                  const struct cn_hpc_node *node, struct cn_context *out,
                                  struct cn_error *err);

/* The offset of the contexts that have no record of an entry point. */
uint64_t cn_hpc_roots_off(const struct cn_hpc_item *head);

/* Visit all nodes, after cn_hpc_walk_section() of the contexts. `index` is that of the node in
 * the tree or in its list, as the generation numbers them. False if visit() returned false, or
 * at damage. */
typedef bool (*cn_hpc_node_visit_fn)(void *arg, const struct cn_hpc_node *node,
                                     uint64_t off, uint64_t index);
CN_CHECK bool cn_hpc_walk_nodes(struct cn_hpc_walk *walk, cn_hpc_node_visit_fn visit,
                                struct cn_error *err);

#endif
