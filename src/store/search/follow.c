#include "store/search/follow.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "store/search/match.h"
#include "store/search/query.h"
#include "store/search/segments.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"

struct cn_follow {
    char *path;
    struct cn_store_query at; /* the last snapshot */
    struct cn_map counted;    /* by segment number: rows that were visited */
};

/* Rows of a segment that were visited. */
static uint32_t *counted_of(struct cn_follow *follow, uint32_t number)
{
    return cn_map_at(&follow->counted, number, 0);
}

bool cn_follow_open(struct cn_follow **out, const char *path, const char *query,
                    struct cn_error *err)
{
    struct cn_follow *follow = cn_alloc(1, sizeof(*follow));

    follow->path = cn_strdup(path);
    if (!cn_segments_check_local(path, err) ||
        !cn_store_query_open(&follow->at, path, query, err)) {
        cn_follow_close(follow);
        return false;
    }
    for (size_t i = 0; i < cn_store_segment_count(follow->at.store); i++) {
        const struct cn_segment *segment = cn_store_segment(follow->at.store, i);

        *counted_of(follow, cn_segment_number(segment)) = cn_segment_row_count(segment);
    }
    *out = follow;
    return true;
}

void cn_follow_close(struct cn_follow *follow)
{
    if (!follow)
        return;
    cn_store_query_close(&follow->at);
    cn_map_done(&follow->counted);
    free(follow->path);
    free(follow);
}

const struct cn_store_query *cn_follow_query(const struct cn_follow *follow)
{
    return &follow->at;
}

bool cn_follow_last(struct cn_follow *follow, uint64_t limit, cn_follow_visit visit,
                    void *arg, struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_TIME, .limit = limit};
    struct cn_search_hits hits;
    bool ok = true;

    if (limit == 0)
        return true;
    if (!cn_search_rows(follow->at.search, follow->at.query, &order, &hits, err))
        return false;
    for (size_t i = hits.count; ok && i-- > 0;)
        ok = visit(arg, follow->at.search, &hits.list[i], err);
    cn_search_hits_done(&hits);
    return ok;
}

/* A later part of a span that an agent sends in several is no other span. */
static bool is_span(const struct cn_store_index *index, uint32_t row)
{
    struct cn_store_row of;
    struct cn_error ignored;

    return cn_segment_row(index->segment, row, &of, &ignored) && of.part == 0;
}

/* Visit the rows of a segment of a search that were not visited so far. */
static bool visit_new(struct cn_follow *follow, struct cn_search *search,
                      const struct cn_query *query, uint32_t i, cn_follow_visit visit,
                      void *arg, struct cn_error *err)
{
    const struct cn_segment *segment = cn_store_segment(cn_search_store(search), i);
    uint32_t first = *counted_of(follow, cn_segment_number(segment));
    uint32_t end = cn_segment_row_count(segment);
    const struct cn_store_index *index;
    struct cn_rows rows;
    bool ok = true;

    if (first >= end)
        return true;
    *counted_of(follow, cn_segment_number(segment)) = end;
    if (!cn_search_index(search, i, &index, err) ||
        !cn_match(index, query, false, &rows, err))
        return false;
    for (uint32_t row = cn_rows_next(&rows, first); ok && row < rows.count && row < end;
         row = cn_rows_next(&rows, row + 1)) {
        struct cn_search_hit hit = {.segment = i, .row = row};

        ok = !is_span(index, row) || visit(arg, search, &hit, err);
    }
    cn_rows_done(&rows);
    return ok;
}

/* Segments that were replaced by others. */
struct follow_gone {
    uint32_t *list;
    size_t count, capacity;
};

/* Note what a segment replaced, unless it was looked at. Its own rows were visited in there. */
static bool note_replaced(struct cn_follow *follow, const struct cn_segment *segment,
                          struct follow_gone *gone)
{
    uint32_t *counted = counted_of(follow, cn_segment_number(segment)), first, last;

    if (!cn_segment_has_replaced(segment, &first, &last))
        return false;
    for (uint32_t number = first; *counted == 0 && number <= last; number++) {
        CN_PUSH(gone->list, gone->count, gone->capacity, number);
    }
    *counted = UINT32_MAX;
    return true;
}

/* A segment that was replaced is still there for a while: what it has that was not visited is. */
static bool visit_gone(struct cn_follow *follow, struct follow_gone *gone,
                       cn_follow_visit visit, void *arg, struct cn_error *err)
{
    char *dir = cn_segment_dir(follow->path, gone->list[--gone->count]);
    struct cn_search *search = NULL;
    struct cn_store *store = NULL;
    bool ok = access(dir, X_OK) != 0;

    if (!ok && cn_store_open(&store, dir, err) && cn_search_open(&search, store, err))
        ok = note_replaced(follow, cn_store_segment(store, 0), gone) ||
             visit_new(follow, search, follow->at.query, 0, visit, arg, err);
    else if (!ok) /* it was removed just now */
        ok = err->kind == CN_ERR_NOT_FOUND;
    cn_search_close(search);
    cn_store_close(store);
    free(dir);
    return ok;
}

static bool visit_segment(struct cn_follow *follow, uint32_t i, cn_follow_visit visit,
                          void *arg, struct cn_error *err)
{
    const struct cn_segment *segment = cn_store_segment(follow->at.store, i);
    struct follow_gone gone = {0};
    bool ok = true;

    if (!note_replaced(follow, segment, &gone))
        return visit_new(follow, follow->at.search, follow->at.query, i, visit, arg, err);
    while (ok && gone.count > 0)
        ok = visit_gone(follow, &gone, visit, arg, err);
    free(gone.list);
    return ok;
}

static bool take_snapshot(struct cn_follow *follow, struct cn_error *err)
{
    struct cn_search *search;
    struct cn_store *store;

    if (!cn_store_open_again(&store, follow->path, follow->at.store, err))
        return false;
    if (!cn_search_open_again(&search, store, follow->at.search, err)) {
        cn_store_close(store);
        return false;
    }
    cn_search_close(follow->at.search);
    cn_store_close(follow->at.store);
    follow->at.search = search;
    follow->at.store = store;
    return true;
}

bool cn_follow_next(struct cn_follow *follow, cn_follow_visit visit, void *arg,
                    struct cn_error *err)
{
    bool ok = take_snapshot(follow, err);

    for (size_t i = 0; ok && i < cn_store_segment_count(follow->at.store); i++)
        ok = visit_segment(follow, (uint32_t)i, visit, arg, err);
    return ok;
}
