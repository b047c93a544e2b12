#include "store/search/doubles.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/contexts/context.h"
#include "store/index/word_filter.h"
#include "store/search/state.h"
#include "store/segment/reader.h"

/* A trace of a hit. */
struct doubles_trace {
    uint64_t high, low;
    uint32_t top_count; /* rows that are not inside of another */
};

/* A row of one of the traces. */
struct doubles_row {
    uint32_t trace;
    uint32_t segment, row;
    uint64_t span_id;
    bool is_top;
};

struct doubles_finding {
    struct cn_search *search;
    struct doubles_trace *traces;
    size_t trace_count;
    struct cn_map by_low; /* lower half of the id -> 1 + first trace with it */
    struct doubles_row *rows;
    size_t count, capacity;

    /* Of the current segment. */
    uint32_t segment, trace;
    struct cn_store_column high, low, span, flags, part;
};

static bool open_columns(struct doubles_finding *f, uint32_t segment,
                         const struct cn_store_index **index, struct cn_error *err)
{
    f->segment = segment;
    return cn_search_index(f->search, segment, index, err) &&
           cn_columns_field((*index)->columns, CN_STORE_FIELD_trace_high, &f->high,
                            err) &&
           cn_columns_field((*index)->columns, CN_STORE_FIELD_trace_low, &f->low, err) &&
           cn_columns_field((*index)->columns, CN_STORE_FIELD_span_id, &f->span, err) &&
           cn_columns_field((*index)->columns, CN_STORE_FIELD_flags, &f->flags, err) &&
           cn_columns_field((*index)->columns, CN_STORE_FIELD_part, &f->part, err);
}

/* List the traces of the hits, each once. Those without an id have one row. */
static bool list_traces(struct doubles_finding *f, const struct cn_search_hits *hits,
                        struct cn_error *err)
{
    uint32_t open = CN_NONE;
    size_t kept = 0;

    f->traces = cn_alloc(hits->count, sizeof(*f->traces));
    for (size_t i = 0; i < hits->count; i++) {
        const struct cn_store_index *index;
        struct doubles_trace *trace = &f->traces[f->trace_count];

        if (hits->list[i].segment != open &&
            !open_columns(f, hits->list[i].segment, &index, err))
            return false;
        open = hits->list[i].segment;
        trace->high = cn_store_column_at(&f->high, hits->list[i].row);
        trace->low = cn_store_column_at(&f->low, hits->list[i].row);
        f->trace_count += (trace->high | trace->low) != 0;
    }
    CN_SORT(f->traces, f->trace_count, CN_UP(struct doubles_trace, low),
            CN_UP(struct doubles_trace, high));
    for (size_t i = 0; i < f->trace_count; i++)
        if (i == 0 || f->traces[i].low != f->traces[kept - 1].low ||
            f->traces[i].high != f->traces[kept - 1].high)
            f->traces[kept++] = f->traces[i];
    f->trace_count = kept;
    for (size_t i = 0; i < kept; i++)
        (void)cn_map_at(&f->by_low, f->traces[i].low, (uint32_t)i + 1);
    return true;
}

/* Add a row of the current trace. */
static void add_row(void *arg, uint32_t row)
{
    struct doubles_finding *f = arg;
    bool is_top = !(cn_store_column_at(&f->flags, row) & CN_ROW_EMBEDDED);

    if (cn_store_column_at(&f->part, row) != 0)
        return;
    f->traces[f->trace].top_count += is_top;
    CN_PUSH(f->rows, f->count, f->capacity,
            (struct doubles_row){.trace = f->trace,
                                 .segment = f->segment,
                                 .row = row,
                                 .span_id = cn_store_column_at(&f->span, row),
                                 .is_top = is_top});
}

/* Segments that are not sealed have no table of ids. */
static void scan_segment(struct doubles_finding *f, uint32_t row_count)
{
    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t low = cn_store_column_at(&f->low, row);
        uint32_t first = cn_map_find(&f->by_low, low, 0);

        for (size_t i = first;
             i > 0 && i <= f->trace_count && f->traces[i - 1].low == low; i++)
            if (f->traces[i - 1].high == cn_store_column_at(&f->high, row)) {
                f->trace = (uint32_t)i - 1;
                add_row(f, row);
            }
    }
}

static bool may_have_traces(const struct doubles_finding *f,
                            const struct cn_segment *segment)
{
    struct cn_bytes filter = cn_segment_filter(segment);
    size_t i = 0;

    while (filter.len > 0 && i < f->trace_count &&
           !cn_word_filter_may_have_id(filter, f->traces[i].high, f->traces[i].low))
        i++;
    return filter.len == 0 || i < f->trace_count;
}

static bool find_rows(struct doubles_finding *f, uint32_t segment, struct cn_error *err)
{
    const struct cn_store_index *index;
    bool has_ids = true;

    if (!may_have_traces(f, cn_store_segment(f->search->store, segment)))
        return true;
    if (!open_columns(f, segment, &index, err))
        return false;
    for (f->trace = 0; has_ids && f->trace < f->trace_count; f->trace++)
        has_ids = cn_columns_find_trace(index->columns, f->traces[f->trace].high,
                                        f->traces[f->trace].low, add_row, f);
    if (!has_ids)
        scan_segment(f, index->columns->row_count);
    return true;
}

/* The rows that do not count, by segment and row. The first row of a span counts, one inside of
 * another before others: a span that has both is shown where its caller is. */
static void list_doubles(struct doubles_finding *f, struct cn_map *out)
{
    if (f->count > 0)
        CN_SORT(f->rows, f->count, CN_UP(struct doubles_row, trace),
                CN_UP(struct doubles_row, span_id), CN_UP(struct doubles_row, is_top),
                CN_UP(struct doubles_row, segment), CN_UP(struct doubles_row, row));
    for (size_t i = 1; i < f->count; i++) {
        const struct doubles_row *row = &f->rows[i], *before = row - 1;

        if (row->span_id != 0 && row->span_id == before->span_id &&
            row->trace == before->trace && f->traces[row->trace].top_count > 1)
            (void)cn_map_at(out, (uint64_t)row->segment << 32 | row->row, 1);
    }
}

bool cn_doubles_drop(struct cn_search *search, struct cn_search_hits *hits,
                     struct cn_error *err)
{
    struct doubles_finding f = {.search = search};
    struct cn_map doubles = {0};
    bool ok = hits->count == 0 || list_traces(&f, hits, err);
    size_t kept = 0;

    for (uint32_t i = 0; ok && f.trace_count > 0 && i < search->count; i++) {
        struct cn_error damage;

        if (!find_rows(&f, i, &damage))
            search->failures[i] = damage;
    }
    if (ok)
        list_doubles(&f, &doubles);
    for (size_t i = 0; ok && i < hits->count; i++) {
        const struct cn_search_hit *hit = &hits->list[i];

        if (cn_map_find(&doubles, (uint64_t)hit->segment << 32 | hit->row, 0) == 0)
            hits->list[kept++] = *hit;
    }
    if (ok)
        hits->count = kept;
    cn_map_done(&doubles);
    cn_map_done(&f.by_low);
    free(f.traces);
    free(f.rows);
    return ok;
}
