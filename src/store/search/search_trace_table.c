/* Chooses the segments whose rows are grouped by trace: all, or in object storage those that may have
 * rows of the traces that a query finds. */

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "store/index/word_filter.h"
#include "store/search/query.h"
#include "store/search/search_state.h"
#include "store/segment/reader.h"

/* The index of a segment whose rows can be grouped by trace; NULL if they are damaged. */
static const struct cn_store_index *index_for_traces(struct cn_search *search,
                                                     uint32_t segment)
{
    static const enum cn_store_field needed[] = {
        CN_STORE_FIELD_trace_high, CN_STORE_FIELD_trace_low, CN_STORE_FIELD_part,
        CN_STORE_FIELD_time_ns,    CN_STORE_FIELD_calls,     CN_STORE_FIELD_duration_ns,
        CN_STORE_FIELD_records,    CN_STORE_FIELD_errors,    CN_STORE_FIELD_flags,
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

/* Trace ids of hits, and the segments that they were found in. */
struct hit_ids {
    struct cn_query_number *list;
    size_t count, capacity;
    bool *is_found;
};

enum { IDS_MAX = 1 << 16 }; /* more are in most segments anyway */

static bool note_ids(void *arg, uint32_t segment, const struct cn_store_index *index,
                     const struct cn_rows *rows, struct cn_error *err)
{
    struct hit_ids *ids = arg;
    struct cn_store_column high, low;

    ids->is_found[segment] = true;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count && ids->count < IDS_MAX;
         row = cn_rows_next(rows, row + 1)) {
        ids->list = cn_grow(ids->list, ids->count, &ids->capacity, sizeof(*ids->list));
        ids->list[ids->count++] = (struct cn_query_number){cn_store_column_at(&high, row),
                                                           cn_store_column_at(&low, row)};
    }
    return true;
}

/* True if a segment may have rows of one of these traces. */
static bool may_have_ids(const struct cn_segment *segment, const struct hit_ids *ids)
{
    struct cn_bytes filter = cn_segment_filter(segment);

    if (filter.len == 0 || ids->count == IDS_MAX)
        return true;
    for (size_t i = 0; i < ids->count; i++)
        if (cn_word_filter_may_have_id(filter, ids->list[i].high, ids->list[i].low))
            return true;
    return false;
}

/* Choose the segments that may have rows of the traces that a query finds: all that have no filter,
 * or without a query. */
static bool choose_segments(struct cn_search *search, const struct cn_query *query,
                            bool *chosen, struct cn_error *err)
{
    struct hit_ids ids = {.is_found = chosen};
    struct cn_search_visitor visitor = {.visit = note_ids, .arg = &ids};
    bool has_filter = false, ok = true;

    for (size_t i = 0; i < search->count; i++)
        has_filter |= cn_segment_filter(cn_store_segment(search->store, i)).len > 0;
    if (query && has_filter)
        ok = cn_search_walk(search, query, &visitor, err);
    for (size_t i = 0; ok && i < search->count; i++)
        chosen[i] = chosen[i] || !query || !has_filter ||
                    may_have_ids(cn_store_segment(search->store, i), &ids);
    free(ids.list);
    return ok;
}

/* The indexes that a table is made of. */
struct indexes {
    struct cn_search *search;
    const bool *chosen;
    const struct cn_store_index **list;
};

static void open_chosen(void *arg, size_t i, unsigned worker)
{
    struct indexes *indexes = arg;

    (void)worker;
    if (indexes->chosen[i])
        indexes->list[i] = index_for_traces(indexes->search, (uint32_t)i);
}

static bool make_traces(struct cn_search *search, const bool *chosen,
                        struct cn_error *err)
{
    const struct cn_store_index **indexes = cn_alloc(search->count, sizeof(*indexes));
    struct indexes opening = {search, chosen, indexes};
    struct cn_jobs jobs = {.count = search->count, .arg = &opening, .run = open_chosen};
    unsigned workers = cn_search_workers(search);
    bool ok;

    cn_pool_run(&jobs, workers > cn_pool_default_workers() ? workers : 1);
    cn_trace_table_done(&search->traces);
    ok = cn_trace_table_make(&search->traces, indexes, search->count, err);
    free(indexes);
    return ok;
}

bool cn_search_trace_table(struct cn_search *search, const struct cn_query *query,
                           const struct cn_trace_table **out, struct cn_error *err)
{
    bool *chosen = cn_alloc(search->count + 1, sizeof(*chosen));
    bool ok = choose_segments(search, query, chosen, err), is_made = search->in_traces;

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

const struct cn_trace_table *cn_search_traces_made(const struct cn_search *search)
{
    assert(search->in_traces);
    return &search->traces;
}
