/* Searches of a store as tables. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/text.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/calls/recording.h"
#include "model/traces/words.h"
#include "store/groups/group.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/search/traces.h"
#include "store/traceql/traceql.h"

static bool find_sort(const char *name, enum cn_search_sort *out, struct cn_error *err)
{
    static const char *const names[] = {
        [CN_SEARCH_BY_TIME] = "time",       [CN_SEARCH_BY_DURATION] = "duration",
        [CN_SEARCH_BY_CALLS] = "calls",     [CN_SEARCH_BY_ERRORS] = "errors",
        [CN_SEARCH_BY_RECORDS] = "records", [CN_SEARCH_BY_SPANS] = "spans",
    };

    size_t at = name ? cn_list_find(names, CN_COUNT_OF(names), name) : CN_SEARCH_BY_TIME;

    *out = (enum cn_search_sort)at;
    return at < CN_COUNT_OF(names) ||
           cn_fail(err, CN_ERR_USAGE,
                   "cannot sort by '%s'; there are: time, duration, spans, "
                   "calls, errors, records",
                   name);
}

struct store_column {
    const char *name;
    enum cairn_type type;
};

static const struct store_column trace_columns[] = {
    {"time_ns", CAIRN_U64},  {"duration_ns", CAIRN_U64}, {"spans", CAIRN_U64},
    {"errors", CAIRN_U64},   {"type", CAIRN_CATEGORY},   {"services", CAIRN_CATEGORY},
    {"calls", CAIRN_U64},    {"records", CAIRN_U64},     {"trace_id", CAIRN_TEXT},
    {"span_id", CAIRN_TEXT}, {"method", CAIRN_CATEGORY},
};

static const struct store_column span_columns[] = {
    {"time_ns", CAIRN_U64},      {"duration_ns", CAIRN_U64}, {"type", CAIRN_CATEGORY},
    {"service", CAIRN_CATEGORY}, {"errors", CAIRN_U64},      {"calls", CAIRN_U64},
    {"records", CAIRN_U64},      {"trace_id", CAIRN_TEXT},   {"span_id", CAIRN_TEXT},
    {"parent_id", CAIRN_TEXT},   {"method", CAIRN_CATEGORY},
};

static const struct store_column group_columns[] = {
    {"value", CAIRN_CATEGORY}, {"count", CAIRN_U64},    {"error_count", CAIRN_U64},
    {"p50_ns", CAIRN_U64},     {"p90_ns", CAIRN_U64},   {"p99_ns", CAIRN_U64},
    {"max_ns", CAIRN_U64},     {"total_ns", CAIRN_U64},
};

/* Rows are added cell by cell. */
struct store_filling {
    struct cairn_table *table;
    struct cn_search *search;
    size_t at; /* the next column */
};

static void begin(struct store_filling *f, const struct store_column *columns,
                  size_t count)
{
    f->table = cn_frame_new();
    for (size_t i = 0; i < count; i++)
        (void)cn_frame_add(f->table, columns[i].name, columns[i].type);
}

static void add_u64(struct store_filling *f, uint64_t value)
{
    cn_column_u64(cn_frame_column(f->table, f->at++), value);
}

static void add_text(struct store_filling *f, const char *text)
{
    cn_column_text(cn_frame_column(f->table, f->at++), text);
}

static void add_id(struct store_filling *f, uint64_t id)
{
    char text[17];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, id);
    add_text(f, id != 0 ? text : NULL);
}

static void add_trace_id(struct store_filling *f, uint64_t high, uint64_t low)
{
    char text[33];

    (void)snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, low);
    add_text(f, text);
}

/* A word of the row of a hit; unknown if there is none. */
static bool add_word(struct store_filling *f, const struct cn_search_hit *hit,
                     uint32_t word, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = word == 0 || cn_search_hit_word(f->search, hit, word, &text, err);

    add_text(f, ok && word != 0 ? cn_text_str(&text) : NULL);
    cn_text_done(&text);
    return ok;
}

static void add_services(struct store_filling *f, const struct cn_search_traces *traces,
                         const struct cn_search_trace *trace)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < trace->service_count; i++)
        cn_text_printf(&text, "%s%s", i > 0 ? ", " : "",
                       cn_search_trace_service(traces, trace, i));
    add_text(f, trace->service_count > 0 ? cn_text_str(&text) : NULL);
    cn_text_done(&text);
}

static bool add_trace(struct store_filling *f, const struct cn_search_traces *traces,
                      const struct cn_search_trace *trace, struct cn_error *err)
{
    struct cn_store_row row;

    if (!cn_search_hit_row(f->search, &trace->root, &row, err))
        return false;
    f->at = 0;
    add_u64(f, trace->sum.time_ns);
    add_u64(f, trace->sum.duration_ns);
    add_u64(f, trace->sum.spans);
    add_u64(f, trace->sum.errors);
    bool ok = add_word(f, &trace->root, row.type, err);
    add_services(f, traces, trace);
    add_u64(f, trace->sum.calls);
    add_u64(f, trace->sum.records);
    add_trace_id(f, trace->trace_high, trace->trace_low);
    add_id(f, row.span_id);
    return add_word(f, &trace->root, row.method, err) && ok;
}

static bool add_hit(struct store_filling *f, const struct cn_search_hit *hit,
                    struct cn_error *err)
{
    struct cn_store_row row;
    bool ok;

    if (!cn_search_hit_row(f->search, hit, &row, err))
        return false;
    f->at = 0;
    add_u64(f, row.time_ns);
    add_u64(f, row.duration_ns);
    ok = add_word(f, hit, row.type, err);
    ok = add_word(f, hit, row.service, err) && ok;
    add_u64(f, row.errors);
    add_u64(f, row.calls);
    add_u64(f, row.records);
    add_trace_id(f, row.trace_high, row.trace_low);
    add_id(f, row.span_id);
    add_id(f, row.parent_id);
    return add_word(f, hit, row.method, err) && ok;
}

static bool list_traces(struct store_filling *f, const struct cn_store_query *opened,
                        const struct cn_search_order *order, struct cn_error *err)
{
    struct cn_search_traces traces;
    bool ok = true;

    begin(f, trace_columns, sizeof(trace_columns) / sizeof(*trace_columns));
    if (!cn_search_traces(opened->search, opened->query, order, &traces, err))
        return false;
    for (size_t i = 0; ok && i < traces.count; i++)
        ok = add_trace(f, &traces, &traces.list[i], err);
    cn_search_traces_done(&traces);
    return ok;
}

static bool list_spans(struct store_filling *f, const struct cn_store_query *opened,
                       const struct cn_search_order *order, struct cn_error *err)
{
    struct cn_search_hits hits;
    bool ok = true;

    begin(f, span_columns, sizeof(span_columns) / sizeof(*span_columns));
    if (!cn_search_rows(opened->search, opened->query, order, &hits, err))
        return false;
    for (size_t i = 0; ok && i < hits.count; i++)
        ok = add_hit(f, &hits.list[i], err);
    cn_search_hits_done(&hits);
    return ok;
}

/* What a damaged segment lacks is damage of the table. */
static struct cairn_table *finish(struct store_filling *f, bool ok,
                                  struct cn_store_query *opened)
{
    struct cn_error damage;

    if (!ok) {
        cairn_table_free(f->table);
        f->table = NULL;
    } else {
        cn_frame_finish(f->table);
        if (!cn_search_check(opened->search, &damage))
            f->table->damage = cn_strdup(damage.text);
    }
    cn_store_query_close(opened);
    return f->table;
}

static bool open_query(const struct cairn_data *data, const char *query,
                       struct cn_store_query *out, struct cn_error *err)
{
    return cn_lib_needs(data, CAIRN_STORE, err) &&
           cn_tql_store_query_open(out, data->path, query ? query : "", err);
}

struct cairn_table *cairn_store_search(struct cairn_data *data, const char *query,
                                       const struct cairn_search_options *given,
                                       struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_search_options options;
    struct cn_search_order order = {0};
    struct cn_store_query opened;
    struct store_filling f = {0};

    cn_lib_options(&options, sizeof(options), given);
    if (!find_sort(options.sort, &order.sort, e) || !open_query(data, query, &opened, e))
        return NULL;
    order.is_reversed = options.is_reversed;
    order.offset = options.offset;
    order.limit = options.limit ? options.limit : UINT64_MAX;
    f.search = opened.search;
    return finish(&f,
                  options.has_spans ? list_spans(&f, &opened, &order, e)
                                    : list_traces(&f, &opened, &order, e),
                  &opened);
}

static void add_group(struct store_filling *f, const struct cn_groups *groups,
                      const struct cn_group *group)
{
    struct cn_text text = {0};

    f->at = 0;
    cn_words_print(&groups->values, group->value, &text);
    add_text(f, cn_text_str(&text));
    add_u64(f, group->count);
    add_u64(f, group->error_count);
    add_u64(f, group->p50_ns);
    add_u64(f, group->p90_ns);
    add_u64(f, group->p99_ns);
    add_u64(f, group->max_ns);
    add_u64(f, group->total_ns);
    cn_text_done(&text);
}

struct cairn_table *cairn_store_groups(struct cairn_data *data, const char *query,
                                       const char *by, bool of_spans,
                                       struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data, by);
    struct cn_store_query opened;
    struct cn_groups groups;
    struct store_filling f = {0};

    if (!open_query(data, query, &opened, e))
        return NULL;
    begin(&f, group_columns, sizeof(group_columns) / sizeof(*group_columns));
    bool ok = cn_search_group(opened.search, opened.query,
                              of_spans ? CN_SEARCH_SPANS : CN_SEARCH_TRACES, by, SIZE_MAX,
                              &groups, e);
    for (size_t i = 0; ok && i < groups.count; i++)
        add_group(&f, &groups, &groups.list[i]);
    if (ok)
        cn_groups_done(&groups);
    return finish(&f, ok, &opened);
}

bool cairn_store_count(struct cairn_data *data, const char *query, uint64_t *count,
                       struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, count);
    struct cn_search_trace_count found = {0};
    struct cn_store_query opened;

    if (!open_query(data, query, &opened, e))
        return false;
    bool ok = cn_search_count_traces(opened.search, opened.query, &found, e) &&
              cn_search_check(opened.search, e);
    cn_store_query_close(&opened);
    if (ok)
        *count = found.count;
    return ok;
}

struct cairn_data *cairn_store_calls(struct cairn_data *data, const char *query,
                                     struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_open_options options = {.query = query ? query : ""};
    struct cn_opened opened;

    if (!cn_lib_needs(data, CAIRN_STORE, e) ||
        !cn_open(&opened, data->path, CN_CALLS, &options, e))
        return NULL;
    /* These calls are not all of the store: an analysis reads them, and not the store again. */
    free(opened.source);
    opened.source = NULL;
    opened.options.query = NULL;
    return cn_lib_data_new(&opened);
}
