#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"

enum { FIRST_CAPACITY = 64 };

/* Keys are dense ids, or two of them side by side: every bit must reach the low ones. */
static size_t slot_of(uint64_t key, size_t capacity)
{
    uint64_t mixed = key * UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(mixed >> 32 ^ mixed) & (capacity - 1);
}

static struct cn_map_slot *probe(const struct cn_map *map, uint64_t key)
{
    size_t i = slot_of(key, map->capacity);

    while (map->slots[i].is_used && map->slots[i].key != key)
        i = (i + 1) & (map->capacity - 1);
    return &map->slots[i];
}

static void map_grow(struct cn_map *map, size_t capacity)
{
    struct cn_map old = *map;

    map->capacity = capacity;
    map->slots = cn_alloc(map->capacity, sizeof(*map->slots));
    for (size_t i = 0; i < old.capacity; i++)
        if (old.slots[i].is_used)
            *probe(map, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint32_t cn_map_find(const struct cn_map *map, uint64_t key, uint32_t otherwise)
{
    struct cn_map_slot *slot = map->count ? probe(map, key) : NULL;

    return slot && slot->is_used ? slot->value : otherwise;
}

uint32_t *cn_map_at(struct cn_map *map, uint64_t key, uint32_t fresh)
{
    struct cn_map_slot *slot;

    if (map->count >= map->capacity / 2)
        map_grow(map, map->capacity ? map->capacity * 2 : FIRST_CAPACITY);
    slot = probe(map, key);
    if (!slot->is_used) {
        *slot = (struct cn_map_slot){.key = key, .value = fresh, .is_used = 1};
        map->count++;
    }
    return &slot->value;
}

void cn_map_reserve(struct cn_map *map, size_t count)
{
    size_t capacity = map->capacity ? map->capacity : FIRST_CAPACITY;

    while (capacity / 2 < map->count + count)
        capacity *= 2;
    if (capacity > map->capacity)
        map_grow(map, capacity);
}

void cn_map_clear(struct cn_map *map)
{
    if (map->capacity > FIRST_CAPACITY && map->count < map->capacity / 8) {
        cn_map_done(map);
        return;
    }
    if (map->capacity > 0)
        memset(map->slots, 0, map->capacity * sizeof(*map->slots));
    map->count = 0;
}

void cn_map_done(struct cn_map *map)
{
    free(map->slots);
    *map = (struct cn_map){0};
}

/* The slot that holds `name`, or the free one where it belongs. */
static uint32_t *name_slot(const struct cn_names *names, const char *name, size_t len)
{
    size_t i = XXH3_64bits(name, len) & (names->slot_count - 1);

    while (names->slots[i] && strcmp(names->list[names->slots[i] - 1], name) != 0)
        i = (i + 1) & (names->slot_count - 1);
    return &names->slots[i];
}

static void names_grow(struct cn_names *names)
{
    free(names->slots);
    names->slot_count = names->slot_count ? names->slot_count * 2 : FIRST_CAPACITY;
    names->slots = cn_alloc(names->slot_count, sizeof(*names->slots));
    for (size_t i = 0; i < names->count; i++)
        *name_slot(names, names->list[i], strlen(names->list[i])) = (uint32_t)i + 1;
}

uint32_t cn_names_add(struct cn_names *names, const char *name)
{
    size_t len = strlen(name);
    uint32_t *slot;

    if (names->count >= names->slot_count / 2)
        names_grow(names);
    slot = name_slot(names, name, len);
    if (*slot == 0) {
        CN_PUSH(names->list, names->count, names->capacity,
                cn_arena_copy(&names->arena, name, len));
        *slot = (uint32_t)names->count;
    }
    return *slot - 1;
}

const char *cn_names_keep(struct cn_names *names, const char *name)
{
    uint32_t at = cn_names_add(names, name);

    return names->list[at];
}

bool cn_names_had(struct cn_names *names, const char *name)
{
    size_t count = names->count;

    return cn_names_add(names, name) < count;
}

void cn_names_finish(struct cn_names *names)
{
    free(names->slots);
    names->slots = NULL;
    names->slot_count = 0;
    if (names->count > 0)
        names->list = cn_realloc(names->list, names->count, sizeof(*names->list));
    names->capacity = names->count;
}

void cn_names_done(struct cn_names *names)
{
    cn_arena_done(&names->arena);
    free(names->list);
    free(names->slots);
    *names = (struct cn_names){0};
}
