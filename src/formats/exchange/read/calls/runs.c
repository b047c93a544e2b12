#include "formats/exchange/read/calls/runs.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { BUFFERED = 512 }; /* items of a run in memory */

struct runs_source {
    struct cn_call_run rest; /* of the run, in the spool */
    const struct cn_imported_call *items;
    struct cn_imported_call *buffer; /* NULL: all items are in memory */
    size_t at, count;
};

typedef int (*compare_fn)(const void *left, const void *right);

struct cn_run_merge {
    compare_fn compare;
    const struct cn_spool *spool;
    struct runs_source *sources; /* a heap by first item, once filled */
    size_t count;                /* of sources with items */
    bool is_filled;
};

void cn_call_runs_done(struct cn_call_runs *runs)
{
    free(runs->list);
    free(runs->items);
    *runs = (struct cn_call_runs){0};
}

/* Of calls that begin at the same time the longer one is outside. */
static int compare_calls(const void *left, const void *right)
{
    const struct cn_imported_call *x = left, *y = right;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_readings(const void *left, const void *right)
{
    const struct cn_imported_call *x = left, *y = right;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static compare_fn comparison_of(const struct cn_call_runs *runs)
{
    return runs->has_readings ? compare_readings : compare_calls;
}

void cn_call_runs_sort(struct cn_call_runs *runs)
{
    compare_fn compare = comparison_of(runs);
    size_t i = 1;

    /* Most files are sorted. */
    while (i < runs->item_count && compare(&runs->items[i - 1], &runs->items[i]) <= 0)
        i++;
    if (i < runs->item_count)
        qsort(runs->items, runs->item_count, sizeof(*runs->items), compare);
}

static const struct cn_imported_call *first_of(const struct runs_source *source)
{
    return &source->items[source->at];
}

static void sift_down(struct cn_run_merge *merge, size_t i)
{
    for (;;) {
        size_t least = i;

        for (size_t k = 2 * i + 1; k < 2 * i + 3 && k < merge->count; k++)
            if (merge->compare(first_of(&merge->sources[k]),
                               first_of(&merge->sources[least])) < 0)
                least = k;
        if (least == i)
            return;
        struct runs_source moved = merge->sources[i];
        merge->sources[i] = merge->sources[least];
        merge->sources[least] = moved;
        i = least;
    }
}

struct cn_run_merge *cn_run_merge_new(const struct cn_call_runs *runs,
                                      const struct cn_spool *spool)
{
    struct cn_run_merge *merge = cn_alloc(1, sizeof(*merge));

    merge->compare = comparison_of(runs);
    merge->spool = spool;
    merge->sources = cn_alloc(runs->count + 1, sizeof(*merge->sources));
    for (size_t i = 0; i < runs->count; i++)
        merge->sources[merge->count++] = (struct runs_source){
            .rest = runs->list[i],
            .buffer = cn_alloc(BUFFERED, sizeof(struct cn_imported_call)),
        };
    merge->sources[merge->count++] =
        (struct runs_source){.items = runs->items, .count = runs->item_count};
    return merge;
}

void cn_run_merge_free(struct cn_run_merge *merge)
{
    for (size_t i = 0; i < merge->count; i++)
        free(merge->sources[i].buffer);
    free(merge->sources);
    free(merge);
}

/* Fill the buffer of a source if it is empty. Drops a source without items. */
static bool fill(struct cn_run_merge *merge, size_t i, struct cn_error *err)
{
    struct runs_source *source = &merge->sources[i];
    size_t count = source->rest.count < BUFFERED ? (size_t)source->rest.count : BUFFERED;

    if (source->at < source->count)
        return true;
    if (count == 0) {
        free(source->buffer);
        *source = merge->sources[--merge->count];
        return true;
    }
    if (!cn_spool_read(merge->spool, source->rest.off, source->buffer,
                       count * sizeof(*source->buffer), err))
        return false;
    source->rest.off += count * sizeof(*source->buffer);
    source->rest.count -= count;
    source->items = source->buffer;
    source->at = 0;
    source->count = count;
    return true;
}

enum cn_step cn_run_merge_peek(struct cn_run_merge *merge,
                               const struct cn_imported_call **out, struct cn_error *err)
{
    if (!merge->is_filled) {
        for (size_t i = merge->count; i-- > 0;)
            if (!fill(merge, i, err))
                return CN_FAIL;
        for (size_t i = merge->count; i-- > 0;)
            sift_down(merge, i);
        merge->is_filled = true;
    } else if (merge->count > 0 && merge->sources[0].at == merge->sources[0].count) {
        if (!fill(merge, 0, err))
            return CN_FAIL;
        sift_down(merge, 0);
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
        sift_down(merge, 0);
}
