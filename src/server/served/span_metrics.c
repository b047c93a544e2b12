#include "server/served/span_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "server/served/store.h"
#include "store/index/columns.h"
#include "store/search/segments.h"

enum { NEW_ROWS_MAX = 2000000 };

/* Powers of two from 2 ms on, as Tempo's generator has them. */
double cn_span_bucket_s(size_t i)
{
    return i + 1 < CN_SPAN_BUCKETS ? 0.002 * (double)(UINT64_C(1) << i) : INFINITY;
}

static void add_to(struct cn_span_histogram *histogram, const struct cn_paired_span *span)
{
    double seconds = (double)span->duration_ns / 1e9;
    size_t i = 0;

    while (seconds > cn_span_bucket_s(i))
        i++;
    histogram->counts[i]++;
    histogram->count++;
    histogram->sum_s += seconds;
    histogram->exemplars[i] = (struct cn_span_exemplar){span->trace_high, span->trace_low,
                                                        span->time_ns, span->duration_ns};
}

/* The columns of a segment that are counted, and what its words are. */
struct metrics_segment {
    const struct cn_store_index *index;
    struct cn_store_column columns[CN_STORE_FIELD_COUNT];
    struct cn_map names; /* by word: number of a name + 1 */
};

static const enum cn_store_field fields[] = {
    CN_STORE_FIELD_trace_high, CN_STORE_FIELD_trace_low, CN_STORE_FIELD_span_id,
    CN_STORE_FIELD_parent_id,  CN_STORE_FIELD_time_ns,   CN_STORE_FIELD_duration_ns,
    CN_STORE_FIELD_flags,      CN_STORE_FIELD_method,    CN_STORE_FIELD_type,
    CN_STORE_FIELD_service,    CN_STORE_FIELD_part,
};

static uint64_t at(const struct metrics_segment *segment, enum cn_store_field field,
                   uint32_t row)
{
    return cn_store_column_at(&segment->columns[field], row);
}

static uint32_t name_of(struct cn_span_metrics *metrics, struct metrics_segment *segment,
                        enum cn_store_field field, uint32_t row)
{
    uint32_t word = (uint32_t)at(segment, field, row);
    uint32_t *known = cn_map_at(&segment->names, word, 0);
    struct cn_text text = {0};
    struct cn_error ignored;

    if (*known > 0)
        return *known - 1;
    if (word != 0 && !cn_store_index_print(segment->index, word, &text, &ignored))
        cn_text_clear(&text);
    *known = cn_names_add(&metrics->names, cn_text_str(&text)) + 1;
    cn_text_done(&text);
    return *known - 1;
}

/* The series of a span; NULL if there are too many. */
static struct cn_span_series *series_of(struct cn_span_metrics *metrics, uint32_t service,
                                        uint32_t name, uint32_t kind, bool has_failed)
{
    uint64_t both = (uint64_t)service << 32 | name;
    uint32_t pair = *cn_map_at(&metrics->pairs, both, (uint32_t)metrics->pairs.count);
    uint64_t key = (uint64_t)pair << 32 | kind << 1 | has_failed;
    uint32_t known = cn_map_find(&metrics->by_names, key, 0);

    if (known == 0 && metrics->series_count == CN_SPAN_SERIES_MAX)
        return NULL;
    if (known == 0) {
        CN_PUSH(metrics->series, metrics->series_count, metrics->series_capacity,
                ((struct cn_span_series){.service = metrics->names.list[service],
                                         .name = metrics->names.list[name],
                                         .kind = metrics->names.list[kind],
                                         .has_failed = has_failed}));
        known = (uint32_t)metrics->series_count;
        *cn_map_at(&metrics->by_names, key, 0) = known;
    }
    return &metrics->series[known - 1];
}

/* A call from one service to another. */
static void count_pair(void *arg, const struct cn_paired_span *caller,
                       const struct cn_paired_span *callee)
{
    struct cn_span_metrics *metrics = arg;
    uint64_t key = (uint64_t)caller->service << 32 | callee->service;
    uint32_t known = cn_map_find(&metrics->edges_by_names, key, 0);

    if (caller->service == callee->service)
        return;
    if (known == 0 && metrics->edge_count == CN_SPAN_EDGES_MAX) {
        metrics->left_out++;
        return;
    }
    if (known == 0) {
        CN_PUSH(metrics->edges, metrics->edge_count, metrics->edge_capacity,
                ((struct cn_span_edge){.client = metrics->names.list[caller->service],
                                       .server = metrics->names.list[callee->service]}));
        known = (uint32_t)metrics->edge_count;
        *cn_map_at(&metrics->edges_by_names, key, 0) = known;
    }
    struct cn_span_edge *edge = &metrics->edges[known - 1];
    edge->failed += callee->has_failed || caller->has_failed;
    add_to(&edge->of_server, callee);
    add_to(&edge->of_client, caller);
}

static void count_row(struct cn_span_metrics *metrics, struct metrics_segment *segment,
                      uint32_t row)
{
    struct cn_paired_span span = {
        .trace_high = at(segment, CN_STORE_FIELD_trace_high, row),
        .trace_low = at(segment, CN_STORE_FIELD_trace_low, row),
        .id = at(segment, CN_STORE_FIELD_span_id, row),
        .parent_id = at(segment, CN_STORE_FIELD_parent_id, row),
        .time_ns = at(segment, CN_STORE_FIELD_time_ns, row),
        .duration_ns = at(segment, CN_STORE_FIELD_duration_ns, row),
        .has_failed = at(segment, CN_STORE_FIELD_flags, row) & CN_ROW_ERROR,
        .service = name_of(metrics, segment, CN_STORE_FIELD_service, row),
    };
    struct cn_span_series *series = series_of(
        metrics, span.service, name_of(metrics, segment, CN_STORE_FIELD_method, row),
        name_of(metrics, segment, CN_STORE_FIELD_type, row), span.has_failed);

    if (series)
        add_to(&series->durations, &span);
    else
        metrics->left_out++;
    cn_span_pairs_add(&metrics->joined, &span, count_pair, metrics);
}

/* Count rows of a segment from *counted on, and at most `max`; returns how many. */
static uint32_t count_segment(struct cn_span_metrics *metrics, struct cn_search *search,
                              uint32_t number, uint32_t *counted, uint32_t max)
{
    struct metrics_segment segment = {0};
    uint32_t begin = *counted, end;
    struct cn_error ignored;

    if (!cn_search_index(search, number, &segment.index, &ignored))
        return 0;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (!cn_columns_field(segment.index->columns, fields[i],
                              &segment.columns[fields[i]], &ignored))
            return 0;
    end = segment.index->columns->row_count;
    end = end > begin && end - begin > max ? begin + max : end;
    for (uint32_t row = begin; row < end; row++)
        if (at(&segment, CN_STORE_FIELD_part, row) == 0)
            count_row(metrics, &segment, row);
    cn_map_done(&segment.names);
    *counted = end > begin ? end : begin;
    return *counted - begin;
}

void cn_span_metrics_begin(struct cn_span_metrics *metrics,
                           const struct cn_served_store *store)
{
    *metrics = (struct cn_span_metrics){0};
    for (size_t i = 0; i < cn_store_segment_count(store->store); i++) {
        const struct cn_segment *segment = cn_store_segment(store->store, i);

        (void)cn_map_at(&metrics->counted, cn_segment_number(segment),
                        cn_segment_row_count(segment));
    }
}

/* Count at most `left` rows; returns how many are left of these. */
static uint32_t count_new(struct cn_span_metrics *metrics, struct cn_served_store *store,
                          uint32_t left)
{

    for (size_t i = 0; i < cn_store_segment_count(store->store) && left > 0; i++) {
        const struct cn_segment *segment = cn_store_segment(store->store, i);
        uint32_t *counted = cn_map_at(&metrics->counted, cn_segment_number(segment), 0);
        uint32_t first, last;

        /* Its spans were counted where they were before. */
        if (cn_segment_has_replaced(segment, &first, &last))
            *counted = cn_segment_row_count(segment);
        if (*counted < cn_segment_row_count(segment))
            left -= count_segment(metrics, store->search, (uint32_t)i, counted, left);
    }
    return left;
}

void cn_span_metrics_update(struct cn_span_metrics *metrics,
                            struct cn_served_store *store)
{
    (void)count_new(metrics, store, NEW_ROWS_MAX);
}

void cn_span_metrics_catch_up(struct cn_span_metrics *metrics,
                              struct cn_served_store *store)
{
    struct cn_error ignored;

    if (cn_served_store_renew(store, &ignored))
        while (count_new(metrics, store, NEW_ROWS_MAX) < NEW_ROWS_MAX)
            continue;
}

void cn_span_metrics_done(struct cn_span_metrics *metrics)
{
    cn_map_done(&metrics->counted);
    cn_names_done(&metrics->names);
    cn_map_done(&metrics->pairs);
    cn_map_done(&metrics->by_names);
    cn_map_done(&metrics->edges_by_names);
    cn_span_pairs_done(&metrics->joined);
    free(metrics->series);
    free(metrics->edges);
    *metrics = (struct cn_span_metrics){0};
}
