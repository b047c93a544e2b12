/* Calling context tree: one node for each distinct path of calls. Structure only; costs are
 * in costs.h.
 *
 * Nodes are numbered from the root, 0, in the order in which they are added, parents before
 * children, so data of nodes fits in plain arrays. The caller defines the keys.
 * Threads: one thread at a time; any thread may read a finished tree, with cn_cct_child()
 * through a view of its own.
 */
#ifndef CN_ANALYZE_CCT_TREE_H
#define CN_ANALYZE_CCT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

typedef uint32_t cn_cct_id;

/* No key is this. */
#define CN_CCT_NO_KEY UINT32_MAX

struct cn_cct_link {
    cn_cct_id parent;      /* the root is its own */
    cn_cct_id first_child; /* the newest, or after cn_cct_sort() the oldest; 0: none */
    cn_cct_id next;        /* sibling; 0: none */
    uint32_t key;
    uint32_t child_count; /* exact up to the limit for linear search */
};

struct cn_cct {
    struct cn_cct_link *links;
    size_t count, capacity;
    cn_cct_id *cache;    /* of children, by hash of parent and key; 0: free */
    unsigned cache_bits; /* its size is 1 << cache_bits */
    struct cn_map wide;  /* children of nodes with many, by parent << 32 | key */
    bool is_full;        /* a node could not be added: ids have 32 bits */
    bool is_view;        /* of another tree: nothing can be added */
};

void cn_cct_init(struct cn_cct *tree);
void cn_cct_done(struct cn_cct *tree);

/* A tree from the links of a former one; takes ownership of them. */
void cn_cct_restore(struct cn_cct *tree, struct cn_cct_link *links, size_t count);

/* Release memory that only a growing tree needs. Afterwards only views may look for
 * children. */
void cn_cct_trim(struct cn_cct *tree);

/* A view of a tree, to be read with cn_cct_child() by another thread. It borrows the original,
 * which must not change; a missing child makes the view full. */
void cn_cct_view_init(struct cn_cct *view, const struct cn_cct *tree);

/* The child of `parent` that is not in the cache, added when there is none. A full tree
 * returns the parent. */
cn_cct_id cn_cct_child_slowly(struct cn_cct *tree, cn_cct_id parent, uint32_t key);

static inline size_t cn_cct_slot(const struct cn_cct *tree, cn_cct_id parent,
                                 uint32_t key)
{
    uint64_t mixed = ((uint64_t)parent << 32 | key) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)((mixed ^ mixed << 32) >> (64 - tree->cache_bits));
}

/* The child of `parent` with this key, if it is in the cache; else 0. */
static inline cn_cct_id cn_cct_find_cached(const struct cn_cct *tree, cn_cct_id parent,
                                           uint32_t key)
{
    cn_cct_id id = tree->cache[cn_cct_slot(tree, parent, key)];

    /* A free slot is the root, which has CN_CCT_NO_KEY. */
    return tree->links[id].key == key && tree->links[id].parent == parent ? id : 0;
}

/* The child of `parent` with this key, added when there is none. */
static inline cn_cct_id cn_cct_child(struct cn_cct *tree, cn_cct_id parent, uint32_t key)
{
    cn_cct_id id = cn_cct_find_cached(tree, parent, key);

    return id != 0 ? id : cn_cct_child_slowly(tree, parent, key);
}

/* The nearest node with this key from `node` up to the root; 0 when there is none. */
cn_cct_id cn_cct_find_above(const struct cn_cct *tree, cn_cct_id node, uint32_t key);

/* Sort children in the order in which they were added. Nothing can be added afterwards. */
void cn_cct_sort(struct cn_cct *tree);

/* The node after `node` in depth-first order of a sorted tree; 0 after the last one. */
cn_cct_id cn_cct_after(const struct cn_cct *tree, cn_cct_id node);

#endif
