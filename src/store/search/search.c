#include "store/search/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/run/clock.h"
#include "store/search/page.h"
#include "store/search/query.h"
#include "store/search/seen.h"
#include "store/search/segments.h"
#include "store/search/whole.h"
#include "store/segment/reader.h"
#include "store/segment/scan.h"

static bool read_id(void *search, uint32_t segment, uint32_t row, uint64_t id[3])
{
    const struct cn_store *store = cn_search_store(search);
    struct cn_store_row found;
    struct cn_error ignored;

    if (!cn_segment_row(cn_store_segment(store, segment), row, &found, &ignored))
        return false;
    id[0] = found.trace_high;
    id[1] = found.trace_low;
    id[2] = found.span_id;
    return true;
}

/* A page of rows; with `whole`, of these traces alone. */
struct rows_search {
    struct cn_search_page page;
    const struct cn_whole *whole;
};

static bool may_improve_rows(void *arg, uint64_t time_ns)
{
    return cn_search_page_may_improve(&((struct rows_search *)arg)->page, time_ns);
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
    struct rows_search *found = arg;
    struct cn_search_page *page = &found->page;
    const struct cn_rows *whole = found->whole ? &found->whole->all[segment] : NULL;
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
        if (whole && (row >= whole->count || !cn_rows_has(whole, row)))
            continue;
        cn_search_page_offer(
            page,
            cn_joined_number(&index->joined, field, row, cn_store_column_at(&key, row)),
            cn_store_column_at(&time, row), segment, row);
    }
    return true;
}

/* `seen` is as in cn_search_visitor. */
static bool find_rows(struct cn_search *search, const struct cn_query *query,
                      const struct cn_whole *whole, const struct cn_search_order *order,
                      struct cn_search_seen *seen, struct cn_search_hits *out,
                      struct cn_error *err)
{
    struct rows_search found = {
        .page = {.order = order, .read_id = read_id, .arg = search}, .whole = whole};
    struct cn_search_visitor visitor = {
        .visit = offer_rows,
        .goes_on = order->sort == CN_SEARCH_BY_TIME ? may_improve_rows : NULL,
        .arg = &found,
        .is_oldest_first = order->is_reversed,
        .seen = seen,
    };
    bool ok;

    cn_search_page_begin(&found.page);
    ok = cn_search_walk(search, query, &visitor, err);
    if (ok)
        out->list = cn_search_page_take(&found.page, &out->count);
    cn_best_done(&found.page.best);
    return ok;
}

/* Remove hits whose span is an earlier hit: it is stored twice. */
static void drop_repeated(struct cn_search *search, struct cn_search_hits *hits)
{
    struct cn_map seen = {0};
    size_t kept = 0;

    for (size_t i = 0; i < hits->count; i++) {
        const struct cn_search_hit hit = hits->list[i];
        uint64_t id[3];
        uint32_t *is_seen;

        if (read_id(search, hit.segment, hit.row, id) && id[2] != 0) {
            is_seen = cn_map_at(&seen, cn_span_key(id[0], id[1], id[2], 0), 0);
            if (*is_seen)
                continue;
            *is_seen = 1;
        }
        hits->list[kept++] = hit;
    }
    hits->count = kept;
    cn_map_done(&seen);
}

/* A small page. Spans that are stored twice are next to each other, so they are found among the hits
 * of the page and a few more. */
static bool find_few(struct cn_search *search, const struct cn_query *query,
                     const struct cn_search_order *order, struct cn_search_hits *out,
                     struct cn_error *err)
{
    enum { SPARE = 32, FACTOR = 4 };
    uint64_t wanted = order->offset + order->limit;
    struct cn_search_hits hits = {0};
    bool is_full = true;

    for (uint64_t spare = SPARE; is_full && hits.count < wanted; spare *= FACTOR) {
        struct cn_search_order more = {order->sort, order->is_reversed, 0,
                                       wanted + spare};

        cn_search_hits_done(&hits);
        if (!find_rows(search, query, NULL, &more, NULL, &hits, err))
            return false;
        is_full = hits.count == more.limit;
        drop_repeated(search, &hits);
    }
    if (hits.count > wanted)
        hits.count = (size_t)wanted;
    hits.count -= order->offset < hits.count ? (size_t)order->offset : hits.count;
    if (hits.count > 0)
        memmove(hits.list, hits.list + order->offset, hits.count * sizeof(*hits.list));
    *out = hits;
    return true;
}

bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                    const struct cn_search_order *order, struct cn_search_hits *out,
                    struct cn_error *err)
{
    enum { FEW = 4096 };
    struct cn_search_seen seen = {0};
    bool ok = order->offset < FEW && order->limit < FEW
                  ? find_few(search, query, order, out, err)
                  : find_rows(search, query, NULL, order, &seen, out, err);

    cn_search_seen_done(&seen);
    return ok;
}

bool cn_search_rows_of(struct cn_search *search, const struct cn_query *traces,
                       const struct cn_query *query, const struct cn_search_order *order,
                       struct cn_search_hits *out, struct cn_error *err)
{
    const struct cn_whole *whole;

    if (traces->count == 0)
        return cn_search_rows(search, query, order, out, err);
    return cn_search_whole(search, traces, false, CN_TRACE_TABLE_ALL, &whole, err) &&
           find_rows(search, query, whole, order, NULL, out, err);
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
    struct cn_search_seen seen = {0};
    uint64_t sum = 0;
    struct cn_search_visitor visitor = {.visit = count_rows, .arg = &sum, .seen = &seen};
    bool ok = cn_search_walk(search, query, &visitor, err);

    cn_search_seen_done(&seen);
    if (ok)
        *count = sum;
    return ok;
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
