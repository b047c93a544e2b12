#include "formats/hpctoolkit/meas/profile/node_ids.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"

void cn_hpc_node_ids_begin(struct cn_hpc_node_ids *ids, size_t count)
{
    size_t size = 64;

    while (size < count * 2)
        size *= 2;
    if (ids->capacity < size) {
        free(ids->slots);
        ids->slots = cn_alloc(size, sizeof(*ids->slots));
        ids->capacity = size;
    } else {
        memset(ids->slots, 0, size * sizeof(*ids->slots));
    }
    ids->mask = size - 1;
}

static struct cn_hpc_node_slot *probe(const struct cn_hpc_node_ids *ids, uint32_t id)
{
    uint64_t mixed = id * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(mixed >> 32) & ids->mask;

    while (ids->slots[i].id != 0 && ids->slots[i].id != id)
        i = (i + 1) & ids->mask;
    return &ids->slots[i];
}

bool cn_hpc_node_ids_add(struct cn_hpc_node_ids *ids, uint32_t id, uint32_t index)
{
    struct cn_hpc_node_slot *slot = probe(ids, id);

    if (slot->id == id)
        return false;
    *slot = (struct cn_hpc_node_slot){id, index};
    return true;
}

uint32_t cn_hpc_node_ids_find(const struct cn_hpc_node_ids *ids, uint32_t id)
{
    const struct cn_hpc_node_slot *slot = probe(ids, id);

    return id != 0 && slot->id == id ? slot->index : CN_NONE;
}

void cn_hpc_node_ids_done(struct cn_hpc_node_ids *ids)
{
    free(ids->slots);
    *ids = (struct cn_hpc_node_ids){0};
}
