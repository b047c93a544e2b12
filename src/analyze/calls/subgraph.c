/* The part of a call graph below one function. */

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/graph.h"
#include "base/alloc.h"

static void add_call(struct cn_call_subgraph *sub, const struct cn_call_tree *tree,
                     uint32_t node, size_t *capacity)
{
    const struct cn_graph_node *from = &tree->nodes[node];
    /* Functions of that name are one node, in whatever module. */
    uint32_t known = cn_call_tree_first(&sub->tree, 0);
    uint32_t top = known ? known : cn_call_tree_child_like(&sub->tree, 0, tree, node);

    CN_PUSH(sub->backtraces, sub->backtrace_count, *capacity,
            (struct cn_graph_backtrace){
                .node = node, .calls = from->calls, .total_ns = from->total_ns});
    cn_call_tree_add(&sub->tree, top, tree, node, 0);
    cn_call_tree_merge(&sub->tree, top, tree, node, 0);
}

bool cn_call_subgraph_build(struct cn_call_subgraph *sub, const struct cn_call_tree *tree,
                            uint32_t session, const char *name)
{
    char buffer[CN_CALL_NAME_MAX];
    size_t capacity = 0;
    uint32_t at = cn_call_tree_first(tree, session);

    *sub = (struct cn_call_subgraph){0};
    cn_call_tree_init(&sub->tree, tree->rec);
    if (tree->extremes)
        cn_call_tree_count_extremes(&sub->tree);
    while (at) {
        bool matches = strcmp(cn_call_tree_name(tree, at, buffer), name) == 0;

        if (matches)
            add_call(sub, tree, at, &capacity);
        at = cn_tree_after(&tree->paths, session, at, matches);
    }
    cn_call_tree_sort(&sub->tree);
    if (sub->backtrace_count > 0)
        return true;
    cn_call_subgraph_done(sub);
    return false;
}

void cn_call_subgraph_done(struct cn_call_subgraph *sub)
{
    cn_call_tree_done(&sub->tree);
    free(sub->backtraces);
    *sub = (struct cn_call_subgraph){0};
}
