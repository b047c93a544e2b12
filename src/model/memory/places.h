/* Numbers by the address of a block. Addresses that are near each other, as those of blocks that follow
 * each other in time mostly are, have their numbers beside each other: a map from each address would
 * miss the processor's caches.
 *
 * A zeroed one is ready for use. Threads: one thread at a time.
 */
#ifndef CN_MODEL_MEMORY_PLACES_H
#define CN_MODEL_MEMORY_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Blocks of allocators begin at each 16th byte at most; others are in a map of their own. */
enum { CN_HEAP_PLACE_LEN = 16, CN_HEAP_CHUNK_PLACES = 32 };

struct cn_heap_chunk {
    uint32_t numbers[CN_HEAP_CHUNK_PLACES];
};

struct cn_heap_places {
    struct cn_map chunk_of; /* by address: its index + 1 */
    struct cn_map odd;
    struct cn_heap_chunk *chunks;
    size_t count, capacity;
    uint64_t last_key;
    uint32_t last; /* chunk + 1 of it; 0: none */
};

/* Where the number of an address is, 0 if it had none. Valid until the next call of it. */
uint32_t *cn_heap_places_at(struct cn_heap_places *places, uint64_t address);

/* The same; NULL if it never had one. */
uint32_t *cn_heap_places_find(struct cn_heap_places *places, uint64_t address);

/* An address is soon asked for: fetch its number. */
void cn_heap_places_expect(struct cn_heap_places *places, uint64_t address);

void cn_heap_places_done(struct cn_heap_places *places);

#endif
