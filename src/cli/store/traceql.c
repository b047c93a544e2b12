#include "cli/store/traceql.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/store/args.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/traceql/series.h"
#include "store/traceql/traceql.h"

/* --since and --until, within the times that follow the query. */
static bool narrow_range(const struct cn_args *args, struct cn_tql_range *range,
                         struct cn_error *err)
{
    const char *since = cn_args_value(args, "since"),
               *until = cn_args_value(args, "until");
    uint64_t first_ns = 0, last_ns = UINT64_MAX, ignored;

    if (since && !cn_date_parse(since, &first_ns, &ignored, err))
        return cn_fail_in(err, "--since");
    if (until && !cn_date_parse(until, &ignored, &last_ns, err))
        return cn_fail_in(err, "--until");
    range->first_ns = first_ns > range->first_ns ? first_ns : range->first_ns;
    range->last_ns = last_ns < range->last_ns ? last_ns : range->last_ns;
    return true;
}

bool cn_traceql_open(struct cn_store_query *query, struct cn_tql_program **program,
                     struct cn_tql_range *range, const struct cn_args *args,
                     struct cn_error *err)
{
    struct cn_store_query opened = {0};
    struct cn_text text = {0};

    for (size_t i = 1; i < cn_args_count(args); i++)
        cn_text_printf(&text, "%s%s", i > 1 ? " " : "", cn_args_operand(args, i));
    bool ok = cn_tql_ask(program, range, text.len > 0 ? cn_text_str(&text) : "{}",
                         cn_clock_date_ns(), err);
    cn_text_done(&text);
    if (!ok)
        return false;
    if (!narrow_range(args, range, err) ||
        !cn_store_open(&opened.store, cn_args_operand(args, 0), err) ||
        !cn_search_open(&opened.search, opened.store, err)) {
        cn_store_query_close(&opened);
        cn_tql_program_free(*program);
        return false;
    }
    *query = opened;
    cn_store_warn_missing(args, opened.store);
    cn_tql_print_unknown(opened.search, *program, &text);
    if (text.len > 0)
        cn_cli_warn(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
    return true;
}

/* The times of all spans, within those asked for: the begin is before the first span. */
static bool metrics_range(const struct cn_store_query *query, const struct cn_args *args,
                          const struct cn_tql_range *asked,
                          struct cn_tql_metrics_range *range, struct cn_error *err)
{
    const char *step = cn_args_value(args, "step");
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    range->first_ns = asked->first_ns;
    range->last_ns = asked->last_ns;
    for (size_t i = 0; i < cn_store_segment_count(query->store); i++) {
        uint64_t first, last;

        cn_segment_times(cn_store_segment(query->store, i), &first, &last);
        if (first > last)
            continue;
        first_ns = first < first_ns ? first : first_ns;
        last_ns = last > last_ns ? last : last_ns;
    }
    if (range->first_ns == 0)
        range->first_ns = first_ns > 0 && first_ns != UINT64_MAX ? first_ns - 1 : 0;
    if (range->last_ns == UINT64_MAX)
        range->last_ns = last_ns > range->first_ns ? last_ns : range->first_ns + 1;
    range->step_ns = cn_tql_default_step_ns(range->first_ns, range->last_ns);
    return !step || cn_duration_parse(step, CN_BARE_S, &range->step_ns, err) ||
           cn_fail_in(err, "--step");
}

static const struct cn_column point_texts[] = {
    {.name = "time", .title = "TIME", .kind = CN_COLUMN_TEXT},
    {.name = "value", .title = "VALUE", .kind = CN_COLUMN_F64},
    {.name = "series", .title = "SERIES", .kind = CN_COLUMN_TEXT},
};

static const struct cn_column point_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "value", .kind = CN_COLUMN_F64},
    {.name = "series", .kind = CN_COLUMN_TEXT},
};

static void print_points(struct cn_table *table, bool is_text,
                         const struct cn_tql_metrics *metrics,
                         const struct cn_tql_series *series)
{
    struct cn_text labels = {0};

    cn_tql_labels_print(series, &labels);
    for (size_t i = 0; i < metrics->count; i++) {
        if (isnan(series->values[i]))
            continue;
        cn_store_put_time(table, is_text, metrics->begin_ns + (i + 1) * metrics->step_ns);
        cn_table_f64(table, series->values[i]);
        cn_table_str(table, cn_text_str(&labels));
        cn_table_end_row(table);
    }
    cn_text_done(&labels);
}

bool cn_traceql_print_series(struct cn_store_query *query,
                             const struct cn_tql_program *program,
                             const struct cn_tql_range *asked, const struct cn_args *args,
                             struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_tql_metrics_range range = {0};
    struct cn_tql_metrics metrics;

    if (!metrics_range(query, args, asked, &range, err) ||
        !cn_tql_metrics(query->search, program, &range, &metrics, err))
        return false;
    struct cn_table *table = cn_cli_table(args, is_text ? point_texts : point_columns, 3);
    for (size_t i = 0; i < metrics.series_count; i++)
        print_points(table, is_text, &metrics, &metrics.series[i]);
    cn_table_free(table);
    if (metrics.series_count == 0)
        cn_cli_say(args, "no span matches");
    cn_tql_metrics_done(&metrics);
    return true;
}

static const struct cn_column set_texts[] = {
    {.name = "time", .title = "TIME", .kind = CN_COLUMN_TEXT},
    {.name = "duration",
     .title = "DURATION",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "matched", .title = "MATCHED", .kind = CN_COLUMN_U64},
    {.name = "trace_id", .title = "ID", .kind = CN_COLUMN_TEXT},
    {.name = "root", .title = "ROOT", .kind = CN_COLUMN_TEXT},
    {.name = "attributes", .title = "ATTRIBUTES", .kind = CN_COLUMN_TEXT},
};

static const struct cn_column set_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "duration_ns", .kind = CN_COLUMN_U64},
    {.name = "matched", .kind = CN_COLUMN_U64},
    {.name = "trace_id", .kind = CN_COLUMN_TEXT},
    {.name = "root", .kind = CN_COLUMN_TEXT},
    {.name = "attributes", .kind = CN_COLUMN_TEXT},
    {.name = "span_ids", .kind = CN_COLUMN_TEXT},
};

static void print_set(struct cn_table *table, bool is_text,
                      const struct cn_tql_found_trace *trace,
                      const struct cn_tql_found_set *set)
{
    struct cn_text text = {0};

    cn_store_put_time(table, is_text, trace->time_ns);
    cn_table_time(table, is_text, trace->duration_ns);
    cn_table_u64(table, set->matched);
    cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64, trace->high, trace->low);
    cn_table_str(table, cn_text_str(&text));
    cn_text_clear(&text);
    cn_text_printf(&text, "%s%s%s", trace->root_service,
                   trace->root_service[0] ? ": " : "", trace->root_name);
    cn_table_str(table, cn_text_str(&text));
    cn_text_clear(&text);
    for (size_t i = 0; i < set->attribute_count; i++) {
        cn_text_printf(&text, "%s%s=", i > 0 ? ", " : "", set->names[i]);
        cn_tql_print(&set->values[i], &text);
    }
    cn_table_str(table, cn_text_str(&text));
    cn_text_clear(&text);
    for (size_t i = 0; !is_text && i < set->span_count; i++)
        cn_text_printf(&text, "%s%016" PRIx64, i > 0 ? " " : "", set->spans[i].id);
    if (!is_text)
        cn_table_str(table, cn_text_str(&text));
    cn_table_end_row(table);
    cn_text_done(&text);
}

bool cn_traceql_print_sets(struct cn_store_query *query,
                           const struct cn_tql_program *program,
                           const struct cn_tql_range *range, const struct cn_args *args,
                           struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_tql_found found;

    if (!cn_tql_search(query->search, program, range, &found, err))
        return false;
    struct cn_table *table =
        is_text ? cn_cli_table(args, set_texts, 6) : cn_cli_table(args, set_columns, 7);
    for (size_t i = 0; i < found.count; i++)
        for (size_t k = 0; k < found.traces[i].set_count; k++)
            print_set(table, is_text, &found.traces[i], &found.traces[i].sets[k]);
    cn_table_free(table);
    if (found.count == 0)
        cn_cli_say(args, "no trace matches");
    cn_tql_found_done(&found);
    return true;
}

struct cn_column *cn_traceql_columns(const struct cn_column *own, size_t own_count,
                                     const struct cn_tql_selection *selection,
                                     size_t *count)
{
    size_t more = selection ? cn_tql_selection_count(selection) : 0;
    struct cn_column *columns = cn_alloc(own_count + more, sizeof(*columns));

    memcpy(columns, own, own_count * sizeof(*columns));
    for (size_t i = 0; i < more; i++)
        columns[own_count + i] =
            (struct cn_column){.name = cn_tql_selection_name(selection, i),
                               .title = cn_tql_selection_name(selection, i),
                               .kind = CN_COLUMN_TEXT};
    *count = own_count + more;
    return columns;
}

bool cn_traceql_print_selected(struct cn_table *table, struct cn_tql_selection *selection,
                               uint32_t segment, uint32_t row, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_tql_value value;
    bool ok = true;

    for (size_t i = 0; ok && selection && i < cn_tql_selection_count(selection); i++) {
        ok = cn_tql_selection_value(selection, segment, row, i, &value, err);
        if (!ok || value.type == CN_TQL_NIL) {
            cn_table_none(table);
            continue;
        }
        cn_text_clear(&text);
        cn_tql_print(&value, &text);
        cn_table_str(table, cn_text_str(&text));
    }
    cn_text_done(&text);
    return ok;
}
