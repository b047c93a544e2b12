#include "store/search/search_best.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { GATHER_MIN = 4096 };

void cn_best_init(struct cn_best *best, const struct cn_search_order *order)
{
    *best = (struct cn_best){.order = order, .limit = SIZE_MAX};
    if (order->limit < SIZE_MAX - order->offset)
        best->limit = (size_t)(order->limit + order->offset);
}

void cn_best_done(struct cn_best *best)
{
    free(best->hits);
    *best = (struct cn_best){0};
}

/* Reversed, the smallest numbers come first: that is the same order of their complements. */
static struct cn_search_hit turn(const struct cn_best *best,
                                 const struct cn_search_hit *hit)
{
    if (!best->order->is_reversed)
        return *hit;
    return (struct cn_search_hit){
        .segment = ~hit->segment,
        .row = ~hit->row,
        .key = ~hit->key,
        .time_ns = ~hit->time_ns,
    };
}

static bool is_before(const struct cn_search_hit *a, const struct cn_search_hit *b)
{
    if (a->key != b->key)
        return a->key > b->key;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns;
    return a->segment != b->segment ? a->segment > b->segment : a->row > b->row;
}

static int compare(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

static void swap(struct cn_search_hit *hits, size_t a, size_t b)
{
    struct cn_search_hit hit = hits[a];

    hits[a] = hits[b];
    hits[b] = hit;
}

/* Where the pivot of hits[first .. last] ends up with the better ones before it. */
static size_t divide(struct cn_search_hit *hits, size_t first, size_t last, size_t pivot)
{
    struct cn_search_hit value = hits[pivot];
    size_t end = first;

    swap(hits, pivot, last);
    for (size_t i = first; i < last; i++) {
        if (is_before(&hits[i], &value))
            swap(hits, i, end++);
    }
    swap(hits, end, last);
    return end;
}

/* Bring the best `wanted` of the hits to the front, in no order, the worst of them last. */
static void select_best(struct cn_search_hit *hits, size_t count, size_t wanted)
{
    size_t first = 0, last = count - 1, at;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

    while (first < last) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        at = divide(hits, first, last,
                    first + (size_t)(random >> 33) % (last - first + 1));
        if (at == wanted - 1)
            return;
        if (at < wanted - 1)
            first = at + 1;
        else
            last = at - 1;
    }
}

static void drop_worse(struct cn_best *best)
{
    select_best(best->hits, best->count, best->limit);
    best->count = best->limit;
    best->worst = best->hits[best->limit - 1];
    best->has_worst = true;
}

static bool is_full(const struct cn_best *best)
{
    return best->count >= GATHER_MIN && best->count / 2 >= best->limit;
}

void cn_best_offer(struct cn_best *best, const struct cn_search_hit *hit)
{
    struct cn_search_hit turned = turn(best, hit);

    if (best->limit == 0 || (best->has_worst && !is_before(&turned, &best->worst)))
        return;
    if (best->count == best->capacity)
        best->hits =
            cn_grow(best->hits, best->count, &best->capacity, sizeof(*best->hits));
    best->hits[best->count++] = turned;
    if (is_full(best))
        drop_worse(best);
}

bool cn_best_may_take(struct cn_best *best, uint64_t time_ns)
{
    if (best->limit == 0)
        return false;
    if (best->count >= best->limit)
        drop_worse(best);
    return !best->has_worst ||
           (best->order->is_reversed ? ~time_ns : time_ns) >= best->worst.time_ns;
}

void cn_best_take(struct cn_best *best, struct cn_search_hits *out)
{
    size_t skipped, count;

    if (best->limit > 0 && best->count > best->limit)
        drop_worse(best);
    skipped =
        best->order->offset < best->count ? (size_t)best->order->offset : best->count;
    count = best->count - skipped;
    /* What comes before the page need not be in order. */
    if (skipped > 0 && count > 0) {
        select_best(best->hits, best->count, skipped);
        memmove(best->hits, best->hits + skipped, count * sizeof(*best->hits));
    }
    if (count > 0)
        qsort(best->hits, count, sizeof(*best->hits), compare);
    for (size_t i = 0; i < count; i++)
        best->hits[i] = turn(best, &best->hits[i]);
    *out = (struct cn_search_hits){best->hits, count};
    *best = (struct cn_best){0};
}
