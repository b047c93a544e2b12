#include "server/api/hottest_hits.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

void cn_hits_begin(struct cn_hits *hits, size_t limit)
{
    *hits =
        (struct cn_hits){.list = cn_alloc(limit, sizeof(*hits->list)), .limit = limit};
}

void cn_hits_done(struct cn_hits *hits)
{
    free(hits->list);
    *hits = (struct cn_hits){0};
}

static int compare_hits(const void *left, const void *right)
{
    const struct cn_hit *a = left, *b = right;
    double x = isnan(a->value) ? -INFINITY : a->value;
    double y = isnan(b->value) ? -INFINITY : b->value;

    return x != y ? (x < y) - (x > y) : (a->number > b->number) - (a->number < b->number);
}

static bool is_hotter(const struct cn_hit *a, const struct cn_hit *b)
{
    return compare_hits(a, b) < 0;
}

static void swap(struct cn_hit *a, struct cn_hit *b)
{
    struct cn_hit kept = *a;

    *a = *b;
    *b = kept;
}

static void sink(struct cn_hits *hits)
{
    struct cn_hit *heap = hits->list;

    for (size_t at = 0, child = 1; child < hits->count; at = child, child = 2 * at + 1) {
        if (child + 1 < hits->count && is_hotter(&heap[child], &heap[child + 1]))
            child++;
        if (is_hotter(&heap[child], &heap[at]))
            break;
        swap(&heap[child], &heap[at]);
    }
}

void cn_hits_add(struct cn_hits *hits, uint32_t number, double value)
{
    struct cn_hit *heap = hits->list;
    size_t i = hits->count;

    hits->match_count++;
    if (i < hits->limit) {
        heap[hits->count++] = (struct cn_hit){number, value};
        for (; i > 0 && is_hotter(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
            swap(&heap[(i - 1) / 2], &heap[i]);
        return;
    }
    /* Numbers rise: of equals, those that are there stay. */
    if (isnan(value) || (!isnan(heap[0].value) && !(value > heap[0].value)))
        return;
    heap[0] = (struct cn_hit){number, value};
    sink(hits);
}

void cn_hits_sort(struct cn_hits *hits)
{
    if (hits->count > 1)
        qsort(hits->list, hits->count, sizeof(*hits->list), compare_hits);
}
