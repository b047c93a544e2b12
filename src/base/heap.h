/* Binary heap of numbers. The one that comes first is at index 0.
 *
 *     cn_heap_build(heap, count, is_before, data);
 *     ... use heap[0]; change its data, or replace it by heap[--count] ...
 *     cn_heap_sink(heap, count, 0, is_before, data);
 *
 * Functions are inline, so that a known `is_before` costs no call.
 * Threads: one thread at a time for each heap.
 */
#ifndef CN_BASE_HEAP_H
#define CN_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef bool (*cn_heap_fn)(const void *data, uint32_t a, uint32_t b);

/* Restore the order after heap[at] has changed to something later. */
static inline void cn_heap_sink(uint32_t *heap, size_t count, size_t at,
                                cn_heap_fn is_before, const void *data)
{
    for (;;) {
        size_t child = 2 * at + 1;
        uint32_t number;

        if (child >= count)
            return;
        number = heap[at];
        if (child + 1 < count && is_before(data, heap[child + 1], heap[child]))
            child++;
        if (!is_before(data, heap[child], number))
            return;
        heap[at] = heap[child];
        heap[child] = number;
        at = child;
    }
}

static inline void cn_heap_build(uint32_t *heap, size_t count, cn_heap_fn is_before,
                                 const void *data)
{
    for (size_t i = count / 2; i-- > 0;)
        cn_heap_sink(heap, count, i, is_before, data);
}

#endif
