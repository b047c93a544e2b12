/* Quickselect: finds the element that sorting would put at an index, and parts the others by it.
 *
 * Functions are inline, so that known `is_before` and `swap` cost no call.
 * Threads: one thread at a time for each list.
 */
#ifndef CN_BASE_SELECT_H
#define CN_BASE_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if element `a` of the list comes before element `b`. */
typedef bool (*cn_select_before_fn)(const void *list, size_t a, size_t b);
typedef void (*cn_select_swap_fn)(void *list, size_t a, size_t b);

/* Divide the elements `first` to `last` by one of them, whose index is returned: no element
 * before it comes after it, and the other way round. Equal elements are on both sides. */
static inline size_t cn_select_divide(void *list, size_t first, size_t last,
                                      cn_select_before_fn is_before,
                                      cn_select_swap_fn swap)
{
    size_t low = first, high = last + 1;

    for (;;) {
        do
            low++;
        while (low < last && is_before(list, low, first));
        do
            high--;
        while (is_before(list, first, high));
        if (low >= high)
            break;
        swap(list, low, high);
    }
    swap(list, first, high);
    return high;
}

/* Move the element that sorting would put at `at` there, those that come before it to lower
 * indices. `at` is below `count`. The pivots are random, so that no input is slow. */
static inline void cn_select(void *list, size_t count, size_t at,
                             cn_select_before_fn is_before, cn_select_swap_fn swap)
{
    size_t first = 0, last = count - 1;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    while (first < last) {
        size_t pivot;

        random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        swap(list, first, first + (size_t)(random >> 33) % (last - first + 1));
        pivot = cn_select_divide(list, first, last, is_before, swap);
        if (pivot == at)
            return;
        if (pivot < at)
            first = pivot + 1;
        else
            last = pivot - 1;
    }
}

#endif
