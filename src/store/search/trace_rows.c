#include "store/search/trace_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "store/search/segments.h"

/* A row of a chosen trace. */
struct trace_row {
    uint32_t trace; /* index of the trace among those chosen */
    uint32_t segment, row;
    uint64_t time_ns, duration_ns, span_id;
    bool is_root, is_embedded;
    uint32_t service; /* word */
};

struct trace_rows {
    const struct cn_search_hit *hits;
    size_t hit_count;
    struct cn_map chosen; /* number in the table -> index of the place */
    uint64_t first_ns, last_ns;
    struct trace_row *list;
    size_t count, capacity;
};

enum { TIME, DURATION, SPAN, PARENT, FLAGS, SERVICE, FIELDS };

static const enum cn_store_field fields[FIELDS] = {
    CN_STORE_FIELD_time_ns,   CN_STORE_FIELD_duration_ns, CN_STORE_FIELD_span_id,
    CN_STORE_FIELD_parent_id, CN_STORE_FIELD_flags,       CN_STORE_FIELD_service,
};

/* A segment whose rows are added: with its columns, or row by row if the traces are few. */
struct row_source {
    uint32_t segment;
    const struct cn_store_index *index;
    bool is_by_row;
    struct cn_store_column columns[FIELDS];
};

static bool open_source(struct row_source *source, struct cn_search *search,
                        uint32_t segment, size_t trace_count, struct cn_error *err)
{
    enum { FEW = 256 };

    source->segment = segment;
    source->is_by_row = trace_count <= FEW;
    if (!cn_search_index(search, segment, &source->index, err))
        return false;
    for (size_t i = 0; !source->is_by_row && i < FIELDS; i++)
        if (!cn_columns_field(source->index->columns, fields[i], &source->columns[i],
                              err))
            return false;
    return true;
}

static bool read_row(const struct row_source *source, uint32_t row, uint64_t *values,
                     struct cn_error *err)
{
    struct cn_store_row found;

    if (!source->is_by_row) {
        for (size_t i = 0; i < FIELDS; i++)
            values[i] = cn_store_column_at(&source->columns[i], row);
        return true;
    }
    if (!cn_columns_row(source->index->columns, row, &found, err))
        return false;
    values[TIME] = found.time_ns;
    values[DURATION] = found.duration_ns;
    values[SPAN] = found.span_id;
    values[PARENT] = found.parent_id;
    values[FLAGS] = found.flags;
    values[SERVICE] = found.service;
    return true;
}

static bool add_row(struct trace_rows *rows, uint32_t trace,
                    const struct row_source *source, uint32_t row, struct cn_error *err)
{
    uint64_t values[FIELDS];

    if (!read_row(source, row, values, err))
        return false;
    for (size_t i = 0; i < FIELDS; i++)
        values[i] = cn_joined_number(&source->index->joined, fields[i], row, values[i]);
    CN_PUSH(rows->list, rows->count, rows->capacity,
            (struct trace_row){
                .trace = trace,
                .segment = source->segment,
                .row = row,
                .time_ns = values[TIME],
                .duration_ns = values[DURATION],
                .span_id = values[SPAN],
                .is_root = values[PARENT] == 0,
                .is_embedded = values[FLAGS] & CN_ROW_EMBEDDED,
                .service = (uint32_t)values[SERVICE],
            });
    return true;
}

/* Add the rows of a segment that belong to chosen traces with a number. */
static bool add_segment(struct trace_rows *rows, struct cn_search *search,
                        const struct cn_trace_table *table, uint32_t segment,
                        struct cn_error *err)
{
    const struct cn_trace_runs *runs = &table->runs[segment];
    struct row_source source;
    uint32_t end;

    if (!runs->starts)
        return true;
    if (!open_source(&source, search, segment, rows->hit_count, err))
        return false;
    if (source.index->first_ns > rows->last_ns || source.index->last_ns < rows->first_ns)
        return true;
    for (uint32_t first = 0; first < runs->row_count; first = end) {
        uint32_t number = cn_trace_runs_number(runs, first);
        uint32_t trace =
            number > 0 ? cn_map_find(&rows->chosen, number, CN_NONE) : CN_NONE;

        end = cn_trace_runs_next(runs, first + 1);
        for (uint32_t row = first; trace != CN_NONE && row < end; row++)
            if (!cn_trace_table_is_double(table, segment, row) &&
                !add_row(rows, trace, &source, row, err))
                return false;
    }
    return true;
}

/* Find the rows of all chosen traces, and sort them by trace. */
static bool find_rows(struct trace_rows *rows, struct cn_search *search,
                      struct cn_error *err)
{
    const struct cn_trace_table *table = cn_search_traces_made(search);

    rows->first_ns = UINT64_MAX;
    for (size_t i = 0; i < rows->hit_count; i++) {
        uint32_t segment = rows->hits[i].segment, row = rows->hits[i].row;
        const struct cn_trace_sum *sum = cn_trace_table_find(table, segment, row);
        struct row_source source;

        if (!sum) {
            if (!open_source(&source, search, segment, rows->hit_count, err) ||
                !add_row(rows, (uint32_t)i, &source, row, err))
                return false;
            continue;
        }
        *cn_map_at(&rows->chosen, cn_trace_table_number(table, segment, row), 0) =
            (uint32_t)i;
        if (sum->time_ns < rows->first_ns)
            rows->first_ns = sum->time_ns;
        if (sum->end_ns > rows->last_ns)
            rows->last_ns = sum->end_ns;
    }
    for (uint32_t i = 0; rows->chosen.count > 0 && i < table->segment_count; i++) {
        if (!add_segment(rows, search, table, i, err))
            return false;
    }
    /* Roots first, then by time, callers before callees; the same wherever rows are stored. */
    CN_SORT(rows->list, rows->count, CN_UP(struct trace_row, trace),
            CN_DOWN(struct trace_row, is_root), CN_UP(struct trace_row, time_ns),
            CN_DOWN(struct trace_row, duration_ns), CN_UP(struct trace_row, is_embedded),
            CN_UP(struct trace_row, span_id), CN_UP(struct trace_row, segment),
            CN_UP(struct trace_row, row));
    return true;
}

static void rows_done(struct trace_rows *rows)
{
    cn_map_done(&rows->chosen);
    free(rows->list);
}

struct describing {
    struct cn_search *search;
    struct cn_search_traces found;
    struct cn_map words; /* segment and word -> name of a service, printed once each */
    struct cn_map seen;  /* trace and name: the service is in the list of the trace */
};

static bool service_of(struct describing *d, const struct trace_row *row, uint32_t *out,
                       struct cn_error *err)
{
    struct cn_search_hit hit = {.segment = row->segment, .row = row->row};
    uint32_t *name =
        cn_map_at(&d->words, (uint64_t)row->segment << 32 | row->service, CN_NONE);
    struct cn_text text = {0};
    bool ok = true;

    if (*name == CN_NONE) {
        ok = cn_search_hit_word(d->search, &hit, row->service, &text, err);
        *name = ok ? cn_names_add(&d->found.names, cn_text_str(&text)) : CN_NONE;
        cn_text_done(&text);
    }
    *out = *name;
    return ok;
}

static int compare_services(const void *a, const void *b, void *names)
{
    const struct cn_names *list = names;

    return strcmp(list->list[*(const uint32_t *)a], list->list[*(const uint32_t *)b]);
}

/* Add the services of the rows of a trace: that of the root, then the others by name. */
static bool add_services(struct describing *d, struct cn_search_trace *trace,
                         const struct trace_row *rows, size_t count, struct cn_error *err)
{
    struct cn_search_traces *found = &d->found;

    trace->first_service = found->service_count;
    for (size_t i = 0; i < count; i++) {
        uint32_t service, *is_seen;

        if (rows[i].service == 0)
            continue;
        if (!service_of(d, &rows[i], &service, err))
            return false;
        is_seen = cn_map_at(&d->seen, (uint64_t)rows[i].trace << 32 | service, 0);
        if (*is_seen)
            continue;
        *is_seen = 1;
        CN_PUSH(found->services, found->service_count, found->service_capacity, service);
    }
    trace->service_count = found->service_count - trace->first_service;
    if (trace->service_count > 1)
        qsort_r(found->services + trace->first_service + (rows[0].service != 0),
                trace->service_count - (rows[0].service != 0), sizeof(*found->services),
                compare_services, &found->names);
    return true;
}

static bool describe_trace(struct describing *d, const struct trace_row *rows,
                           size_t count, struct cn_error *err)
{
    struct cn_search_trace *trace = &d->found.list[rows[0].trace];
    struct cn_store_row row;

    *trace = (struct cn_search_trace){
        .root = {.segment = rows[0].segment,
                 .row = rows[0].row,
                 .key = rows[0].time_ns,
                 .time_ns = rows[0].time_ns},
    };
    if (!cn_search_hit_row(d->search, &trace->root, &row, err))
        return false;
    trace->trace_high = row.trace_high;
    trace->trace_low = row.trace_low;
    const struct cn_trace_sum *sum = cn_trace_table_find(cn_search_traces_made(d->search),
                                                         rows[0].segment, rows[0].row);
    trace->sum = sum ? *sum
                     : (struct cn_trace_sum){
                           .time_ns = row.time_ns,
                           .duration_ns = row.duration_ns,
                           .calls = row.calls,
                           .records = row.records,
                           .errors = row.errors,
                           .spans = 1,
                           .segment = rows[0].segment,
                           .row = rows[0].row,
                       };
    return add_services(d, trace, rows, count, err);
}

bool cn_trace_rows_describe(struct cn_search *search, const struct cn_search_hit *hits,
                            size_t count, struct cn_search_traces *out,
                            struct cn_error *err)
{
    struct trace_rows rows = {.hits = hits, .hit_count = count};
    struct describing d = {
        .search = search,
        .found = {.list = cn_alloc(count, sizeof(*out->list)), .count = count},
    };
    bool ok = find_rows(&rows, search, err);
    size_t end;

    for (size_t begin = 0; ok && begin < rows.count; begin = end) {
        for (end = begin + 1;
             end < rows.count && rows.list[end].trace == rows.list[begin].trace;)
            end++;
        ok = describe_trace(&d, &rows.list[begin], end - begin, err);
    }
    cn_map_done(&d.words);
    cn_map_done(&d.seen);
    rows_done(&rows);
    if (ok)
        *out = d.found;
    else
        cn_search_traces_done(&d.found);
    return ok;
}

bool cn_trace_rows_list(struct cn_search *search, const struct cn_search_hit *hits,
                        size_t count, struct cn_search_hits *out, struct cn_error *err)
{
    struct trace_rows rows = {.hits = hits, .hit_count = count};
    bool ok = find_rows(&rows, search, err);

    if (ok)
        *out = (struct cn_search_hits){.list = cn_alloc(rows.count, sizeof(*out->list))};
    for (size_t i = 0; ok && i < rows.count; i++) {
        const struct trace_row *row = &rows.list[i];

        if (!row->is_embedded)
            out->list[out->count++] = (struct cn_search_hit){
                .segment = row->segment,
                .row = row->row,
                .key = row->trace,
                .time_ns = row->time_ns,
            };
    }
    rows_done(&rows);
    return ok;
}
