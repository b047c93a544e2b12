#include "analyze/calls/tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

void cn_call_tree_init(struct cn_call_tree *tree, const struct cn_recording *rec)
{
    *tree = (struct cn_call_tree){.rec = rec};
    cn_tree_init(&tree->paths);
    cn_call_tree_added(tree, 0, 0);
}

static const struct cn_graph_extremes no_extremes = {.total_min_ns = UINT64_MAX,
                                                     .self_min_ns = UINT64_MAX};

void cn_call_tree_count_extremes(struct cn_call_tree *tree)
{
    tree->extremes = cn_grow(NULL, 0, &tree->extreme_capacity, sizeof(*tree->extremes));
    tree->extremes[0] = no_extremes;
}

void cn_call_tree_done(struct cn_call_tree *tree)
{
    free(tree->extremes);
    free(tree->nodes);
    free(tree->firsts);
    cn_tree_done(&tree->paths);
    cn_call_ids_done(&tree->ids);
    *tree = (struct cn_call_tree){0};
}

const char *cn_call_tree_name(const struct cn_call_tree *tree, uint32_t node,
                              char *buffer)
{
    uint32_t id = cn_call_tree_id(tree, node);
    uint64_t address = cn_call_ids_address(&tree->ids, tree->rec, id);

    return cn_call_name(tree->rec, address ? CN_NONE : id, address, buffer);
}

void cn_call_tree_added(struct cn_call_tree *tree, uint64_t address, uint64_t time_ns)
{
    size_t node = tree->paths.count - 1;

    CN_GROW(tree->nodes, node, tree->capacity);
    CN_GROW(tree->firsts, node, tree->first_capacity);
    if (tree->extremes) {
        CN_GROW(tree->extremes, node, tree->extreme_capacity);
        tree->extremes[node] = no_extremes;
    }
    tree->firsts[node] = tree->order | node;
    tree->nodes[node] = (struct cn_graph_node){.address = address, .first_ns = time_ns};
}

uint32_t cn_call_tree_child_like(struct cn_call_tree *tree, uint32_t parent,
                                 const struct cn_call_tree *from, uint32_t from_node)
{
    uint32_t id = cn_call_tree_id(from, from_node);
    uint64_t address = cn_call_ids_address(&from->ids, from->rec, id);

    if (address)
        id = cn_call_ids_unknown(&tree->ids, tree->rec, address);
    return cn_call_tree_child(tree, parent, id, from->nodes[from_node].address,
                              UINT64_MAX);
}

void cn_call_tree_add(struct cn_call_tree *tree, uint32_t node,
                      const struct cn_call_tree *from, uint32_t from_node,
                      uint64_t ahead_ns)
{
    const struct cn_graph_node *other = &from->nodes[from_node];
    struct cn_graph_node *into = &tree->nodes[node];
    uint64_t first_ns = other->first_ns - ahead_ns;

    into->calls += other->calls;
    into->total_ns += other->total_ns;
    into->self_ns += other->self_ns;
    if (tree->extremes)
        cn_graph_extremes_add(&tree->extremes[node], &from->extremes[from_node]);
    if (other->first_ns != UINT64_MAX &&
        (first_ns < into->first_ns ||
         (first_ns == into->first_ns && from->firsts[from_node] < tree->firsts[node]))) {
        into->first_ns = first_ns;
        into->address = other->address;
        tree->firsts[node] = from->firsts[from_node];
    }
}

void cn_call_tree_merge(struct cn_call_tree *tree, uint32_t node,
                        const struct cn_call_tree *from, uint32_t from_node,
                        uint64_t ahead_ns)
{
    const struct cn_tree_link *links = from->paths.links;
    uint32_t above = from_node, into = node;

    /* `into` mirrors `above`. */
    for (uint32_t at = links[from_node].first_child; at;
         at = cn_tree_after(&from->paths, from_node, at, false)) {
        for (; above != links[at].parent; above = links[above].parent)
            into = cn_call_tree_parent(tree, into);
        above = at;
        into = cn_call_tree_child_like(tree, into, from, at);
        cn_call_tree_add(tree, into, from, at, ahead_ns);
    }
}

struct sibling {
    uint64_t first_ns, first;
    uint32_t node;
};

void cn_call_tree_sort(struct cn_call_tree *tree)
{
    struct cn_tree_link *links = tree->paths.links;
    struct sibling *siblings = NULL;
    size_t capacity = 0;

    for (uint32_t parent = 0; parent < tree->paths.count; parent++) {
        size_t count = 0;

        for (uint32_t at = links[parent].first_child; at; at = links[at].next) {
            CN_PUSH(siblings, count, capacity,
                    (struct sibling){tree->nodes[at].first_ns, tree->firsts[at], at});
        }
        CN_SORT(siblings, count, CN_DOWN(struct sibling, first_ns),
                CN_DOWN(struct sibling, first));
        links[parent].first_child = 0;
        for (size_t i = 0; i < count; i++) {
            links[siblings[i].node].next = links[parent].first_child;
            links[parent].first_child = siblings[i].node;
        }
    }
    free(siblings);
}
