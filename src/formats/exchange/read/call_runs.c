#include "formats/exchange/read/call_runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { PIECE = 512 /* items of a run that are in memory */ };

struct source {
    struct cn_call_run rest; /* of the run, still in the file */
    const struct cn_call_item *items;
    struct cn_call_item *piece; /* NULL: the items lie in memory */
    size_t at, count;
};

struct cn_run_merge {
    const struct cn_spool *spool;
    struct source *sources;
    size_t count;      /* of sources that have items */
    bool is_out_dated; /* the first source has to find its place */
};

/* Of calls that begin at the same time the longer one is outside. */
static int compare(const struct cn_call_item *x, const struct cn_call_item *y)
{
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_any(const void *a, const void *b)
{
    return compare(a, b);
}

void cn_call_items_sort(struct cn_call_item *items, size_t count)
{
    size_t i = 1;

    /* Most files are in order. */
    while (i < count && compare(&items[i - 1], &items[i]) <= 0)
        i++;
    if (i < count)
        qsort(items, count, sizeof(*items), compare_any);
}

static bool fill(struct cn_run_merge *merge, struct source *source, struct cn_error *err)
{
    size_t count = source->rest.count < PIECE ? (size_t)source->rest.count : PIECE;

    if (source->at < source->count || count == 0)
        return true;
    if (!cn_spool_read(merge->spool, source->rest.off, source->piece,
                       count * sizeof(*source->piece), err))
        return false;
    source->rest.off += count * sizeof(*source->piece);
    source->rest.count -= count;
    source->items = source->piece;
    source->at = 0;
    source->count = count;
    return true;
}

static const struct cn_call_item *first_of(const struct source *source)
{
    return &source->items[source->at];
}

static void swap(struct source *a, struct source *b)
{
    struct source kept = *a;

    *a = *b;
    *b = kept;
}

/* Sources are a heap: none comes before the one at half its place. */
static void sink(struct cn_run_merge *merge, size_t i)
{
    for (;;) {
        size_t least = i, child = 2 * i + 1;

        for (size_t k = child; k < child + 2 && k < merge->count; k++)
            if (compare(first_of(&merge->sources[k]), first_of(&merge->sources[least])) <
                0)
                least = k;
        if (least == i)
            return;
        swap(&merge->sources[i], &merge->sources[least]);
        i = least;
    }
}

struct cn_run_merge *cn_run_merge_new(const struct cn_call_runs *runs,
                                      const struct cn_spool *spool)
{
    struct cn_run_merge *merge = cn_alloc(1, sizeof(*merge));

    merge->spool = spool;
    merge->sources = cn_alloc(runs->count + 1, sizeof(*merge->sources));
    for (size_t i = 0; i < runs->count; i++)
        merge->sources[merge->count++] = (struct source){
            .rest = runs->list[i],
            .piece = cn_alloc(PIECE, sizeof(struct cn_call_item)),
        };
    merge->sources[merge->count++] =
        (struct source){.items = runs->items, .count = runs->item_count};
    merge->is_out_dated = true;
    return merge;
}

void cn_run_merge_free(struct cn_run_merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->count; i++)
        free(merge->sources[i].piece);
    free(merge->sources);
    free(merge);
}

/* Read what is missing, and leave out sources that are used up. */
static bool refill(struct cn_run_merge *merge, size_t i, struct cn_error *err)
{
    if (!fill(merge, &merge->sources[i], err))
        return false;
    if (merge->sources[i].at == merge->sources[i].count) {
        free(merge->sources[i].piece);
        merge->sources[i] = merge->sources[--merge->count];
    }
    return true;
}

/* The first time: fill all. */
static bool begin(struct cn_run_merge *merge, struct cn_error *err)
{
    for (size_t i = merge->count; i-- > 0;)
        if (!refill(merge, i, err))
            return false;
    for (size_t i = merge->count; i-- > 0;)
        sink(merge, i);
    merge->is_out_dated = false;
    return true;
}

enum cn_step cn_run_merge_peek(struct cn_run_merge *merge,
                               const struct cn_call_item **out, struct cn_error *err)
{
    if (merge->is_out_dated && !begin(merge, err))
        return CN_FAIL;
    if (merge->count > 0 && merge->sources[0].at == merge->sources[0].count) {
        if (!refill(merge, 0, err))
            return CN_FAIL;
        sink(merge, 0);
    }
    if (merge->count == 0)
        return CN_END;
    *out = first_of(&merge->sources[0]);
    return CN_ITEM;
}

void cn_run_merge_take(struct cn_run_merge *merge)
{
    merge->sources[0].at++;
    if (merge->sources[0].at < merge->sources[0].count && merge->count > 1)
        sink(merge, 0);
}
