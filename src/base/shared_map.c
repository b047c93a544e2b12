#include "base/shared_map.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { FIRST_SLOTS = 1024 };

struct map_slot {
    uint64_t high, low;
    _Atomic uint64_t value; /* written last; 0: a free slot */
};

/* Readers may still be in a table that was full, so it is not released before the map. */
struct cn_shared_table {
    struct cn_shared_table *full;
    size_t mask;
    struct map_slot *slots;
};

static size_t hash(uint64_t high, uint64_t low)
{
    uint64_t h = high * UINT64_C(0x9e3779b97f4a7c15);

    h = ((h ^ h >> 32) + low) * UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)(h ^ h >> 32);
}

/* The slot of a key, or the free one where it belongs. */
static struct map_slot *probe(const struct cn_shared_table *table, uint64_t high,
                              uint64_t low, uint64_t *value)
{
    size_t i = hash(high, low) & table->mask;

    for (;; i = (i + 1) & table->mask) {
        struct map_slot *slot = &table->slots[i];

        *value = atomic_load_explicit(&slot->value, memory_order_acquire);
        if (*value == 0 || (slot->low == low && slot->high == high))
            return slot;
    }
}

uint64_t cn_shared_map_find(const struct cn_shared_map *map, uint64_t high, uint64_t low)
{
    const struct cn_shared_table *table =
        atomic_load_explicit(&map->table, memory_order_acquire);
    uint64_t value = 0;

    if (table)
        (void)probe(table, high, low, &value);
    return value;
}

static void put(struct cn_shared_table *table, uint64_t high, uint64_t low,
                uint64_t value)
{
    uint64_t present;
    struct map_slot *slot = probe(table, high, low, &present);

    assert(present == 0);
    slot->high = high;
    slot->low = low;
    atomic_store_explicit(&slot->value, value, memory_order_release);
}

static struct cn_shared_table *grow(struct cn_shared_map *map,
                                    struct cn_shared_table *full)
{
    struct cn_shared_table *table = cn_alloc(1, sizeof(*table));
    size_t slots = full ? (full->mask + 1) * 2 : FIRST_SLOTS;

    *table =
        (struct cn_shared_table){full, slots - 1, cn_alloc(slots, sizeof(*table->slots))};
    for (size_t i = 0; full && i <= full->mask; i++) {
        const struct map_slot *slot = &full->slots[i];
        uint64_t value = atomic_load_explicit(&slot->value, memory_order_relaxed);

        if (value != 0)
            put(table, slot->high, slot->low, value);
    }
    atomic_store_explicit(&map->table, table, memory_order_release);
    return table;
}

void cn_shared_map_add(struct cn_shared_map *map, uint64_t high, uint64_t low,
                       uint64_t value)
{
    struct cn_shared_table *table =
        atomic_load_explicit(&map->table, memory_order_relaxed);

    assert(value != 0);
    if (!table || map->count * 2 > table->mask)
        table = grow(map, table);
    put(table, high, low, value);
    map->count++;
}

void cn_shared_map_done(struct cn_shared_map *map)
{
    struct cn_shared_table *table = map->table;

    while (table) {
        struct cn_shared_table *full = table->full;

        free(table->slots);
        free(table);
        table = full;
    }
    *map = (struct cn_shared_map){0};
}
