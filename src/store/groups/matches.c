#include "store/groups/matches.h"

#include <stdlib.h>

#include "store/search/seen.h"
#include "store/search/segments.h"
#include "store/segment/weights.h"

struct span_visit {
    cn_search_trace_visit visit;
    void *arg;
};

static bool visit_spans(void *arg, uint32_t segment, const struct cn_store_index *index,
                        const struct cn_rows *rows, struct cn_error *err)
{
    const struct span_visit *to = arg;
    struct cn_store_column time, duration, flags;

    if (!cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_duration_ns, &duration, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_flags, &flags, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        struct cn_trace_sum sum = {
            .time_ns = cn_store_column_at(&time, row),
            .duration_ns = cn_joined_number(&index->joined, CN_STORE_FIELD_duration_ns,
                                            row, cn_store_column_at(&duration, row)),
            .errors = (uint32_t)cn_joined_number(&index->joined, CN_STORE_FIELD_flags,
                                                 row, cn_store_column_at(&flags, row)) &
                      CN_ROW_ERROR,
            .segment = segment,
            .row = row,
        };

        to->visit(to->arg, &sum);
    }
    return true;
}

static bool count_spans(void *arg, uint32_t segment, const struct cn_store_index *index,
                        const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_search_trace_count *count = arg;
    struct cn_store_column time;

    (void)segment;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        uint64_t time_ns = cn_store_column_at(&time, row);

        count->count++;
        count->first_ns = time_ns < count->first_ns ? time_ns : count->first_ns;
        count->last_ns = time_ns > count->last_ns ? time_ns : count->last_ns;
    }
    return true;
}

static bool walk_spans(struct cn_search *search, const struct cn_query *query,
                       cn_search_visit visit, void *arg, struct cn_error *err)
{
    struct cn_search_seen seen = {0};
    struct cn_search_visitor visitor = {.visit = visit, .arg = arg, .seen = &seen};
    bool ok = cn_search_walk(search, query, &visitor, err);

    cn_search_seen_done(&seen);
    return ok;
}

bool cn_matches_count(struct cn_search *search, const struct cn_query *query,
                      enum cn_search_unit unit, struct cn_search_trace_count *out,
                      struct cn_error *err)
{
    *out = (struct cn_search_trace_count){.first_ns = UINT64_MAX};
    return unit == CN_SEARCH_SPANS ? walk_spans(search, query, count_spans, out, err)
                                   : cn_search_count_traces(search, query, out, err);
}

static bool weigh_spans(void *arg, uint32_t segment, const struct cn_store_index *index,
                        const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_row_weights weights = cn_segment_weights(index->segment);

    (void)segment;
    (void)err;
    *(double *)arg += cn_rows_weight(&weights, rows);
    return true;
}

struct trace_weights {
    struct cn_row_weights *list; /* by segment */
    double sum;
};

static void weigh_trace(void *arg, const struct cn_trace_sum *sum)
{
    struct trace_weights *weights = arg;

    weights->sum += cn_row_weight(&weights->list[sum->segment], sum->row);
}

bool cn_matches_estimate(struct cn_search *search, const struct cn_query *query,
                         enum cn_search_unit unit, double *out, struct cn_error *err)
{
    struct trace_weights weights = {0};

    *out = 0;
    if (unit == CN_SEARCH_SPANS)
        return walk_spans(search, query, weigh_spans, out, err);
    weights.list = cn_store_weights(cn_search_store(search));
    bool ok = cn_search_each_trace(search, query, weigh_trace, &weights, err);
    free(weights.list);
    *out = weights.sum;
    return ok;
}

bool cn_matches_visit(struct cn_search *search, const struct cn_query *query,
                      enum cn_search_unit unit, cn_search_trace_visit visit, void *arg,
                      struct cn_error *err)
{
    struct span_visit to = {visit, arg};

    return unit == CN_SEARCH_SPANS ? walk_spans(search, query, visit_spans, &to, err)
                                   : cn_search_each_trace(search, query, visit, arg, err);
}
