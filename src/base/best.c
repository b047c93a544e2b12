#include "base/best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { GATHER_MIN = 256 };

void cn_best_init(struct cn_best *best, size_t limit)
{
    *best = (struct cn_best){.limit = limit};
}

void cn_best_done(struct cn_best *best)
{
    free(best->list);
    *best = (struct cn_best){0};
}

static int compare(const void *a, const void *b, void *best)
{
    return cn_best_is_before(best, a, b) ? -1 : cn_best_is_before(best, b, a);
}

static void swap(struct cn_best_item *list, size_t a, size_t b)
{
    struct cn_best_item item = list[a];

    list[a] = list[b];
    list[b] = item;
}

/* Move the better items of list[first .. last] before the pivot, whose index is returned. */
static size_t divide(const struct cn_best *best, size_t first, size_t last, size_t pivot)
{
    struct cn_best_item *list = best->list, value = list[pivot];
    size_t end = first;

    swap(list, pivot, last);
    for (size_t i = first; i < last; i++) {
        if (cn_best_is_before(best, &list[i], &value))
            swap(list, i, end++);
    }
    swap(list, end, last);
    return end;
}

/* Move the best `wanted` items to the front, the worst of them last, the others unsorted. */
static void select_best(const struct cn_best *best, size_t count, size_t wanted)
{
    size_t first = 0, last = count - 1, at;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    while (first < last) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        at = divide(best, first, last,
                    first + (size_t)(random >> 33) % (last - first + 1));
        if (at == wanted - 1)
            return;
        if (at < wanted - 1)
            first = at + 1;
        else
            last = at - 1;
    }
}

void cn_best_trim(struct cn_best *best)
{
    if (best->limit == 0 || best->count < best->limit)
        return;
    select_best(best, best->count, best->limit);
    best->count = best->limit;
    best->worst = best->list[best->limit - 1];
    best->has_worst = true;
}

void cn_best_offer(struct cn_best *best, const struct cn_best_item *item)
{
    best->offered++;
    if (!cn_best_takes(best, item))
        return;
    best->list = cn_grow(best->list, best->count, &best->capacity, sizeof(*best->list));
    best->list[best->count++] = *item;
    if (best->count >= GATHER_MIN && best->count / 2 >= best->limit)
        cn_best_trim(best);
}

void cn_best_sort(struct cn_best *best, size_t skipped)
{
    cn_best_trim(best);
    if (skipped > best->count)
        skipped = best->count;
    best->count -= skipped;
    if (best->count == 0)
        return;
    if (skipped > 0) {
        select_best(best, best->count + skipped, skipped);
        memmove(best->list, best->list + skipped, best->count * sizeof(*best->list));
    }
    qsort_r(best->list, best->count, sizeof(*best->list), compare, best);
}

struct cn_best_item cn_best_of_value(double value, uint32_t number)
{
    const uint64_t sign = UINT64_C(1) << 63;
    double positive_zero = value + 0.0;
    uint64_t bits;

    /* Bits of positive doubles are in order, those of negative ones in reverse. */
    memcpy(&bits, &positive_zero, sizeof(bits));
    bits = isnan(value) ? 0 : (bits & sign) != 0 ? ~bits : bits | sign;
    return (struct cn_best_item){.key = bits, .id = ~number};
}

uint32_t cn_best_number(const struct cn_best_item *item)
{
    return ~(uint32_t)item->id;
}
