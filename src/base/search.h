/* Binary search.
 *
 *     slot = cn_search_u64(&list[0].begin, count, sizeof(*list), address);
 *     at = cn_search(0, count, begins_before, reader, time);
 *
 * All return an index between the limits, both included; they never fail.
 * Threads: any thread.
 */
#ifndef CN_BASE_SEARCH_H
#define CN_BASE_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the element at `index` comes before the one that is looked for. */
typedef bool (*cn_search_fn)(const void *data, uint64_t index, uint64_t key);

/* The first index in [low, high) whose element does not come before `key`, `high` where all
 * do. Inline, so that a known `before` costs no call. */
static inline uint64_t cn_search(uint64_t low, uint64_t high, cn_search_fn before,
                                 const void *data, uint64_t key)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (before(data, middle, key))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many elements of a sorted array have a key of at most `key`. The keys are 64-bit
 * members of elements of `stride` bytes, the first of them at `keys`; the element that
 * contains `key` is the one before the result. */
static inline size_t cn_search_u64(const uint64_t *keys, size_t count, size_t stride,
                                   uint64_t key)
{
    const unsigned char *bytes = (const unsigned char *)keys;
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (*(const uint64_t *)(const void *)(bytes + middle * stride) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many have a key below `key`. */
static inline size_t cn_search_below_u64(const uint64_t *keys, size_t count,
                                         size_t stride, uint64_t key)
{
    return key == 0 ? 0 : cn_search_u64(keys, count, stride, key - 1);
}

/* cn_search_u64() for 32-bit keys. */
static inline size_t cn_search_u32(const uint32_t *keys, size_t count, size_t stride,
                                   uint32_t key)
{
    const unsigned char *bytes = (const unsigned char *)keys;
    size_t low = 0, high = count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (*(const uint32_t *)(const void *)(bytes + middle * stride) <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
