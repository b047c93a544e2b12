#include "analyze/calls/tree.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

void cn_call_tree_init(struct cn_call_tree *tree, const struct cn_recording *rec)
{
    *tree = (struct cn_call_tree){.rec = rec};
    tree->nodes = cn_grow(tree->nodes, 0, &tree->capacity, sizeof(*tree->nodes));
    tree->firsts = cn_grow(tree->firsts, 0, &tree->first_capacity, sizeof(*tree->firsts));
    tree->nodes[0] = (struct cn_graph_node){0};
    tree->firsts[0] = 0;
    tree->count = 1;
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
    cn_map_done(&tree->children);
    cn_call_ids_done(&tree->ids);
    *tree = (struct cn_call_tree){0};
}

const char *cn_graph_node_name(const struct cn_call_tree *tree,
                               const struct cn_graph_node *node, char *buffer)
{
    uint64_t address = cn_call_ids_address(&tree->ids, tree->rec, node->id);

    return cn_call_name(tree->rec, address ? CN_NONE : node->id, address, buffer);
}

static uint32_t add_child(struct cn_call_tree *tree, uint32_t parent, uint32_t id,
                          uint64_t address, uint64_t time_ns)
{
    uint32_t node = (uint32_t)tree->count;
    struct cn_graph_node *above;

    tree->nodes =
        cn_grow(tree->nodes, tree->count, &tree->capacity, sizeof(*tree->nodes));
    tree->firsts =
        cn_grow(tree->firsts, tree->count, &tree->first_capacity, sizeof(*tree->firsts));
    if (tree->extremes) {
        tree->extremes = cn_grow(tree->extremes, tree->count, &tree->extreme_capacity,
                                 sizeof(*tree->extremes));
        tree->extremes[tree->count] = no_extremes;
    }
    tree->firsts[tree->count] = tree->order | node;
    tree->nodes[tree->count++] = (struct cn_graph_node){
        .parent = parent, .id = id, .address = address, .first_ns = time_ns};
    above = &tree->nodes[parent];
    if (above->last_child)
        tree->nodes[above->last_child].next = node;
    else
        above->first_child = node;
    above->last_child = node;
    return node;
}

uint32_t cn_call_tree_child(struct cn_call_tree *tree, uint32_t parent, uint32_t id,
                            uint64_t address, uint64_t time_ns)
{
    uint64_t key = (uint64_t)parent << 32 | id;
    uint32_t node = tree->nodes[parent].recent;

    /* Loops call the same function again, sequences the next one: try both before the
     * map. */
    if (node && tree->nodes[node].id != id)
        node = tree->nodes[node].next ? tree->nodes[node].next
                                      : tree->nodes[parent].first_child;
    if (node == 0 || tree->nodes[node].id != id)
        node = cn_map_find(&tree->children, key, 0);
    if (node == 0) {
        node = add_child(tree, parent, id, address, time_ns);
        (void)cn_map_at(&tree->children, key, node);
    }
    tree->nodes[parent].recent = node;
    return node;
}

uint32_t cn_call_tree_child_like(struct cn_call_tree *tree, uint32_t parent,
                                 const struct cn_call_tree *from, uint32_t from_node)
{
    const struct cn_graph_node *node = &from->nodes[from_node];
    uint64_t address = cn_call_ids_address(&from->ids, from->rec, node->id);
    uint32_t id =
        address ? cn_call_ids_unknown(&tree->ids, tree->rec, address) : node->id;

    return cn_call_tree_child(tree, parent, id, node->address, UINT64_MAX);
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
    uint32_t at = from->nodes[from_node].first_child, into = node;

    /* Depth first; `into` mirrors the parent of `at`. */
    while (at) {
        uint32_t merged = cn_call_tree_child_like(tree, into, from, at);

        cn_call_tree_add(tree, merged, from, at, ahead_ns);
        if (from->nodes[at].first_child) {
            into = merged;
            at = from->nodes[at].first_child;
            continue;
        }
        while (at != from_node && !from->nodes[at].next) {
            at = from->nodes[at].parent;
            if (at != from_node)
                into = tree->nodes[into].parent;
        }
        at = at != from_node ? from->nodes[at].next : 0;
    }
}

struct sibling {
    uint64_t first_ns, first;
    uint32_t node;
};

void cn_call_tree_sort(struct cn_call_tree *tree)
{
    struct sibling *siblings = NULL;
    size_t capacity = 0;

    for (uint32_t parent = 0; parent < tree->count; parent++) {
        size_t count = 0;

        for (uint32_t at = tree->nodes[parent].first_child; at;
             at = tree->nodes[at].next) {
            siblings = cn_grow(siblings, count, &capacity, sizeof(*siblings));
            siblings[count++] =
                (struct sibling){tree->nodes[at].first_ns, tree->firsts[at], at};
        }
        if (count < 2)
            continue;
        CN_SORT(siblings, count, CN_UP(struct sibling, first_ns),
                CN_UP(struct sibling, first));
        for (size_t i = 0; i < count; i++)
            tree->nodes[siblings[i].node].next = i + 1 < count ? siblings[i + 1].node : 0;
        tree->nodes[parent].first_child = siblings[0].node;
        tree->nodes[parent].last_child = siblings[count - 1].node;
    }
    free(siblings);
}
