/* The blocks of a process that are live, by address.
 *
 * Blocks near each other in memory, which mostly follow each other in time, are near each other in the
 * table, and all that is known of a block is in one line of the processor's caches.
 * A zeroed one is ready for use. Pointers are valid until a block is added or removed.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_MEMORY_BLOCKS_H
#define CN_MODEL_MEMORY_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct cn_heap_live {
    uint64_t address, time_ns;
    double bytes;
    uint32_t cell;        /* of use.c, + 1; 0: no block is here */
    uint32_t weight : 31; /* of use.c: what it stands for; 0: one allocation */
    uint32_t is_leaked : 1;
};

struct cn_heap_blocks {
    struct cn_heap_live *list; /* `capacity` of them, a power of two, or 0 */
    void *memory;
    size_t count, capacity;
};

/* NULL: none is live there. */
struct cn_heap_live *cn_heap_blocks_find(const struct cn_heap_blocks *blocks,
                                         uint64_t address);

/* The same; if there is none, one is added, whose `cell` is 0: the caller sets it. */
struct cn_heap_live *cn_heap_blocks_at(struct cn_heap_blocks *blocks, uint64_t address);

void cn_heap_blocks_remove(struct cn_heap_blocks *blocks, struct cn_heap_live *block);

/* A block is soon asked for: fetch it. */
void cn_heap_blocks_expect(const struct cn_heap_blocks *blocks, uint64_t address);

void cn_heap_blocks_done(struct cn_heap_blocks *blocks);

#endif
