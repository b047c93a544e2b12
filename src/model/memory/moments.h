/* Changes of the live bytes of many cells over time, as few as fit: when there are too many, those of a
 * cell within a tick become one, at the end of the tick, and ticks get longer.
 *
 *     struct cn_heap_moments moments = {0};
 *     cn_heap_moments_add(&moments, time_ns, cell, bytes);     in the order of time
 *     cn_heap_moments_end(&moments);
 *     ... moments.list ...
 *     cn_heap_moments_done(&moments);
 *
 * Sums over time of a cell are exact at the end of each tick.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_MEMORY_MOMENTS_H
#define CN_MODEL_MEMORY_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

enum { CN_HEAP_MOMENTS_MAX = 1 << 18 };

struct cn_heap_moment {
    uint64_t time_ns;
    double bytes;
    uint32_t cell;
};

struct cn_heap_moments {
    struct cn_heap_moment *list;
    size_t count, capacity, limit;
    size_t tick_first; /* the first of the last tick */
    uint32_t *numbers; /* by cell: 1 + number of its last one */
    size_t number_count;
    uint64_t tick_ns; /* a power of two */
    uint64_t last_ns;
};

void cn_heap_moments_add(struct cn_heap_moments *moments, uint64_t time_ns, uint32_t cell,
                         double bytes);

/* Drop changes by nothing. Nothing can be added afterwards. */
void cn_heap_moments_end(struct cn_heap_moments *moments);
void cn_heap_moments_done(struct cn_heap_moments *moments);

#endif
