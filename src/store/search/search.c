#include "store/search/search.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/best.h"
#include "base/run/clock.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/segment/reader.h"

/* The best rows so far. Reversed, the smallest numbers come first: the largest complements. */
struct page {
    const struct cn_store *store;
    const struct cn_search_order *order;
    uint64_t flip; /* all bits if reversed */
    struct cn_best best;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static bool read_place(const struct page *page, uint64_t place, struct cn_store_row *row)
{
    struct cn_error ignored;

    return cn_segment_row(cn_store_segment(page->store, (size_t)(place >> 32)),
                          (uint32_t)(place & UINT32_MAX), row, &ignored);
}

/* Rows at the same time are in the order of their ids, wherever they are stored. */
static int compare_places(const void *arg, uint64_t a, uint64_t b)
{
    const struct page *page = arg;
    struct cn_store_row x, y;
    int order = 0;

    if (read_place(page, a ^ page->flip, &x) && read_place(page, b ^ page->flip, &y)) {
        order = compare_u64(x.trace_high, y.trace_high);
        order = order ? order : compare_u64(x.trace_low, y.trace_low);
        order = order ? order : compare_u64(x.span_id, y.span_id);
        order = page->flip ? -order : order;
    }
    return order ? order : compare_u64(a, b);
}

static bool may_improve(void *arg, uint64_t time_ns)
{
    struct page *page = arg;

    cn_best_trim(&page->best);
    return page->best.limit > 0 &&
           (!page->best.has_worst || (time_ns ^ page->flip) >= page->best.worst.key);
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
        [CN_SEARCH_BY_SPANS] = CN_STORE_FIELD_time_ns,
    };
    struct page *page = arg;
    enum cn_store_field field = fields[page->order->sort];
    bool is_reversed = page->order->is_reversed;
    struct cn_store_column key, time;

    if (!cn_columns_field(index->columns, field, &key, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    /* The last rows are mostly the newest: after them most others are refused at once. */
    for (uint32_t row = is_reversed ? cn_rows_next(rows, 0)
                                    : cn_rows_before(rows, rows->count);
         row < rows->count;
         row = is_reversed ? cn_rows_next(rows, row + 1) : cn_rows_before(rows, row)) {
        uint64_t number =
            cn_joined_number(&index->joined, field, row, cn_store_column_at(&key, row));
        struct cn_best_item item = {
            .key = number ^ page->flip,
            .second = cn_store_column_at(&time, row) ^ page->flip,
            .id = ((uint64_t)segment << 32 | row) ^ page->flip,
        };

        cn_best_offer(&page->best, &item);
    }
    return true;
}

bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                    const struct cn_search_order *order, struct cn_search_hits *out,
                    struct cn_error *err)
{
    struct page page = {
        .store = cn_search_store(search),
        .order = order,
        .flip = order->is_reversed ? UINT64_MAX : 0,
    };
    struct cn_search_visitor visitor = {
        .visit = offer_rows,
        .goes_on = order->sort == CN_SEARCH_BY_TIME ? may_improve : NULL,
        .arg = &page,
        .is_oldest_first = order->is_reversed,
    };
    bool ok;

    cn_best_init(&page.best, order->limit < SIZE_MAX - order->offset
                                 ? (size_t)(order->limit + order->offset)
                                 : SIZE_MAX);
    page.best.compare = compare_places;
    page.best.arg = &page;
    ok = cn_search_walk(search, query, &visitor, err);
    if (ok) {
        cn_best_sort(&page.best, (size_t)order->offset);
        *out = (struct cn_search_hits){
            .list = cn_alloc(page.best.count, sizeof(*out->list)),
            .count = page.best.count,
        };
    }
    for (size_t i = 0; ok && i < out->count; i++) {
        const struct cn_best_item *item = &page.best.list[i];
        uint64_t id = item->id ^ page.flip;

        out->list[i] = (struct cn_search_hit){
            .segment = (uint32_t)(id >> 32),
            .row = (uint32_t)(id & UINT32_MAX),
            .key = item->key ^ page.flip,
            .time_ns = item->second ^ page.flip,
        };
    }
    cn_best_done(&page.best);
    return ok;
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

bool cn_store_query_open(struct cn_store_query *out, const char *path, const char *query,
                         struct cn_error *err)
{
    struct cn_store_query opened = {0};

    if (!cn_query_parse(&opened.query, query, cn_clock_date_ns(), err) ||
        !cn_store_open(&opened.store, path, err) ||
        !cn_search_open(&opened.search, opened.store, err)) {
        cn_store_query_close(&opened);
        return false;
    }
    *out = opened;
    return true;
}

void cn_store_query_close(struct cn_store_query *query)
{
    cn_search_close(query->search);
    cn_store_close(query->store);
    cn_query_free(query->query);
    *query = (struct cn_store_query){0};
}
