#include "model/memory/places.h"

#include <stdlib.h>

#include "base/alloc.h"

static uint64_t key_of(uint64_t address)
{
    return address / (CN_HEAP_PLACE_LEN * CN_HEAP_CHUNK_PLACES);
}

static uint32_t *place_in(struct cn_heap_places *places, uint32_t chunk, uint64_t address)
{
    places->last_key = key_of(address);
    places->last = chunk;
    return &places->chunks[chunk - 1]
                .numbers[address / CN_HEAP_PLACE_LEN % CN_HEAP_CHUNK_PLACES];
}

uint32_t *cn_heap_places_at(struct cn_heap_places *places, uint64_t address)
{
    uint64_t key = key_of(address);

    if (address % CN_HEAP_PLACE_LEN != 0)
        return cn_map_at(&places->odd, address, 0);
    if (places->last > 0 && places->last_key == key)
        return place_in(places, places->last, address);
    uint32_t *chunk = cn_map_at(&places->chunk_of, key, 0);
    if (*chunk == 0) {
        CN_PUSH(places->chunks, places->count, places->capacity,
                (struct cn_heap_chunk){0});
        *chunk = (uint32_t)places->count;
    }
    return place_in(places, *chunk, address);
}

uint32_t *cn_heap_places_find(struct cn_heap_places *places, uint64_t address)
{
    uint64_t key = key_of(address);
    uint32_t chunk = places->last;

    if (address % CN_HEAP_PLACE_LEN != 0)
        return cn_map_find(&places->odd, address, 0) > 0
                   ? cn_map_at(&places->odd, address, 0)
                   : NULL;
    if (chunk == 0 || places->last_key != key)
        chunk = cn_map_find(&places->chunk_of, key, 0);
    return chunk > 0 ? place_in(places, chunk, address) : NULL;
}

void cn_heap_places_expect(struct cn_heap_places *places, uint64_t address)
{
    uint32_t chunk = address % CN_HEAP_PLACE_LEN == 0
                         ? cn_map_find(&places->chunk_of, key_of(address), 0)
                         : 0;

    if (chunk > 0)
        __builtin_prefetch(
            &places->chunks[chunk - 1]
                 .numbers[address / CN_HEAP_PLACE_LEN % CN_HEAP_CHUNK_PLACES],
            1);
}

void cn_heap_places_done(struct cn_heap_places *places)
{
    cn_map_done(&places->chunk_of);
    cn_map_done(&places->odd);
    free(places->chunks);
    *places = (struct cn_heap_places){0};
}
