#include "base/tree.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
    LINEAR_MAX = 8, /* nodes with more children use the map */
    CACHE_BITS_MIN = 8,
    CACHE_SPARSE = 2,    /* a quarter is used: children that share a slot are slow */
    CACHE_BITS_MAX = 20, /* a larger one does not fit into the caches of the processor */
};

/* Allocate an empty cache. */
static void make_cache(struct cn_tree *tree, unsigned bits)
{
    free(tree->cache);
    tree->cache = cn_alloc((size_t)1 << bits, sizeof(*tree->cache));
    tree->cache_bits = bits;
}

void cn_tree_init(struct cn_tree *tree)
{
    *tree = (struct cn_tree){0};
    tree->links = cn_grow(NULL, 0, &tree->capacity, sizeof(*tree->links));
    tree->links[tree->count++] = (struct cn_tree_link){.key = CN_TREE_NO_KEY};
    make_cache(tree, CACHE_BITS_MIN);
}

void cn_tree_done(struct cn_tree *tree)
{
    free(tree->cache);
    if (!tree->is_borrowed) {
        free(tree->links);
        cn_map_done(&tree->wide);
    }
    *tree = (struct cn_tree){0};
}

static uint64_t wide_key(uint32_t parent, uint32_t key)
{
    return (uint64_t)parent << 32 | key;
}

uint32_t cn_tree_find(const struct cn_tree *tree, uint32_t parent, uint32_t key)
{
    uint32_t i = tree->links[parent].first_child;

    if (tree->links[parent].child_count > LINEAR_MAX)
        return cn_map_find(&tree->wide, wide_key(parent, key), 0);
    while (i != 0 && tree->links[i].key != key)
        i = tree->links[i].next;
    return i;
}

static void list_widely(struct cn_tree *tree, uint32_t parent)
{
    for (uint32_t i = tree->links[parent].first_child; i != 0; i = tree->links[i].next)
        (void)cn_map_at(&tree->wide, wide_key(parent, tree->links[i].key), i);
}

void cn_tree_restore(struct cn_tree *tree, struct cn_tree_link *links, size_t count)
{
    unsigned bits = CACHE_BITS_MIN;

    while (bits < CACHE_BITS_MAX && count > (size_t)1 << bits >> CACHE_SPARSE)
        bits++;
    *tree = (struct cn_tree){.links = links, .count = count, .capacity = count};
    make_cache(tree, bits);
    for (size_t i = 0; i < count; i++)
        if (links[i].child_count > LINEAR_MAX)
            list_widely(tree, (uint32_t)i);
}

void cn_tree_trim(struct cn_tree *tree)
{
    tree->links = cn_realloc(tree->links, tree->count, sizeof(*tree->links));
    tree->capacity = tree->count;
    free(tree->cache);
    tree->cache = NULL;
}

void cn_tree_borrow(struct cn_tree *out, const struct cn_tree *tree)
{
    *out = *tree;
    out->is_borrowed = true;
    out->cache = NULL;
    make_cache(out, tree->cache_bits);
}

static uint32_t add(struct cn_tree *tree, uint32_t parent, uint32_t key)
{
    uint32_t id = (uint32_t)tree->count;

    if (tree->count == UINT32_MAX || tree->is_borrowed) {
        tree->is_full = true;
        return parent;
    }
    CN_GROW(tree->links, tree->count, tree->capacity);
    struct cn_tree_link *above = &tree->links[parent];
    tree->links[tree->count++] =
        (struct cn_tree_link){.parent = parent, .next = above->first_child, .key = key};
    above->first_child = id;
    if (above->child_count > LINEAR_MAX)
        (void)cn_map_at(&tree->wide, wide_key(parent, key), id);
    else if (++above->child_count > LINEAR_MAX)
        list_widely(tree, parent);
    return id;
}

uint32_t cn_tree_child_slowly(struct cn_tree *tree, uint32_t parent, uint32_t key)
{
    uint32_t id = cn_tree_find(tree, parent, key);

    if (id == 0)
        id = add(tree, parent, key);
    if (tree->count > (size_t)1 << tree->cache_bits >> CACHE_SPARSE &&
        tree->cache_bits < CACHE_BITS_MAX)
        make_cache(tree, tree->cache_bits + 1);
    tree->cache[cn_tree_slot(tree, parent, key)] = id;
    return id;
}

uint32_t cn_tree_find_above(const struct cn_tree *tree, uint32_t node, uint32_t key)
{
    while (node != 0 && tree->links[node].key != key)
        node = tree->links[node].parent;
    return node;
}

void cn_tree_sort(struct cn_tree *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t child = tree->links[i].first_child, before = 0;

        while (child != 0) {
            uint32_t next = tree->links[child].next;

            tree->links[child].next = before;
            before = child;
            child = next;
        }
        tree->links[i].first_child = before;
    }
    cn_map_done(&tree->wide);
    free(tree->cache);
    tree->cache = NULL;
}

uint32_t cn_tree_after(const struct cn_tree *tree, uint32_t top, uint32_t node,
                       bool skips)
{
    if (!skips && tree->links[node].first_child != 0)
        return tree->links[node].first_child;
    while (node != top && tree->links[node].next == 0)
        node = tree->links[node].parent;
    return node == top ? 0 : tree->links[node].next;
}
