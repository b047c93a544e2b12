#include "store/search/search.h"

#include <stdlib.h>

#include "store/search/search_best.h"
#include "store/search/search_segments.h"

static bool goes_on(void *arg, uint64_t time_ns)
{
    return cn_best_may_take(arg, time_ns);
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
    struct cn_best *best = arg;
    bool is_reversed = best->order->is_reversed;
    struct cn_store_column key, time;

    if (!cn_columns_field(index->columns, fields[best->order->sort], &key, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    /* What came last is mostly the newest: with it in place the others are soon refused. */
    for (uint32_t row = is_reversed ? cn_rows_next(rows, 0)
                                    : cn_rows_before(rows, rows->count);
         row < rows->count;
         row = is_reversed ? cn_rows_next(rows, row + 1) : cn_rows_before(rows, row)) {
        struct cn_search_hit hit = {
            .segment = segment,
            .row = row,
            .key = cn_joined_number(&index->joined, fields[best->order->sort], row,
                                    cn_store_column_at(&key, row)),
            .time_ns = cn_store_column_at(&time, row),
        };

        cn_best_offer(best, &hit);
    }
    return true;
}

bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                    const struct cn_search_order *order, struct cn_search_hits *out,
                    struct cn_error *err)
{
    struct cn_best best;
    struct cn_search_visitor visitor = {
        .visit = offer_rows,
        .goes_on = order->sort == CN_SEARCH_BY_TIME ? goes_on : NULL,
        .arg = &best,
        .is_oldest_first = order->is_reversed,
    };

    cn_best_init(&best, order);
    if (!cn_search_walk(search, query, &visitor, err)) {
        cn_best_done(&best);
        return false;
    }
    cn_best_take(&best, out);
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
    struct cn_search_visitor visitor = {.visit = count_rows, .arg = &sum};

    if (!cn_search_walk(search, query, &visitor, err))
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
    struct cn_search_visitor visitor = {.visit = count_steps, .arg = &histogram};

    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_search_time_step){0};
    return cn_search_walk(search, query, &visitor, err);
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
    struct cn_search_visitor visitor = {.visit = extend_range, .arg = range};

    if (!cn_search_walk(search, query, &visitor, err))
        return false;
    *first_ns = range[0];
    *last_ns = range[1];
    return true;
}
