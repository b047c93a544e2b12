/* The tables of a store: its spans and traces, which need no reading of calls. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "sql/table.h"
#include "store/search/query.h"
#include "store/search/traces.h"
#include "store/traceql/traceql.h"

/* The columns that traces and spans share. */
enum { TIME_NS, DURATION_NS, TYPE, SERVICE, ERRORS, CALLS, RECORDS, TRACE_ID, SPAN_ID };
enum { PARENT_ID = SPAN_ID + 1, METHOD, SPANS_QUERY };
enum { TRACE_METHOD = SPAN_ID + 1, SPAN_COUNT, TRACES_QUERY };

static const struct cn_table_shape spans_shape = {
    .name = "spans",
    .columns = {{"time_ns", CN_CELL_INTEGER},
                {"duration_ns", CN_CELL_INTEGER},
                {"type", CN_CELL_TEXT},
                {"service", CN_CELL_TEXT},
                {"errors", CN_CELL_INTEGER},
                {"calls", CN_CELL_INTEGER},
                {"records", CN_CELL_INTEGER},
                {"trace_id", CN_CELL_TEXT},
                {"span_id", CN_CELL_TEXT},
                {"parent_id", CN_CELL_TEXT},
                {"method", CN_CELL_TEXT},
                {"query", CN_CELL_TEXT}},
};

static const struct cn_table_shape traces_shape = {
    .name = "traces",
    .columns = {{"time_ns", CN_CELL_INTEGER},
                {"duration_ns", CN_CELL_INTEGER},
                {"type", CN_CELL_TEXT},
                {"services", CN_CELL_TEXT},
                {"errors", CN_CELL_INTEGER},
                {"calls", CN_CELL_INTEGER},
                {"records", CN_CELL_INTEGER},
                {"trace_id", CN_CELL_TEXT},
                {"span_id", CN_CELL_TEXT},
                {"method", CN_CELL_TEXT},
                {"spans", CN_CELL_INTEGER},
                {"query", CN_CELL_TEXT}},
};

struct store_scan {
    struct cn_sql_scan base;
    bool of_traces;
    struct cn_search_hits hits;     /* of spans */
    struct cn_search_traces traces; /* of traces */
    size_t next;
    const struct cn_search_hit *hit; /* the span, or the root of the trace */
    const struct cn_search_trace *trace;
    struct cn_store_row row;
    struct cn_text text;
};

/* All that match the query, the oldest first. */
static bool search(struct cn_sql_data *data, struct store_scan *scan,
                   const struct cn_sql_ask *ask, struct cn_error *err)
{
    const struct cn_search_order order = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_query *query;
    struct cn_error damage = {0};
    uint64_t first_ns, last_ns;

    if (!cn_tql_query_of(&query, data->store.search, ask->text ? ask->text : "",
                         cn_clock_date_ns(), err))
        return cn_fail_in(err, "query '%s'", ask->text);
    /* A trace begins with its earliest span, so this range also finds all traces. */
    cn_sql_range_u64(ask->keys[0], UINT64_MAX, &first_ns, &last_ns);
    query->first_ns = first_ns > query->first_ns ? first_ns : query->first_ns;
    query->last_ns = last_ns < query->last_ns ? last_ns : query->last_ns;
    bool ok =
        scan->of_traces
            ? cn_search_traces(data->store.search, query, &order, &scan->traces, err)
            : cn_search_rows(data->store.search, query, &order, &scan->hits, err);
    if (ok && !cn_search_check(data->store.search, &damage))
        cn_sql_data_damage(data, &damage);
    cn_query_free(query);
    return ok && cn_sql_check_memory(data->sql,
                                     scan->hits.count * sizeof(*scan->hits.list) +
                                         scan->traces.count * sizeof(*scan->traces.list),
                                     err);
}

static void store_close(struct cn_sql_scan *base)
{
    struct store_scan *scan = (struct store_scan *)base;

    if (scan->of_traces)
        cn_search_traces_done(&scan->traces);
    else
        cn_search_hits_done(&scan->hits);
    cn_text_done(&scan->text);
    free(scan);
}

static bool store_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                       const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                       struct cn_error *err)
{
    struct store_scan *scan = cn_alloc(1, sizeof(*scan));

    scan->of_traces = table == &cn_sql_traces;
    if (!search(data, scan, ask, err)) {
        store_close(&scan->base);
        return false;
    }
    *out = &scan->base;
    return true;
}

static enum cn_step store_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct store_scan *scan = (struct store_scan *)base;
    size_t count = scan->of_traces ? scan->traces.count : scan->hits.count;

    if (scan->next >= count)
        return CN_END;
    if (scan->of_traces) {
        scan->trace = &scan->traces.list[scan->next++];
        scan->hit = &scan->trace->root;
    } else {
        scan->hit = &scan->hits.list[scan->next++];
    }
    return cn_search_hit_row(base->data->store.search, scan->hit, &scan->row, err)
               ? CN_ITEM
               : CN_FAIL;
}

static bool word_cell(struct store_scan *scan, uint32_t word, struct cn_sql_cell *out,
                      struct cn_error *err)
{
    cn_text_clear(&scan->text);
    if (word != 0 && !cn_search_hit_word(scan->base.data->store.search, scan->hit, word,
                                         &scan->text, err))
        return false;
    cn_sql_cell_text(out, word != 0 ? cn_text_str(&scan->text) : NULL, false);
    return true;
}

/* An id as cairn prints it; 0: none. */
static bool id_cell(struct store_scan *scan, uint64_t id, struct cn_sql_cell *out)
{
    cn_text_clear(&scan->text);
    cn_text_printf(&scan->text, "%016" PRIx64, id);
    cn_sql_cell_text(out, id != 0 ? cn_text_str(&scan->text) : NULL, false);
    return true;
}

static bool trace_id_cell(struct store_scan *scan, struct cn_sql_cell *out)
{
    cn_text_clear(&scan->text);
    cn_text_printf(&scan->text, "%016" PRIx64 "%016" PRIx64, scan->row.trace_high,
                   scan->row.trace_low);
    cn_sql_cell_text(out, cn_text_str(&scan->text), false);
    return true;
}

static bool spans_cell(struct cn_sql_scan *base, unsigned column, struct cn_sql_cell *out,
                       struct cn_error *err)
{
    struct store_scan *scan = (struct store_scan *)base;
    const struct cn_store_row *row = &scan->row;
    const uint64_t numbers[] = {
        [TIME_NS] = row->time_ns, [DURATION_NS] = row->duration_ns,
        [ERRORS] = row->errors,   [CALLS] = row->calls,
        [RECORDS] = row->records,
    };

    switch (column) {
    case TYPE:
        return word_cell(scan, row->type, out, err);
    case SERVICE:
        return word_cell(scan, row->service, out, err);
    case TRACE_ID:
        return trace_id_cell(scan, out);
    case SPAN_ID:
    case PARENT_ID:
        return id_cell(scan, column == SPAN_ID ? row->span_id : row->parent_id, out);
    case METHOD:
        return word_cell(scan, row->method, out, err);
    case SPANS_QUERY:
        cn_sql_cell_text(out, NULL, false);
        return true;
    default:
        cn_sql_cell_integer(out, numbers[column]);
        return true;
    }
}

static bool services_cell(struct store_scan *scan, struct cn_sql_cell *out)
{
    cn_text_clear(&scan->text);
    for (size_t i = 0; i < scan->trace->service_count; i++)
        cn_text_printf(&scan->text, "%s%s", i > 0 ? ", " : "",
                       cn_search_trace_service(&scan->traces, scan->trace, i));
    cn_sql_cell_text(
        out, scan->trace->service_count > 0 ? cn_text_str(&scan->text) : NULL, false);
    return true;
}

static bool traces_cell(struct cn_sql_scan *base, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err)
{
    struct store_scan *scan = (struct store_scan *)base;
    const struct cn_trace_sum *sum = &scan->trace->sum;
    const uint64_t numbers[] = {
        [TIME_NS] = sum->time_ns, [DURATION_NS] = sum->duration_ns,
        [ERRORS] = sum->errors,   [CALLS] = sum->calls,
        [RECORDS] = sum->records, [SPAN_COUNT] = sum->spans,
    };

    switch (column) {
    case TYPE:
        return word_cell(scan, scan->row.type, out, err);
    case SERVICE:
        return services_cell(scan, out);
    case TRACE_ID:
        return trace_id_cell(scan, out);
    case SPAN_ID:
        return id_cell(scan, scan->row.span_id, out);
    case TRACE_METHOD:
        return word_cell(scan, scan->row.method, out, err);
    case TRACES_QUERY:
        cn_sql_cell_text(out, NULL, false);
        return true;
    default:
        cn_sql_cell_integer(out, numbers[column]);
        return true;
    }
}

static uint64_t store_count(struct cn_sql_data *data)
{
    enum { USUAL_COUNT = 100000 };

    (void)data;
    return USUAL_COUNT;
}

const struct cn_sql_table cn_sql_spans = {
    .shape = &spans_shape,
    .hidden_count = 1,
    .key_count = 1,
    .keys = {TIME_NS},
    .text_key = SPANS_QUERY,
    .row_count = store_count,
    .open = store_open,
    .next = store_next,
    .cell = spans_cell,
    .close = store_close,
};

const struct cn_sql_table cn_sql_traces = {
    .shape = &traces_shape,
    .hidden_count = 1,
    .key_count = 1,
    .keys = {TIME_NS},
    .text_key = TRACES_QUERY,
    .row_count = store_count,
    .open = store_open,
    .next = store_next,
    .cell = traces_cell,
    .close = store_close,
};
