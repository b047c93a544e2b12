/* All spans of a trace: found by its id in every segment, once each, and joined by parent ids. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/contexts/context.h"
#include "store/segment/index.h"
#include "store/traceql/places.h"
#include "store/traceql/view.h"

struct row_adding {
    struct cn_tql_view *view;
    struct cn_tql_trace *trace;
    uint32_t segment;
    bool ok;
    struct cn_error *err;
};

static void add_row(void *arg, uint32_t row)
{
    struct row_adding *rows = arg;
    struct cn_tql_span span;

    if (!rows->ok)
        return;
    rows->ok = cn_tql_view_row(rows->view, rows->segment, row, &span, rows->err);
    /* A later part of a trace of an agent is no span of its own. */
    if (!rows->ok || span.part > 0)
        return;
    CN_PUSH(rows->trace->spans, rows->trace->count, rows->trace->capacity, span);
}

static uint64_t mix(uint64_t high, uint64_t low)
{
    return low ^ (high * 0x9e3779b97f4a7c15);
}

/* A segment that is being written has no table of ids: make one of hashes. */
static void hash_rows(struct cn_tql_segment *segment)
{
    uint32_t count = segment->index->columns->row_count;
    const struct cn_store_column *high = &segment->columns[CN_STORE_FIELD_trace_high];
    const struct cn_store_column *low = &segment->columns[CN_STORE_FIELD_trace_low];

    segment->before = cn_alloc(count + 1, sizeof(*segment->before));
    for (uint32_t row = 0; row < count; row++) {
        uint32_t *last = cn_map_at(
            &segment->rows,
            mix(cn_store_column_at(high, row), cn_store_column_at(low, row)), 0);

        segment->before[row] = *last;
        *last = row + 1;
    }
    segment->is_hashed = true;
}

static void find_hashed(struct row_adding *rows, uint32_t number, uint64_t high,
                        uint64_t low)
{
    struct cn_tql_segment *segment;
    struct cn_error ignored;

    if (!cn_tql_view_segment(rows->view, number,
                             CN_TQL_COLUMN(trace_high) | CN_TQL_COLUMN(trace_low),
                             &segment, &ignored))
        return;
    if (!segment->is_hashed)
        hash_rows(segment);
    for (uint32_t next = cn_map_find(&segment->rows, mix(high, low), 0); next > 0;
         next = segment->before[next - 1]) {
        uint32_t row = next - 1;

        if (cn_store_column_at(&segment->columns[CN_STORE_FIELD_trace_high], row) ==
                high &&
            cn_store_column_at(&segment->columns[CN_STORE_FIELD_trace_low], row) == low)
            add_row(rows, row);
    }
}

static bool list_rows(struct cn_tql_view *view, struct cn_tql_trace *trace,
                      struct cn_error *err)
{
    struct row_adding rows = {.view = view, .trace = trace, .ok = true, .err = err};
    const struct cn_tql_run_place *places;
    size_t count = view->places
                       ? cn_tql_places_of(view->places, trace->high, trace->low, &places)
                       : 0;

    for (size_t i = 0; i < count; i++) {
        rows.segment = places[i].segment;
        for (uint32_t row = places[i].first; row < places[i].end; row++)
            add_row(&rows, row);
    }
    if (count > 0)
        return rows.ok;
    for (uint32_t i = 0; rows.ok && i < view->segment_count; i++) {
        struct cn_tql_segment *segment;
        struct cn_error ignored;

        /* What cannot be read is reported when the search is checked. */
        if (!cn_tql_view_segment(view, i, 0, &segment, &ignored))
            continue;
        rows.segment = i;
        if (!cn_columns_find_trace(segment->index->columns, trace->high, trace->low,
                                   add_row, &rows))
            find_hashed(&rows, i, trace->high, trace->low);
    }
    return rows.ok;
}

static int by_time(const void *a, const void *b)
{
    const struct cn_tql_span *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->segment != y->segment)
        return x->segment < y->segment ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* A span that is stored twice is next to its copy; the first is kept. */
static void drop_doubles(struct cn_tql_trace *trace, struct cn_map *by_id)
{
    size_t kept = 0;

    for (size_t i = 0; i < trace->count; i++) {
        const struct cn_tql_span *span = &trace->spans[i];
        const struct cn_tql_span *before = kept > 0 ? &trace->spans[kept - 1] : NULL;

        if (before && span->id != 0 && span->id == before->id &&
            span->parent_id == before->parent_id && span->time_ns == before->time_ns)
            continue;
        (void)cn_map_at(by_id, span->id, (uint32_t)kept);
        trace->spans[kept++] = *span;
    }
    trace->count = kept;
}

/* The children of each span, from the last to the first, so that lists are in order of time. */
struct children {
    uint32_t *first, *next;
};

static void find_parents(struct cn_tql_trace *trace, const struct cn_map *by_id,
                         struct children *children)
{
    for (size_t i = trace->count; i-- > 0;) {
        struct cn_tql_span *span = &trace->spans[i];
        uint32_t parent =
            span->parent_id != 0 ? cn_map_find(by_id, span->parent_id, CN_NONE) : CN_NONE;

        span->trace = trace;
        if (parent == CN_NONE || parent == i)
            continue;
        span->parent = parent;
        trace->spans[parent].child_count++;
        children->next[i] = children->first[parent];
        children->first[parent] = (uint32_t)i;
    }
}

/* Give a span its first number and a place in the order. */
static void enter(struct cn_tql_trace *trace, uint32_t number, bool is_rooted,
                  uint32_t *bound)
{
    trace->spans[number].left = (*bound)++;
    trace->spans[number].is_rooted = is_rooted;
    CN_PUSH(trace->order, trace->order_count, trace->order_capacity, number);
}

/* Number a span without a parent and those below it. */
static void number_below(struct cn_tql_trace *trace, struct children *children,
                         uint32_t top, uint32_t *bound)
{
    bool is_rooted = trace->spans[top].parent_id == 0;
    uint32_t at = top;

    enter(trace, top, is_rooted, bound);
    for (;;) {
        uint32_t child = children->first[at];

        if (child != CN_NONE) {
            children->first[at] = children->next[child];
            enter(trace, child, is_rooted, bound);
            at = child;
            continue;
        }
        trace->spans[at].right = (*bound)++;
        if (at == top)
            return;
        at = trace->spans[at].parent;
    }
}

/* Spans without a parent id first, then those whose parent is missing. */
static void number_spans(struct cn_tql_trace *trace, const struct cn_map *by_id)
{
    struct children children = {
        cn_alloc(trace->count + 1, sizeof(uint32_t)),
        cn_alloc(trace->count + 1, sizeof(uint32_t)),
    };
    uint32_t bound = 1;

    memset(children.first, 0xff, trace->count * sizeof(uint32_t));
    memset(children.next, 0xff, trace->count * sizeof(uint32_t));
    find_parents(trace, by_id, &children);
    trace->order_count = 0;
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < trace->count; i++)
            if (trace->spans[i].parent == CN_NONE &&
                (trace->spans[i].parent_id != 0) == (pass == 1))
                number_below(trace, &children, i, &bound);
    for (uint32_t i = 0; trace->root == CN_NONE && i < trace->count; i++)
        if (trace->spans[i].parent_id == 0)
            trace->root = i;
    free(children.first);
    free(children.next);
}

bool cn_tql_view_trace(struct cn_tql_view *view, uint64_t high, uint64_t low,
                       struct cn_tql_trace *out, struct cn_error *err)
{
    struct cn_map by_id = {0};

    out->high = high;
    out->low = low;
    out->count = 0;
    out->root = CN_NONE;
    out->begin_ns = UINT64_MAX;
    out->end_ns = 0;
    if (!list_rows(view, out, err))
        return false;
    if (out->count > 1)
        qsort(out->spans, out->count, sizeof(*out->spans), by_time);
    drop_doubles(out, &by_id);
    number_spans(out, &by_id);
    for (size_t i = 0; i < out->count; i++) {
        const struct cn_tql_span *span = &out->spans[i];
        uint64_t end_ns = span->duration_ns < UINT64_MAX - span->time_ns
                              ? span->time_ns + span->duration_ns
                              : UINT64_MAX;

        out->begin_ns = span->time_ns < out->begin_ns ? span->time_ns : out->begin_ns;
        out->end_ns = end_ns > out->end_ns ? end_ns : out->end_ns;
    }
    cn_map_done(&by_id);
    return true;
}

void cn_tql_trace_done(struct cn_tql_trace *trace)
{
    free(trace->spans);
    free(trace->order);
    *trace = (struct cn_tql_trace){0};
}
