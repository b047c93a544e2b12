/* A hash map from two numbers to a number that one thread fills while others read it.
 *
 * A reader may miss what is being added, and finds everything that was added before it last
 * synchronised with the writer. Nothing is removed. A zeroed map is empty.
 * Threads: cn_shared_map_find() from any thread; cn_shared_map_add() one thread at a time.
 */
#ifndef CN_BASE_SHARED_MAP_H
#define CN_BASE_SHARED_MAP_H

#include <stddef.h>
#include <stdint.h>

struct cn_shared_table;

struct cn_shared_map {
    size_t count;
    struct cn_shared_table *_Atomic table; /* tables that were full follow it */
};

/* The value of a key; 0: none. */
uint64_t cn_shared_map_find(const struct cn_shared_map *map, uint64_t high, uint64_t low);

/* The key must not be in the map, and the value must not be 0. */
void cn_shared_map_add(struct cn_shared_map *map, uint64_t high, uint64_t low,
                       uint64_t value);
void cn_shared_map_done(struct cn_shared_map *map);

#endif
