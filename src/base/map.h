/* A hash map from 64-bit keys to 32-bit values, and a table that numbers strings.
 *
 * Both grow as they fill. A zeroed one is ready for use.
 * Threads: one thread at a time; any thread may read while none adds.
 */
#ifndef CN_BASE_MAP_H
#define CN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cn_map_slot {
    uint64_t key;
    uint32_t value;
    uint32_t is_used;
};

struct cn_map {
    struct cn_map_slot *slots;
    size_t count, capacity; /* capacity is a power of two, or 0 */
};

/* The value of `key`, or `otherwise`. */
uint32_t cn_map_find(const struct cn_map *map, uint64_t key, uint32_t otherwise);

/* A pointer to the value of `key`, added as `fresh` if it was missing. Valid until the
 * next call that adds. */
uint32_t *cn_map_at(struct cn_map *map, uint64_t key, uint32_t fresh);

/* Make room for `count` more keys at once. */
void cn_map_reserve(struct cn_map *map, size_t count);

/* Remove all keys; the memory stays if they filled it, so that a map is cleared as fast as it was
 * filled. */
void cn_map_clear(struct cn_map *map);
void cn_map_done(struct cn_map *map);

/* Strings numbered from 0 in the order in which they were first seen. */
struct cn_names {
    struct cn_arena arena;
    const char **list; /* borrowed until done */
    size_t count, capacity;
    uint32_t *slots; /* number + 1; 0 is free */
    size_t slot_count;
};

uint32_t cn_names_add(struct cn_names *names, const char *name); /* copied when new */

/* The copy of a name, added when it is new. */
const char *cn_names_keep(struct cn_names *names, const char *name);

/* True if the name was there; else it is added. */
bool cn_names_had(struct cn_names *names, const char *name);

/* Give back what only adding needs; nothing can be added from here on. */
void cn_names_finish(struct cn_names *names);
void cn_names_done(struct cn_names *names);

#endif
