/* Trees of calls: one node per distinct path of calls, after cn_call_tree_sort() children in the
 * order in which they were first called. Nodes are added and merged by graph.h; readers walk
 * from the root, 0, by cn_call_tree_first() and cn_call_tree_next().
 *
 * The tree owns its nodes.
 * Threads: one thread at a time; a finished tree is immutable.
 */
#ifndef CN_ANALYZE_CALLS_TREE_H
#define CN_ANALYZE_CALLS_TREE_H

#include "analyze/calls/ids.h"
#include "base/tree.h"

struct cn_graph_node {
    uint64_t address; /* of the first call */
    uint64_t calls;
    uint64_t total_ns;
    uint64_t self_ns;
    uint64_t first_ns; /* when it was first called; UINT64_MAX: counted in another tree */
};

/* The shortest and the longest call of a node; the shortest is UINT64_MAX if none returned. */
struct cn_graph_extremes {
    uint64_t total_min_ns, total_max_ns, self_min_ns, self_max_ns;
};

struct cn_call_tree {
    const struct cn_recording *rec;
    struct cn_tree
        paths; /* keys: cn_call_ids_of(); the children of the root are sessions */
    struct cn_graph_node *nodes;
    size_t capacity;
    uint64_t *firsts; /* by node: the order of first calls at the same time */
    size_t first_capacity;
    struct cn_graph_extremes *extremes; /* by node; NULL unless they are counted */
    size_t extreme_capacity;
    uint64_t order; /* of calls from now on; nodes are added to it */
    struct cn_call_ids ids;
};

void cn_call_tree_init(struct cn_call_tree *tree, const struct cn_recording *rec);
void cn_call_tree_done(struct cn_call_tree *tree);

/* Also count the shortest and longest calls. The tree must be empty. */
void cn_call_tree_count_extremes(struct cn_call_tree *tree);

static inline void cn_graph_extremes_add(struct cn_graph_extremes *extremes,
                                         const struct cn_graph_extremes *other)
{
    if (other->total_min_ns < extremes->total_min_ns)
        extremes->total_min_ns = other->total_min_ns;
    if (other->total_max_ns > extremes->total_max_ns)
        extremes->total_max_ns = other->total_max_ns;
    if (other->self_min_ns < extremes->self_min_ns)
        extremes->self_min_ns = other->self_min_ns;
    if (other->self_max_ns > extremes->self_max_ns)
        extremes->self_max_ns = other->self_max_ns;
}

/* Count the time of a call that ended; `is_open`: without an exit. The shortest call is one
 * with an exit. */
static inline void cn_call_tree_end(struct cn_call_tree *tree, uint32_t node,
                                    uint64_t total_ns, uint64_t self_ns, bool is_open)
{
    tree->nodes[node].total_ns += total_ns;
    tree->nodes[node].self_ns += self_ns;
    if (tree->extremes)
        cn_graph_extremes_add(
            &tree->extremes[node],
            &(struct cn_graph_extremes){is_open ? UINT64_MAX : total_ns, total_ns,
                                        is_open ? UINT64_MAX : self_ns, self_ns});
}

/* The id of a node's function, of cn_call_ids_of(); below the root that of a session. */
static inline uint32_t cn_call_tree_id(const struct cn_call_tree *tree, uint32_t node)
{
    return tree->paths.links[node].key;
}

static inline uint32_t cn_call_tree_parent(const struct cn_call_tree *tree, uint32_t node)
{
    return tree->paths.links[node].parent;
}

/* The first child of a node and the sibling after it; 0: there is none. */
static inline uint32_t cn_call_tree_first(const struct cn_call_tree *tree, uint32_t node)
{
    return tree->paths.links[node].first_child;
}

static inline uint32_t cn_call_tree_next(const struct cn_call_tree *tree, uint32_t node)
{
    return tree->paths.links[node].next;
}

/* The name of a node's function. `buffer`: see cn_call_name(). */
const char *cn_call_tree_name(const struct cn_call_tree *tree, uint32_t node,
                              char *buffer);

/* Make room for the node that was added last: its first call. */
void cn_call_tree_added(struct cn_call_tree *tree, uint64_t address, uint64_t time_ns);

/* The child of `parent` for `id`, added when there is none. */
static inline uint32_t cn_call_tree_child(struct cn_call_tree *tree, uint32_t parent,
                                          uint32_t id, uint64_t address, uint64_t time_ns)
{
    size_t known = tree->paths.count;
    uint32_t node = cn_tree_child(&tree->paths, parent, id);

    if (node == known)
        cn_call_tree_added(tree, address, time_ns);
    return node;
}

/* The child of `parent` that stands for a node of another tree, added when there is none. */
uint32_t cn_call_tree_child_like(struct cn_call_tree *tree, uint32_t parent,
                                 const struct cn_call_tree *from, uint32_t from_node);

/* Add the cost of a node of another tree, whose times are ahead by `ahead_ns`, to `node`. */
void cn_call_tree_add(struct cn_call_tree *tree, uint32_t node,
                      const struct cn_call_tree *from, uint32_t from_node,
                      uint64_t ahead_ns);

/* Add all nodes below `from_node` of another tree below `node`. */
void cn_call_tree_merge(struct cn_call_tree *tree, uint32_t node,
                        const struct cn_call_tree *from, uint32_t from_node,
                        uint64_t ahead_ns);

/* Sort children by the time of their first call. */
void cn_call_tree_sort(struct cn_call_tree *tree);

#endif
