#include "store/traceql/labels.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"

void cn_tql_labels_done(struct cn_tql_labels *labels)
{
    free(labels->list);
    cn_map_done(&labels->by_hash);
    *labels = (struct cn_tql_labels){0};
}

static bool is_same(const struct cn_tql_labels *labels, uint32_t number,
                    const struct cn_tql_value *by)
{
    for (size_t i = 0; i < labels->count; i++)
        if (!cn_tql_same(&labels->list[number][i], &by[i]))
            return false;
    return true;
}

static uint32_t add(struct cn_tql_labels *labels, const struct cn_tql_value *by)
{
    struct cn_tql_value *kept = cn_arena_alloc(labels->arena, labels->count, sizeof(*by));

    for (size_t i = 0; i < labels->count; i++)
        kept[i] = cn_tql_keep(labels->arena, &by[i]);
    CN_PUSH(labels->list, labels->list_count, labels->list_capacity, kept);
    return (uint32_t)labels->list_count - 1;
}

uint32_t cn_tql_labels_find(struct cn_tql_labels *labels, const struct cn_tql_value *by)
{
    uint64_t key = 0;
    uint32_t *number;

    if (labels->last > 0 && is_same(labels, labels->last - 1, by))
        return labels->last - 1;
    for (size_t i = 0; i < labels->count; i++)
        key = key * 0x9e3779b97f4a7c15 + cn_tql_hash(&by[i]);
    while (*(number = cn_map_at(&labels->by_hash, key, CN_NONE)) != CN_NONE &&
           !is_same(labels, *number, by))
        key++;
    if (*number == CN_NONE) {
        labels->is_full = labels->list_count >= labels->max;
        if (labels->is_full)
            return CN_NONE;
        *number = add(labels, by);
    }
    labels->last = *number + 1;
    return *number;
}
