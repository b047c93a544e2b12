#include "unwind/space.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

enum {
    NODES_MAX = 1 << 16, /* of a list that are searched */
    CHUNK = 1 << 8,      /* nodes that are put in order one by one */
    WALK_MIN = 32,       /* nodes passed before an index is made */
    WALK_SHARE = 64,     /* of longer lists, this share */
};

/* Addresses whose newest mapping is one. */
struct mappings_range {
    uint64_t begin, end;
    const struct cn_unwind_mapping *mapping;
};

/* By address, not overlapping. */
struct cn_unwind_index {
    struct mappings_range *list;
    size_t count, capacity;
};

struct cn_unwind_node *cn_unwind_node_new(struct cn_unwind_node *older,
                                          const struct cn_unwind_mapping *mapping,
                                          uint64_t id)
{
    struct cn_unwind_node *node = cn_alloc(1, sizeof(*node));

    *node = (struct cn_unwind_node){.mapping = *mapping,
                                    .older = older,
                                    .reference_count = 1,
                                    .count = older ? older->count + 1 : 1,
                                    .id = id};
    return node;
}

static void drop_index(struct cn_unwind_node *node, struct cn_unwind_indexes *indexes)
{
    if (!node->index)
        return;
    for (size_t i = 0; i < CN_UNWIND_INDEX_MAX; i++)
        if (indexes->nodes[i] == node)
            indexes->nodes[i] = NULL;
    free(node->index->list);
    free(node->index);
    node->index = NULL;
}

void cn_unwind_node_release(struct cn_unwind_node *node,
                            struct cn_unwind_indexes *indexes)
{
    while (node && --node->reference_count == 0) {
        struct cn_unwind_node *older = node->older;

        drop_index(node, indexes);
        free(node);
        node = older;
    }
}

static void add_range(struct cn_unwind_index *index, struct mappings_range range)
{
    if (range.begin >= range.end)
        return;
    CN_PUSH(index->list, index->count, index->capacity, range);
}

/* The number of ranges that begin at or before an address. */
static size_t count_to(const struct cn_unwind_index *index, uint64_t address)
{
    return index->count == 0 ? 0
                             : cn_search_u64(&index->list[0].begin, index->count,
                                             sizeof(*index->list), address);
}

/* `newer` over `older`, both in order. */
static void put_over(struct cn_unwind_index *older, const struct cn_unwind_index *newer)
{
    struct cn_unwind_index merged = {0};
    uint64_t covered_to = 0; /* by newer ones */
    size_t at = 0;

    for (size_t i = 0; i < older->count; i++) {
        struct mappings_range rest = older->list[i];

        while (at < newer->count && newer->list[at].begin < rest.end) {
            struct mappings_range left = rest;

            if (left.begin < covered_to)
                left.begin = covered_to;
            left.end = newer->list[at].begin;
            add_range(&merged, left);
            add_range(&merged, newer->list[at]);
            covered_to = newer->list[at++].end;
        }
        if (rest.begin < covered_to)
            rest.begin = covered_to;
        add_range(&merged, rest);
    }
    while (at < newer->count)
        add_range(&merged, newer->list[at++]);
    free(older->list);
    *older = merged;
}

/* Index a list: from the oldest chunk of nodes, or from an index that is there, to the
 * newest. */
static struct cn_unwind_index *build(struct cn_unwind_node *newest)
{
    struct cn_unwind_index *index = cn_alloc(1, sizeof(*index));
    const struct cn_unwind_node **nodes = NULL, *node = newest;
    struct cn_unwind_index one = {0};
    size_t count = 0, capacity = 0;

    for (; node && !node->index && count < NODES_MAX; node = node->older) {
        CN_PUSH(nodes, count, capacity, node);
    }
    if (node && node->index) {
        index->list =
            cn_grow_to(NULL, node->index->count, &index->capacity, sizeof(*index->list));
        index->count = node->index->count;
        memcpy(index->list, node->index->list, index->count * sizeof(*index->list));
    }
    while (count > 0) {
        struct cn_unwind_index chunk = {0};

        for (size_t i = 0; i < CHUNK && count > 0; i++) {
            const struct cn_unwind_mapping *mapping = &nodes[--count]->mapping;

            one.count = 0;
            add_range(&one,
                      (struct mappings_range){mapping->begin, mapping->end, mapping});
            put_over(&chunk, &one);
        }
        put_over(index, &chunk);
        free(chunk.list);
    }
    free(one.list);
    free(nodes);
    return index;
}

static void add_index(struct cn_unwind_node *node, struct cn_unwind_indexes *indexes)
{
    struct cn_unwind_index *index = build(node);
    struct cn_unwind_node **slot = &indexes->nodes[indexes->next];

    indexes->next = (indexes->next + 1) % CN_UNWIND_INDEX_MAX;
    if (*slot)
        drop_index(*slot, indexes);
    *slot = node;
    node->index = index;
}

/* Nodes that are walked before it is worth to index a list. */
static bool is_far(const struct cn_unwind_node *newest, size_t walked)
{
    return walked > WALK_MIN + newest->count / WALK_SHARE;
}

const struct cn_unwind_mapping *cn_unwind_node_before(struct cn_unwind_node *node,
                                                      struct cn_unwind_indexes *indexes,
                                                      uint64_t address)
{
    const struct cn_unwind_mapping *best = NULL;
    struct cn_unwind_node *newest = node;
    size_t walked = 0, at;

    for (; node && !node->index; node = node->older) {
        if (node->mapping.begin <= address &&
            (!best || node->mapping.begin > best->begin))
            best = &node->mapping;
        if (is_far(newest, ++walked)) {
            add_index(newest, indexes);
            node = newest;
            best = NULL;
            break;
        }
    }
    if (!node)
        return best;
    at = count_to(node->index, address);
    if (at > 0 && (!best || node->index->list[at - 1].begin > best->begin))
        best = node->index->list[at - 1].mapping;
    return best;
}

const struct cn_unwind_mapping *cn_unwind_node_find(struct cn_unwind_node *node,
                                                    struct cn_unwind_indexes *indexes,
                                                    uint64_t address)
{
    struct cn_unwind_node *newest = node;
    size_t walked = 0, at;

    for (; node && !node->index; node = node->older) {
        if (address >= node->mapping.begin && address < node->mapping.end)
            return &node->mapping;
        if (is_far(newest, ++walked)) {
            add_index(newest, indexes);
            node = newest;
            break;
        }
    }
    if (!node)
        return NULL;
    const struct cn_unwind_index *index = node->index;
    at = count_to(index, address);
    return at > 0 && address < index->list[at - 1].end ? index->list[at - 1].mapping
                                                       : NULL;
}
