/* Trees whose nodes are found, or added, by parent and key: one node for each distinct path of
 * keys. Structure only: data of nodes is in arrays of the caller.
 *
 * Nodes are numbered from the root, 0, in the order in which they are added, parents before
 * children. The caller defines the keys.
 * Threads: one thread at a time; any thread may read a finished tree, with cn_tree_child()
 * through a copy of its own, which borrows the nodes (cn_tree_borrow()).
 */
#ifndef CN_BASE_TREE_H
#define CN_BASE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* No key is this. */
#define CN_TREE_NO_KEY UINT32_MAX

struct cn_tree_link {
    uint32_t parent;      /* the root is its own */
    uint32_t first_child; /* the newest, or after cn_tree_sort() the oldest; 0: none */
    uint32_t next;        /* sibling; 0: none */
    uint32_t key;
    uint32_t child_count; /* exact up to the limit for linear search */
};

struct cn_tree {
    struct cn_tree_link *links;
    size_t count, capacity;
    uint32_t *cache;     /* of children, by hash of parent and key; 0: free */
    unsigned cache_bits; /* its size is 1 << cache_bits */
    struct cn_map wide;  /* children of nodes with many, by parent << 32 | key */
    bool is_full;        /* a node could not be added: ids have 32 bits */
    bool is_borrowed;    /* of another tree: nothing can be added */
};

void cn_tree_init(struct cn_tree *tree);
void cn_tree_done(struct cn_tree *tree); /* a zeroed tree is fine */

/* A tree from the links of a former one; takes ownership of them. */
void cn_tree_restore(struct cn_tree *tree, struct cn_tree_link *links, size_t count);

/* Release memory that only a growing tree needs. Afterwards only borrowed trees may look for
 * children. */
void cn_tree_trim(struct cn_tree *tree);

/* The same tree, to be read with cn_tree_child() by another thread. It borrows the original,
 * which must not change; a missing child makes it full. */
void cn_tree_borrow(struct cn_tree *out, const struct cn_tree *tree);

/* The child of `parent` that is not in the cache, added when there is none. A full tree
 * returns the parent. */
uint32_t cn_tree_child_slowly(struct cn_tree *tree, uint32_t parent, uint32_t key);

static inline size_t cn_tree_slot(const struct cn_tree *tree, uint32_t parent,
                                  uint32_t key)
{
    uint64_t mixed = ((uint64_t)parent << 32 | key) * UINT64_C(0x9e3779b97f4a7c15);

    return (size_t)((mixed ^ mixed << 32) >> (64 - tree->cache_bits));
}

/* The child of `parent` with this key, if it is in the cache; else 0. */
static inline uint32_t cn_tree_find_cached(const struct cn_tree *tree, uint32_t parent,
                                           uint32_t key)
{
    uint32_t id = tree->cache[cn_tree_slot(tree, parent, key)];

    /* A free slot is the root, which has CN_TREE_NO_KEY. */
    return tree->links[id].key == key && tree->links[id].parent == parent ? id : 0;
}

/* The child of `parent` with this key, added when there is none. */
static inline uint32_t cn_tree_child(struct cn_tree *tree, uint32_t parent, uint32_t key)
{
    uint32_t id = cn_tree_find_cached(tree, parent, key);

    return id != 0 ? id : cn_tree_child_slowly(tree, parent, key);
}

/* The child of `parent` with this key; 0 when there is none. */
uint32_t cn_tree_find(const struct cn_tree *tree, uint32_t parent, uint32_t key);

/* The nearest node with this key from `node` up to the root; 0 when there is none. */
uint32_t cn_tree_find_above(const struct cn_tree *tree, uint32_t node, uint32_t key);

/* Sort children in the order in which they were added. Nothing can be added afterwards. */
void cn_tree_sort(struct cn_tree *tree);

/* The node after `node` in depth-first order below `top`; 0 after the last one. `skips`: not
 * those below `node`. */
uint32_t cn_tree_after(const struct cn_tree *tree, uint32_t top, uint32_t node,
                       bool skips);

#endif
