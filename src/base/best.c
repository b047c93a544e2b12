#include "base/best.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/select.h"
#include "base/sort.h"

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

static bool is_before(const void *best, size_t a, size_t b)
{
    const struct cn_best_item *list = ((const struct cn_best *)best)->list;

    return cn_best_is_before(best, &list[a], &list[b]);
}

static void swap(void *best, size_t a, size_t b)
{
    struct cn_best_item *list = ((struct cn_best *)best)->list, item = list[a];

    list[a] = list[b];
    list[b] = item;
}

/* Move the best `wanted` items to the front, the worst of them last, the others unsorted. */
static void select_best(struct cn_best *best, size_t count, size_t wanted)
{
    cn_select(best, count, wanted - 1, is_before, swap);
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
    CN_PUSH(best->list, best->count, best->capacity, *item);
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
    return (struct cn_best_item){.key = isnan(value) ? 0 : cn_sort_bits(value),
                                 .id = ~number};
}

uint32_t cn_best_number(const struct cn_best_item *item)
{
    return ~(uint32_t)item->id;
}
