#include "model/memory/blocks.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

/* Blocks of allocators begin at each 16th byte at most. */
enum { FIRST_CAPACITY = 64, BLOCK_LEN = 16, GROUP_COUNT = 8, FOLLOWING = 2 };

static size_t mix(uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key = (key ^ key >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (size_t)(key ^ key >> 32);
}

/* Where a block belongs: beside those of its group. */
static size_t home_of(const struct cn_heap_blocks *blocks, uint64_t address)
{
    uint64_t place = address / BLOCK_LEN;
    size_t at = address % BLOCK_LEN != 0
                    ? mix(address)
                    : mix(place / GROUP_COUNT) * GROUP_COUNT + place % GROUP_COUNT;

    return at & (blocks->capacity - 1);
}

/* The block at an address, or where it is to be added. */
static struct cn_heap_live *probe(const struct cn_heap_blocks *blocks, uint64_t address)
{
    size_t at = home_of(blocks, address);

    while (blocks->list[at].cell != 0 && blocks->list[at].address != address)
        at = (at + 1) & (blocks->capacity - 1);
    return &blocks->list[at];
}

static void grow(struct cn_heap_blocks *blocks)
{
    struct cn_heap_blocks old = *blocks;
    size_t len = sizeof(*blocks->list);

    blocks->capacity = old.capacity > 0 ? 2 * old.capacity : FIRST_CAPACITY;
    blocks->memory = cn_alloc(blocks->capacity + 1, len);
    blocks->list = blocks->memory;
    if ((uintptr_t)blocks->memory % len != 0) /* none is in two lines */
        blocks->list = (struct cn_heap_live *)((char *)blocks->memory + len -
                                               (uintptr_t)blocks->memory % len);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.list[i].cell != 0)
            *probe(blocks, old.list[i].address) = old.list[i];
    free(old.memory);
}

struct cn_heap_live *cn_heap_blocks_find(const struct cn_heap_blocks *blocks,
                                         uint64_t address)
{
    struct cn_heap_live *block = blocks->count > 0 ? probe(blocks, address) : NULL;

    return block && block->cell != 0 ? block : NULL;
}

struct cn_heap_live *cn_heap_blocks_at(struct cn_heap_blocks *blocks, uint64_t address)
{
    if (blocks->count >= blocks->capacity / 2)
        grow(blocks);
    struct cn_heap_live *block = probe(blocks, address);
    if (block->cell == 0) {
        *block = (struct cn_heap_live){.address = address};
        blocks->count++;
    }
    return block;
}

/* Those that follow move to where the next search for them looks. */
void cn_heap_blocks_remove(struct cn_heap_blocks *blocks, struct cn_heap_live *block)
{
    size_t mask = blocks->capacity - 1, hole = (size_t)(block - blocks->list);

    for (size_t at = (hole + 1) & mask; blocks->list[at].cell != 0;
         at = (at + 1) & mask) {
        size_t home = home_of(blocks, blocks->list[at].address);

        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* it belongs after the hole */
        blocks->list[hole] = blocks->list[at];
        hole = at;
    }
    blocks->list[hole].cell = 0;
    blocks->count--;
}

void cn_heap_blocks_expect(const struct cn_heap_blocks *blocks, uint64_t address)
{
    if (blocks->capacity == 0)
        return;
    const struct cn_heap_live *home = &blocks->list[home_of(blocks, address)];
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + FOLLOWING, 1); /* a search may go on there */
}

void cn_heap_blocks_done(struct cn_heap_blocks *blocks)
{
    free(blocks->memory);
    *blocks = (struct cn_heap_blocks){0};
}
