#include "store/search.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search_segments.h"

/* The best hits so far: a heap with the worst of them on top once there are `limit`. */
struct best {
    struct cn_search_hit *hits;
    size_t count, capacity, limit;
    const struct cn_search_order *order;
};

/* Whether a comes before b in the result. */
static bool is_before(const struct cn_search_order *order, const struct cn_search_hit *a,
                      const struct cn_search_hit *b)
{
    if (order->is_reversed) {
        const struct cn_search_hit *swap = a;

        a = b;
        b = swap;
    }
    if (a->key != b->key)
        return a->key > b->key;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns;
    return a->segment != b->segment ? a->segment > b->segment : a->row > b->row;
}

static void swap(struct best *best, size_t a, size_t b)
{
    struct cn_search_hit hit = best->hits[a];

    best->hits[a] = best->hits[b];
    best->hits[b] = hit;
}

static void sink(struct best *best, size_t count)
{
    for (size_t at = 0;;) {
        size_t child = 2 * at + 1;

        if (child >= count)
            return;
        if (child + 1 < count &&
            is_before(best->order, &best->hits[child], &best->hits[child + 1]))
            child++;
        if (!is_before(best->order, &best->hits[at], &best->hits[child]))
            return;
        swap(best, at, child);
        at = child;
    }
}

static void raise_last(struct best *best)
{
    size_t at = best->count - 1;

    while (at > 0 && is_before(best->order, &best->hits[(at - 1) / 2], &best->hits[at])) {
        swap(best, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void offer(struct best *best, const struct cn_search_hit *hit)
{
    if (best->count == best->limit) {
        if (best->limit > 0 && is_before(best->order, hit, &best->hits[0])) {
            best->hits[0] = *hit;
            sink(best, best->count);
        }
        return;
    }
    if (best->count == best->capacity)
        best->hits =
            cn_grow(best->hits, best->count, &best->capacity, sizeof(*best->hits));
    best->hits[best->count++] = *hit;
    raise_last(best);
}

static bool goes_on(void *arg, uint64_t last_ns)
{
    const struct best *best = arg;

    return best->order->sort != CN_SEARCH_BY_TIME || best->order->is_reversed ||
           best->count < best->limit ||
           (best->limit > 0 && last_ns >= best->hits[0].time_ns);
}

static bool offer_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                       const struct cn_rows *rows, struct cn_error *err)
{
    static const enum cn_store_field fields[] = {
        [CN_SEARCH_BY_TIME] = CN_STORE_FIELD_time_ns,
        [CN_SEARCH_BY_DURATION] = CN_STORE_FIELD_duration_ns,
        [CN_SEARCH_BY_CALLS] = CN_STORE_FIELD_calls,
        [CN_SEARCH_BY_ERRORS] = CN_STORE_FIELD_errors,
        [CN_SEARCH_BY_RECORDS] = CN_STORE_FIELD_records,
    };
    struct best *best = arg;
    struct cn_store_column key, time;

    if (!cn_columns_field(index->columns, fields[best->order->sort], &key, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    /* What came last is mostly the newest: with it in place the others are soon refused. */
    for (uint32_t row = cn_rows_before(rows, rows->count); row < rows->count;
         row = cn_rows_before(rows, row)) {
        struct cn_search_hit hit = {
            .segment = segment,
            .row = row,
            .key = cn_joined_number(&index->joined, fields[best->order->sort], row,
                                    cn_store_column_at(&key, row)),
            .time_ns = cn_store_column_at(&time, row),
        };

        offer(best, &hit);
    }
    return true;
}

/* The heap becomes a list, the best first. */
static void sort_best(struct best *best)
{
    for (size_t rest = best->count; rest > 1; rest--) {
        swap(best, 0, rest - 1);
        sink(best, rest - 1);
    }
}

bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                    const struct cn_search_order *order, struct cn_search_hits *out,
                    struct cn_error *err)
{
    struct best best = {.order = order, .limit = SIZE_MAX};
    size_t skipped;

    if (order->limit < SIZE_MAX - order->offset)
        best.limit = (size_t)(order->limit + order->offset);
    if (!cn_search_walk(search, query, goes_on, offer_rows, &best, err)) {
        free(best.hits);
        return false;
    }
    sort_best(&best);
    skipped = order->offset < best.count ? (size_t)order->offset : best.count;
    if (skipped > 0 && best.count > skipped)
        memmove(best.hits, best.hits + skipped,
                (best.count - skipped) * sizeof(*best.hits));
    *out = (struct cn_search_hits){best.hits, best.count - skipped};
    return true;
}

void cn_search_hits_done(struct cn_search_hits *hits)
{
    free(hits->list);
    *hits = (struct cn_search_hits){0};
}

static bool count_rows(void *arg, uint32_t segment, const struct cn_store_index *index,
                       const struct cn_rows *rows, struct cn_error *err)
{
    (void)segment;
    (void)index;
    (void)err;
    *(uint64_t *)arg += cn_rows_size(rows);
    return true;
}

bool cn_search_count(struct cn_search *search, const struct cn_query *query,
                     uint64_t *count, struct cn_error *err)
{
    uint64_t sum = 0;

    if (!cn_search_walk(search, query, NULL, count_rows, &sum, err))
        return false;
    *count = sum;
    return true;
}

struct histogram {
    uint64_t first_ns, step_ns;
    size_t count;
    struct cn_search_time_step *steps;
};

static bool count_steps(void *arg, uint32_t segment, const struct cn_store_index *index,
                        const struct cn_rows *rows, struct cn_error *err)
{
    const struct histogram *histogram = arg;
    struct cn_store_column time, errors;

    (void)segment;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_errors, &errors, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        uint64_t time_ns = cn_store_column_at(&time, row), step;

        if (time_ns < histogram->first_ns)
            continue;
        step = (time_ns - histogram->first_ns) / histogram->step_ns;
        if (step >= histogram->count)
            continue;
        histogram->steps[step].count++;
        histogram->steps[step].error_count += cn_store_column_at(&errors, row) > 0;
    }
    return true;
}

bool cn_search_histogram(struct cn_search *search, const struct cn_query *query,
                         uint64_t first_ns, uint64_t step_ns, size_t count,
                         struct cn_search_time_step *out, struct cn_error *err)
{
    struct histogram histogram = {first_ns, step_ns > 0 ? step_ns : 1, count, out};

    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_search_time_step){0};
    return cn_search_walk(search, query, NULL, count_steps, &histogram, err);
}

static bool extend_range(void *arg, uint32_t segment, const struct cn_store_index *index,
                         const struct cn_rows *rows, struct cn_error *err)
{
    uint64_t *range = arg;
    struct cn_store_column time;

    (void)segment;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        uint64_t time_ns = cn_store_column_at(&time, row);

        range[0] = time_ns < range[0] ? time_ns : range[0];
        range[1] = time_ns > range[1] ? time_ns : range[1];
    }
    return true;
}

bool cn_search_time_range(struct cn_search *search, const struct cn_query *query,
                          uint64_t *first_ns, uint64_t *last_ns, struct cn_error *err)
{
    uint64_t range[2] = {UINT64_MAX, 0};

    if (!cn_search_walk(search, query, NULL, extend_range, range, err))
        return false;
    *first_ns = range[0];
    *last_ns = range[1];
    return true;
}
