/* Who called whom: one node for each distinct path of calls, a tree for each
 * session.
 *
 *     cn_call_graph_build(&graph, &query, workers, err)
 *     for each graph.sessions[i]: walk from its root by first_child and next
 *     cn_call_graph_done(&graph);
 *
 * Functions of a module with the same name under the same node are one node.
 * Children are in the order in which they were first called. What a forked child
 * does goes on below the calls it was forked in.
 * Threads: one thread at a time; uses `workers` threads of its own.
 */
#ifndef CN_ANALYZE_CALLS_CALL_GRAPH_H
#define CN_ANALYZE_CALLS_CALL_GRAPH_H

#include "analyze/calls/call_ids.h"
#include "analyze/calls/call_merge.h"

struct cn_graph_node {
    uint32_t parent;                        /* 0, the root of everything, is its own */
    uint32_t first_child, last_child, next; /* 0: none */
    uint32_t recent;                        /* the child that was called last */
    uint32_t id;      /* of the function, as cn_call_ids_of() has it */
    uint64_t address; /* of the first call */
    uint64_t calls;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t first_ns; /* when it was first called */
};

struct cn_call_tree {
    const struct cn_recording *rec;
    struct cn_graph_node *nodes; /* 0 is the root; its children are sessions */
    size_t count, capacity;
    struct cn_map children; /* by parent << 32 | id */
    struct cn_call_ids ids;
};

struct cn_call_graph {
    struct cn_call_tree tree;
    struct cn_call_damages damages;
};

/* With `apart`, a forked child starts at the top of its session instead of where its
 * parent was. */
CN_CHECK bool cn_call_graph_build(struct cn_call_graph *graph,
                                  const struct cn_call_query *query, unsigned workers,
                                  bool apart, struct cn_error *err);
void cn_call_graph_done(struct cn_call_graph *graph);

/* The tree below all outermost calls of a function, and where it was called from. */
struct cn_graph_backtrace {
    uint32_t node; /* in the whole tree: the call itself */
    uint64_t calls, total_ns;
};
struct cn_call_subgraph {
    struct cn_call_tree tree; /* the root's only child is the function */
    struct cn_graph_backtrace *backtraces;
    size_t backtrace_count;
};

/* What is below `session`, a child of the root, for functions called `name`. False
 * when it was never called. */
bool cn_call_subgraph_build(struct cn_call_subgraph *sub, const struct cn_call_tree *tree,
                            uint32_t session, const char *name);
void cn_call_subgraph_done(struct cn_call_subgraph *sub);

/* The name of a node's function. `buffer`: see cn_call_name(). */
const char *cn_graph_node_name(const struct cn_call_tree *tree,
                               const struct cn_graph_node *node, char *buffer);

#endif
