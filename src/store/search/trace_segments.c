/* Chooses the segments whose rows are grouped by trace: all, or those that may have rows of the traces
 * that a query finds, by their filters in object storage, by their tables of ids elsewhere. */

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/sort.h"
#include "store/index/word_filter.h"
#include "store/search/query.h"
#include "store/search/state.h"
#include "store/segment/reader.h"

/* The index of a segment whose rows can be grouped by trace; NULL if they are damaged. */
static const struct cn_store_index *index_for_traces(struct cn_search *search,
                                                     uint32_t segment)
{
    static const enum cn_store_field needed[] = {
        CN_STORE_FIELD_trace_high, CN_STORE_FIELD_trace_low, CN_STORE_FIELD_part,
        CN_STORE_FIELD_time_ns,    CN_STORE_FIELD_calls,     CN_STORE_FIELD_duration_ns,
        CN_STORE_FIELD_records,    CN_STORE_FIELD_errors,    CN_STORE_FIELD_flags,
        CN_STORE_FIELD_parent_id,  CN_STORE_FIELD_span_id,
    };
    const struct cn_store_index *index;
    struct cn_store_column column;
    struct cn_error err;
    bool ok = cn_search_index(search, segment, &index, &err);

    for (size_t i = 0; ok && i < sizeof(needed) / sizeof(needed[0]); i++)
        ok = cn_columns_field(index->columns, needed[i], &column, &err);
    if (!ok)
        search->failures[segment] = err;
    return ok ? index : NULL;
}

/* A trace with hits, by its id; and the earliest of its hits. */
struct hit_id {
    uint64_t high, low, time_ns;
};

/* Traces of hits, and the segments that they were found in. */
struct hit_ids {
    struct hit_id *list;
    size_t count, capacity, max;
    size_t newest_max; /* only so many are of interest, the newest; 0: all */
    uint64_t floor_ns; /* older hits are not of interest */
    uint64_t rest_ns;  /* no trace that was dropped is after it; 0: there is none */
    bool *is_found;
};

enum { IDS_MAX = 1 << 16 }; /* more are in most segments anyway */

/* Drop all except the newest. A trace is not after the earliest of its hits. */
static void drop_older(struct hit_ids *ids)
{
    size_t kept = 0, max = ids->newest_max;

    if (ids->count == 0)
        return;
    CN_SORT(ids->list, ids->count, CN_UP(struct hit_id, high), CN_UP(struct hit_id, low),
            CN_UP(struct hit_id, time_ns));
    for (size_t i = 0; i < ids->count; i++)
        if (i == 0 || ids->list[i].high != ids->list[i - 1].high ||
            ids->list[i].low != ids->list[i - 1].low)
            ids->list[kept++] = ids->list[i];
    CN_SORT(ids->list, kept, CN_DOWN(struct hit_id, time_ns));
    ids->count = kept;
    if (kept > max) {
        if (ids->list[max].time_ns > ids->rest_ns)
            ids->rest_ns = ids->list[max].time_ns;
        ids->floor_ns = ids->list[max].time_ns;
        ids->count = max;
    }
}

/* True if a hit is so old that its trace is dropped, unless another hit of it is newer. */
static bool is_too_old(struct hit_ids *ids, uint64_t time_ns)
{
    enum { CROWD = 4 };

    if (ids->newest_max == 0)
        return false;
    if (ids->count >= CROWD * ids->newest_max)
        drop_older(ids);
    if (ids->floor_ns == 0 || time_ns > ids->floor_ns)
        return false;
    if (time_ns > ids->rest_ns)
        ids->rest_ns = time_ns;
    return true;
}

static bool note_ids(void *arg, uint32_t segment, const struct cn_store_index *index,
                     const struct cn_rows *rows, struct cn_error *err)
{
    struct hit_ids *ids = arg;
    struct cn_store_column high, low, time;

    ids->is_found[segment] = true;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    /* The last rows are mostly the newest: after them most others are too old. */
    for (uint32_t row = cn_rows_before(rows, rows->count);
         row < rows->count && ids->count < ids->max; row = cn_rows_before(rows, row)) {
        uint64_t time_ns = cn_store_column_at(&time, row);

        if (is_too_old(ids, time_ns))
            continue;
        CN_PUSH(ids->list, ids->count, ids->capacity,
                (struct hit_id){cn_store_column_at(&high, row),
                                cn_store_column_at(&low, row), time_ns});
    }
    return true;
}

static void note_row(void *arg, uint32_t row)
{
    (void)row;
    *(bool *)arg = true;
}

/* True if a segment may have rows of one of these traces. */
static bool may_have_ids(const struct cn_segment *segment, const struct hit_ids *ids)
{
    struct cn_bytes filter = cn_segment_filter(segment);
    /* Columns in object storage are fetched when they are asked for. */
    const struct cn_columns *columns =
        filter.len > 0 || ids->count == 0 ? NULL : cn_segment_columns(segment);

    if (ids->count == ids->max)
        return true;
    for (size_t i = 0; i < ids->count; i++) {
        uint64_t high = ids->list[i].high, low = ids->list[i].low;
        bool has_trace = false;

        if (filter.len > 0
                ? cn_word_filter_may_have_id(filter, high, low)
                : !cn_columns_find_trace(columns, high, low, note_row, &has_trace) ||
                      has_trace)
            return true;
    }
    return false;
}

static bool has_filters(const struct cn_search *search)
{
    for (size_t i = 0; i < search->count; i++)
        if (cn_segment_filter(cn_store_segment(search->store, i)).len > 0)
            return true;
    return false;
}

bool cn_search_is_few(const struct cn_search *search, size_t trace_max)
{
    enum { FILTERED_MAX = 1 << 16, ROWS_A_LOOKUP = 16 };
    bool has_all = search->in_traces != NULL;

    if (has_filters(search))
        return trace_max < FILTERED_MAX;
    for (size_t i = 0; has_all && i < search->count; i++)
        has_all = search->in_traces[i];
    return !has_all && search->count > 1 &&
           trace_max < search->row_count / ROWS_A_LOOKUP / search->count;
}

/* Choose the segments that may have rows of the traces that a query finds: all without a query, or
 * if there are no filters and not only the newest traces are wanted. */
static bool choose_segments(struct cn_search *search, const struct cn_query *query,
                            struct cn_search_newest *newest, bool *chosen,
                            struct cn_error *err)
{
    struct hit_ids ids = {.is_found = chosen,
                          .max = newest ? SIZE_MAX : IDS_MAX,
                          .newest_max = newest ? newest->trace_max : 0};
    struct cn_search_visitor visitor = {.visit = note_ids,
                                        .arg = &ids,
                                        .is_rough = true,
                                        .end = newest ? newest->end : 0};
    bool is_all = !query || (!newest && !has_filters(search)), ok = true;
    struct cn_query *seed =
        !is_all && query->joins ? cn_search_seed(search, query) : NULL;

    is_all = is_all || (query->joins && !seed);
    if (!is_all)
        ok = cn_search_walk(search, seed ? seed : query, &visitor, err);
    cn_query_free(seed);
    if (newest) {
        drop_older(&ids);
        newest->rest_ns = ids.rest_ns;
    }
    for (size_t i = 0; ok && i < search->count; i++)
        chosen[i] =
            chosen[i] || is_all || may_have_ids(cn_store_segment(search->store, i), &ids);
    free(ids.list);
    return ok;
}

/* The indexes that a table is made of. */
struct indexes {
    struct cn_search *search;
    uint32_t *segments; /* that were chosen */
    const struct cn_store_index **list;
};

static void open_chosen(void *arg, size_t i, unsigned worker)
{
    struct indexes *indexes = arg;
    uint32_t segment = indexes->segments[i];

    (void)worker;
    indexes->list[segment] = index_for_traces(indexes->search, segment);
}

static bool make_traces(struct cn_search *search, const bool *chosen,
                        struct cn_error *err)
{
    const struct cn_store_index **indexes = cn_alloc(search->count, sizeof(*indexes));
    struct indexes opening = {search, cn_alloc(search->count, sizeof(uint32_t)), indexes};
    struct cn_jobs jobs = {.arg = &opening, .run = open_chosen};
    unsigned workers = cn_search_workers(search);
    bool ok;

    for (size_t i = 0; i < search->count; i++)
        if (chosen[i])
            opening.segments[jobs.count++] = (uint32_t)i;
    cn_pool_run(&jobs, workers > cn_pool_default_workers() ? workers : 1);
    cn_trace_table_done(&search->traces);
    search->made_count++;
    ok = cn_trace_table_make(&search->traces, indexes, search->count, err);
    free(opening.segments);
    free(indexes);
    return ok;
}

bool cn_search_newest_table(struct cn_search *search, const struct cn_query *query,
                            struct cn_search_newest *newest,
                            const struct cn_trace_table **out, struct cn_error *err)
{
    bool *chosen = cn_alloc(search->count + 1, sizeof(*chosen));
    bool ok = choose_segments(search, query, newest, chosen, err);
    bool is_made = search->in_traces;

    for (size_t i = 0; ok && search->in_traces && i < search->count; i++) {
        is_made = is_made && (!chosen[i] || search->in_traces[i]);
        chosen[i] = chosen[i] || search->in_traces[i];
    }
    ok = ok && (is_made || make_traces(search, chosen, err));
    if (ok) {
        free(search->in_traces);
        search->in_traces = chosen;
        *out = &search->traces;
    } else {
        free(chosen);
    }
    return ok;
}

bool cn_search_trace_table(struct cn_search *search, const struct cn_query *query,
                           const struct cn_trace_table **out, struct cn_error *err)
{
    return cn_search_newest_table(search, query, NULL, out, err);
}

const struct cn_trace_table *cn_search_traces_made(const struct cn_search *search)
{
    assert(search->in_traces);
    return &search->traces;
}
