#include "analyze/cct/tree.h"

#include <stdlib.h>

#include "base/alloc.h"

enum {
    LINEAR_MAX = 8, /* nodes with more children use the map */
    CACHE_BITS_MIN = 8,
    CACHE_SPARSE = 2,    /* a quarter is used: children that share a slot are slow */
    CACHE_BITS_MAX = 20, /* a larger one does not fit into the caches of the processor */
};

/* Allocate an empty cache. */
static void make_cache(struct cn_cct *tree, unsigned bits)
{
    free(tree->cache);
    tree->cache = cn_alloc((size_t)1 << bits, sizeof(*tree->cache));
    tree->cache_bits = bits;
}

void cn_cct_init(struct cn_cct *tree)
{
    *tree = (struct cn_cct){0};
    tree->links = cn_grow(NULL, 0, &tree->capacity, sizeof(*tree->links));
    tree->links[tree->count++] = (struct cn_cct_link){.key = CN_CCT_NO_KEY};
    make_cache(tree, CACHE_BITS_MIN);
}

void cn_cct_done(struct cn_cct *tree)
{
    free(tree->cache);
    if (!tree->is_view) {
        free(tree->links);
        cn_map_done(&tree->wide);
    }
    *tree = (struct cn_cct){0};
}

static uint64_t wide_key(cn_cct_id parent, uint32_t key)
{
    return (uint64_t)parent << 32 | key;
}

static cn_cct_id find(const struct cn_cct *tree, cn_cct_id parent, uint32_t key)
{
    if (tree->links[parent].child_count > LINEAR_MAX)
        return cn_map_find(&tree->wide, wide_key(parent, key), 0);
    for (cn_cct_id i = tree->links[parent].first_child; i != 0; i = tree->links[i].next)
        if (tree->links[i].key == key)
            return i;
    return 0;
}

static void list_widely(struct cn_cct *tree, cn_cct_id parent)
{
    for (cn_cct_id i = tree->links[parent].first_child; i != 0; i = tree->links[i].next)
        (void)cn_map_at(&tree->wide, wide_key(parent, tree->links[i].key), i);
}

void cn_cct_restore(struct cn_cct *tree, struct cn_cct_link *links, size_t count)
{
    unsigned bits = CACHE_BITS_MIN;

    while (bits < CACHE_BITS_MAX && count > (size_t)1 << bits >> CACHE_SPARSE)
        bits++;
    *tree = (struct cn_cct){.links = links, .count = count, .capacity = count};
    make_cache(tree, bits);
    for (size_t i = 0; i < count; i++)
        if (links[i].child_count > LINEAR_MAX)
            list_widely(tree, (cn_cct_id)i);
}

void cn_cct_trim(struct cn_cct *tree)
{
    tree->links = cn_realloc(tree->links, tree->count, sizeof(*tree->links));
    tree->capacity = tree->count;
    free(tree->cache);
    tree->cache = NULL;
}

void cn_cct_view_init(struct cn_cct *view, const struct cn_cct *tree)
{
    *view = *tree;
    view->is_view = true;
    view->cache = NULL;
    make_cache(view, tree->cache_bits);
}

static cn_cct_id add(struct cn_cct *tree, cn_cct_id parent, uint32_t key)
{
    cn_cct_id id = (cn_cct_id)tree->count;
    struct cn_cct_link *above;

    if (tree->count == UINT32_MAX || tree->is_view) {
        tree->is_full = true;
        return parent;
    }
    tree->links =
        cn_grow(tree->links, tree->count, &tree->capacity, sizeof(*tree->links));
    above = &tree->links[parent];
    tree->links[tree->count++] =
        (struct cn_cct_link){.parent = parent, .next = above->first_child, .key = key};
    above->first_child = id;
    if (above->child_count > LINEAR_MAX)
        (void)cn_map_at(&tree->wide, wide_key(parent, key), id);
    else if (++above->child_count > LINEAR_MAX)
        list_widely(tree, parent);
    return id;
}

cn_cct_id cn_cct_child_slowly(struct cn_cct *tree, cn_cct_id parent, uint32_t key)
{
    cn_cct_id id = find(tree, parent, key);

    if (id == 0)
        id = add(tree, parent, key);
    if (tree->count > (size_t)1 << tree->cache_bits >> CACHE_SPARSE &&
        tree->cache_bits < CACHE_BITS_MAX)
        make_cache(tree, tree->cache_bits + 1);
    tree->cache[cn_cct_slot(tree, parent, key)] = id;
    return id;
}

cn_cct_id cn_cct_find_above(const struct cn_cct *tree, cn_cct_id node, uint32_t key)
{
    while (node != 0 && tree->links[node].key != key)
        node = tree->links[node].parent;
    return node;
}

void cn_cct_sort(struct cn_cct *tree)
{
    for (size_t i = 0; i < tree->count; i++) {
        cn_cct_id child = tree->links[i].first_child, before = 0;

        while (child != 0) {
            cn_cct_id next = tree->links[child].next;

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

cn_cct_id cn_cct_after(const struct cn_cct *tree, cn_cct_id node)
{
    if (tree->links[node].first_child != 0)
        return tree->links[node].first_child;
    while (node != 0 && tree->links[node].next == 0)
        node = tree->links[node].parent;
    return node == 0 ? 0 : tree->links[node].next;
}
