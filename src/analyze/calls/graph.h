/* Call graph: who called whom, as a tree of calls for each session.
 *
 *     cn_call_graph_build(&graph, &query, workers, options, err)
 *     for (i = cn_call_tree_first(&graph.tree, 0); i; i = cn_call_tree_next(&graph.tree, i))
 *         ... session cn_call_tree_id(&graph.tree, i): walk by first_child and next ...
 *     cn_call_graph_done(&graph);
 *
 * Functions of a module with the same name under the same node are one node. The calls of
 * a forked child continue below the calls that were open in its parent.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_CALLS_GRAPH_H
#define CN_ANALYZE_CALLS_GRAPH_H

#include "analyze/calls/merge.h"
#include "analyze/calls/tree.h"

struct cn_call_graph {
    struct cn_call_tree tree;
    struct cn_call_damages damages;
};

struct cn_call_graph_options {
    bool
        is_apart; /* a forked child starts at the top of its session instead of below the calls
                    * of its parent */
    bool with_extremes; /* count the shortest and longest calls */
    uint64_t part_len; /* bytes of records in a part of a task; 0: as suits the workers */
};

/* The graph is to be released either way. */
CN_CHECK bool cn_call_graph_build(struct cn_call_graph *graph,
                                  const struct cn_call_query *query, unsigned workers,
                                  struct cn_call_graph_options options,
                                  struct cn_error *err);
void cn_call_graph_done(struct cn_call_graph *graph);

/* The tree below all outermost calls of a function, and the calls that led to it. */
struct cn_graph_backtrace {
    uint32_t node; /* in the whole tree: the call of the function */
    uint64_t calls, total_ns;
};
struct cn_call_subgraph {
    struct cn_call_tree tree; /* the root's only child is the function */
    struct cn_graph_backtrace *backtraces;
    size_t backtrace_count;
};

/* The functions called `name` below `session`, a child of the root. False when none was
 * called; then nothing is left to release. */
bool cn_call_subgraph_build(struct cn_call_subgraph *sub, const struct cn_call_tree *tree,
                            uint32_t session, const char *name);
void cn_call_subgraph_done(struct cn_call_subgraph *sub);

#endif
