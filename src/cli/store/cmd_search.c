/* cairn store search: list, count or group the traces that match a query. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "cli/store/search_groups.h"
#include "cli/store/traceql.h"
#include "store/groups/matches.h"
#include "store/search/search.h"
#include "store/search/traces.h"
#include "store/traceql/traceql.h"

enum { LIMIT_DEFAULT = 100, STEPS_MAX = 100000 };

#define SORTS "time|duration|spans|calls|errors|records"

/* Traces, as text. */
static const struct cn_column trace_texts[] = {
    {.name = "time", .title = "TIME", .kind = CN_COLUMN_TEXT},
    {.name = "duration",
     .title = "DURATION",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "spans", .title = "SPANS", .kind = CN_COLUMN_U64},
    {.name = "errors", .title = "ERRORS", .kind = CN_COLUMN_U64},
    {.name = "type", .title = "TYPE", .kind = CN_COLUMN_TEXT},
    {.name = "services", .title = "SERVICES", .kind = CN_COLUMN_TEXT},
    {.name = "trace_id", .title = "ID", .kind = CN_COLUMN_TEXT},
    {.name = "method", .title = "METHOD", .kind = CN_COLUMN_TEXT},
};
enum { TRACE_TEXTS = sizeof(trace_texts) / sizeof(trace_texts[0]) };

/* Traces, as JSON and CSV. */
static const struct cn_column trace_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "duration_ns", .kind = CN_COLUMN_U64},
    {.name = "spans", .kind = CN_COLUMN_U64},
    {.name = "errors", .kind = CN_COLUMN_U64},
    {.name = "type", .kind = CN_COLUMN_TEXT},
    {.name = "services", .kind = CN_COLUMN_TEXT},
    {.name = "calls", .kind = CN_COLUMN_U64},
    {.name = "records", .kind = CN_COLUMN_U64},
    {.name = "trace_id", .kind = CN_COLUMN_TEXT},
    {.name = "span_id", .kind = CN_COLUMN_TEXT},
    {.name = "method", .kind = CN_COLUMN_TEXT},
};
enum { TRACE_COLUMNS = sizeof(trace_columns) / sizeof(trace_columns[0]) };

/* Spans, as text. */
static const struct cn_column row_texts[] = {
    {.name = "time", .title = "TIME", .kind = CN_COLUMN_TEXT},
    {.name = "duration",
     .title = "DURATION",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "type", .title = "TYPE", .kind = CN_COLUMN_TEXT},
    {.name = "service", .title = "SERVICE", .kind = CN_COLUMN_TEXT},
    {.name = "errors", .title = "ERRORS", .kind = CN_COLUMN_U64},
    {.name = "trace_id", .title = "ID", .kind = CN_COLUMN_TEXT},
    {.name = "method", .title = "METHOD", .kind = CN_COLUMN_TEXT},
};
enum { ROW_TEXTS = sizeof(row_texts) / sizeof(row_texts[0]) };

/* Spans, as JSON and CSV. */
static const struct cn_column row_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "duration_ns", .kind = CN_COLUMN_U64},
    {.name = "type", .kind = CN_COLUMN_TEXT},
    {.name = "service", .kind = CN_COLUMN_TEXT},
    {.name = "errors", .kind = CN_COLUMN_U64},
    {.name = "calls", .kind = CN_COLUMN_U64},
    {.name = "records", .kind = CN_COLUMN_U64},
    {.name = "trace_id", .kind = CN_COLUMN_TEXT},
    {.name = "span_id", .kind = CN_COLUMN_TEXT},
    {.name = "parent_id", .kind = CN_COLUMN_TEXT},
    {.name = "method", .kind = CN_COLUMN_TEXT},
};
enum { ROW_COLUMNS = sizeof(row_columns) / sizeof(row_columns[0]) };

/* A word of the row of a hit; no value if there is none. */
static bool add_word(struct cn_table *table, struct cn_search *search,
                     const struct cn_search_hit *hit, uint32_t word, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = word == 0 || cn_search_hit_word(search, hit, word, &text, err);

    if (ok && word != 0)
        cn_table_str(table, cn_text_str(&text));
    else
        cn_table_none(table);
    cn_text_done(&text);
    return ok;
}

static void add_id(struct cn_table *table, uint64_t id)
{
    char text[17];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, id);
    if (id != 0)
        cn_table_str(table, text);
    else
        cn_table_none(table);
}

static void add_trace_id(struct cn_table *table, uint64_t high, uint64_t low)
{
    char id[33];

    (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, high, low);
    cn_table_str(table, id);
}

static void add_errors(struct cn_table *table, uint64_t errors)
{
    if (errors > 0)
        cn_table_paint(table, CN_COLOR_RED);
    cn_table_u64(table, errors);
}

static void add_services(struct cn_table *table, const struct cn_search_traces *traces,
                         const struct cn_search_trace *trace)
{
    struct cn_text text = {0};

    for (size_t i = 0; i < trace->service_count; i++)
        cn_text_printf(&text, "%s%s", i > 0 ? ", " : "",
                       cn_search_trace_service(traces, trace, i));
    if (trace->service_count > 0)
        cn_table_str(table, cn_text_str(&text));
    else
        cn_table_none(table);
    cn_text_done(&text);
}

static bool print_trace(struct cn_table *table, bool is_text, struct cn_search *search,
                        const struct cn_search_traces *traces,
                        const struct cn_search_trace *trace, struct cn_error *err)
{
    struct cn_store_row row;
    bool ok;

    if (!cn_search_hit_row(search, &trace->root, &row, err))
        return false;
    cn_store_put_time(table, is_text, trace->sum.time_ns);
    cn_table_time(table, is_text, trace->sum.duration_ns);
    cn_table_u64(table, trace->sum.spans);
    add_errors(table, trace->sum.errors);
    ok = add_word(table, search, &trace->root, row.type, err);
    add_services(table, traces, trace);
    if (!is_text) {
        cn_table_u64(table, trace->sum.calls);
        cn_table_u64(table, trace->sum.records);
    }
    add_trace_id(table, trace->trace_high, trace->trace_low);
    if (!is_text)
        add_id(table, row.span_id);
    ok = add_word(table, search, &trace->root, row.method, err) && ok;
    cn_table_end_row(table);
    return ok;
}

static bool print_hit(struct cn_table *table, bool is_text, struct cn_search *search,
                      const struct cn_search_hit *hit, struct cn_error *err)
{
    struct cn_store_row row;
    bool ok;

    if (!cn_search_hit_row(search, hit, &row, err))
        return false;
    cn_store_put_time(table, is_text, row.time_ns);
    cn_table_time(table, is_text, row.duration_ns);
    ok = add_word(table, search, hit, row.type, err);
    ok = add_word(table, search, hit, row.service, err) && ok;
    add_errors(table, row.errors);
    if (!is_text) {
        cn_table_u64(table, row.calls);
        cn_table_u64(table, row.records);
    }
    add_trace_id(table, row.trace_high, row.trace_low);
    if (!is_text) {
        add_id(table, row.span_id);
        add_id(table, row.parent_id);
    }
    return add_word(table, search, hit, row.method, err) && ok;
}

static bool print_hits(struct cn_store_query *query, const struct cn_args *args,
                       const struct cn_tql_program *program,
                       const struct cn_search_hits *hits, struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT, ok = true;
    struct cn_tql_selection *selection =
        program ? cn_tql_selection_new(query->search, program) : NULL;
    size_t column_count;
    struct cn_column *columns =
        cn_traceql_columns(is_text ? row_texts : row_columns,
                           is_text ? ROW_TEXTS : ROW_COLUMNS, selection, &column_count);
    struct cn_table *table = cn_cli_table(args, columns, column_count);

    for (size_t i = 0; ok && i < hits->count; i++) {
        ok = print_hit(table, is_text, query->search, &hits->list[i], err) &&
             cn_traceql_print_selected(table, selection, hits->list[i].segment,
                                       hits->list[i].row, err);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    free(columns);
    cn_tql_selection_free(selection);
    return ok;
}

static enum cn_search_sort sort_of(const char *name)
{
    static const char *const names[] = {
        [CN_SEARCH_BY_TIME] = "time",       [CN_SEARCH_BY_DURATION] = "duration",
        [CN_SEARCH_BY_CALLS] = "calls",     [CN_SEARCH_BY_ERRORS] = "errors",
        [CN_SEARCH_BY_RECORDS] = "records", [CN_SEARCH_BY_SPANS] = "spans",
    };
    unsigned sort = 0;

    while (name && strcmp(names[sort], name) != 0)
        sort++;
    return (enum cn_search_sort)sort;
}

static bool list_spans(struct cn_store_query *query, const struct cn_args *args,
                       const struct cn_tql_program *program,
                       const struct cn_search_order *order, size_t *count,
                       struct cn_error *err)
{
    struct cn_search_hits hits;

    if (!cn_search_rows(query->search, query->query, order, &hits, err))
        return false;
    bool ok = print_hits(query, args, program, &hits, err);
    *count = hits.count;
    cn_search_hits_done(&hits);
    return ok;
}

static bool list_traces(struct cn_store_query *query, const struct cn_args *args,
                        const struct cn_search_order *order, size_t *count,
                        struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT, ok = true;
    struct cn_search_traces traces;

    if (!cn_search_traces(query->search, query->query, order, &traces, err))
        return false;
    struct cn_table *table = is_text ? cn_cli_table(args, trace_texts, TRACE_TEXTS)
                                     : cn_cli_table(args, trace_columns, TRACE_COLUMNS);
    for (size_t i = 0; ok && i < traces.count; i++)
        ok = print_trace(table, is_text, query->search, &traces, &traces.list[i], err);
    cn_table_free(table);
    *count = traces.count;
    cn_search_traces_done(&traces);
    return ok;
}

static bool list(struct cn_store_query *query, const struct cn_args *args,
                 const struct cn_tql_program *program, uint64_t limit, uint64_t offset,
                 struct cn_error *err)
{
    struct cn_search_order order = {
        .sort = sort_of(cn_args_value(args, "sort")),
        .is_reversed = cn_args_has(args, "reverse"),
        .limit = limit,
        .offset = offset,
    };
    bool has_spans = cn_args_has(args, "spans");
    const char *unit = has_spans ? "span" : "trace";
    size_t shown;

    if (has_spans ? !list_spans(query, args, program, &order, &shown, err)
                  : !list_traces(query, args, &order, &shown, err))
        return false;
    if (shown == 0)
        cn_cli_say(args, "no %s matches", unit);
    else if (shown == limit)
        cn_cli_detail(args,
                      "there may be more than %" PRIu64 " %ss; see --limit and --offset",
                      limit, unit);
    return true;
}

static bool count(struct cn_store_query *query, const struct cn_args *args,
                  enum cn_search_unit unit, struct cn_error *err)
{
    struct cn_search_trace_count number = {0};

    if (unit == CN_SEARCH_SPANS
            ? !cn_search_count(query->search, query->query, &number.count, err)
            : !cn_search_count_traces(query->search, query->query, &number, err))
        return false;
    (void)printf("%" PRIu64 "\n", number.count);
    if (!cn_store_has_estimates(query->store))
        return true;
    double estimate;
    if (!cn_matches_estimate(query->search, query->query, unit, &estimate, err))
        return false;
    cn_cli_say(args, "about %.0f before sampling (estimated)", estimate);
    return true;
}

static bool check_options(const struct cn_args *args, struct cn_error *err)
{
    static const char *const kinds[] = {"count", "group-by", "values", "steps"};
    static const char *const of_list[] = {"sort", "reverse"};
    const char *given = NULL;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (!cn_args_has(args, kinds[i]))
            continue;
        if (given)
            return cn_fail(err, CN_ERR_USAGE, "--%s and --%s exclude each other", given,
                           kinds[i]);
        given = kinds[i];
    }
    for (size_t i = 0; given && i < sizeof(of_list) / sizeof(of_list[0]); i++) {
        if (cn_args_has(args, of_list[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s and --%s exclude each other", given,
                           of_list[i]);
    }
    return true;
}

/* What the options ask for, of traces or spans that a query finds. */
static bool answer(struct cn_store_query *query, const struct cn_args *args,
                   const struct cn_tql_program *program, uint64_t limit, uint64_t offset,
                   struct cn_error *err)
{
    enum cn_search_unit unit =
        cn_args_has(args, "spans") ? CN_SEARCH_SPANS : CN_SEARCH_TRACES;
    uint64_t steps;

    cn_store_say_sampled(args, query->store);
    if (!cn_args_u64(args, "steps", 1, STEPS_MAX, 1, &steps, err))
        return false;
    if (cn_args_has(args, "count"))
        return count(query, args, unit, err);
    if (cn_args_has(args, "steps"))
        return cn_store_print_steps(query, args, unit, steps, err);
    if (cn_args_has(args, "group-by") || cn_args_has(args, "values"))
        return cn_store_print_groups(query, args, unit, limit, offset, err);
    return list(query, args, program, limit, offset, err);
}

/* A list of the newest traces needs no others. */
static size_t traces_needed(const struct cn_args *args, uint64_t limit, uint64_t offset)
{
    static const char *const all[] = {"count", "steps", "group-by", "values",
                                      "spans", "sort",  "reverse"};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (cn_args_has(args, all[i]))
            return 0;
    return (size_t)(limit + offset);
}

/* Options that the answer to a program does not have. */
static bool check_traceql(const struct cn_args *args,
                          const struct cn_tql_program *program, struct cn_error *err)
{
    static const char *const of_traces[] = {"count", "group-by", "values",  "steps",
                                            "spans", "sort",     "reverse", "offset",
                                            "limit", "spansets"};
    bool is_sets = cn_args_has(args, "spansets");
    size_t count = program->is_metrics ? 10 : is_sets ? 8 : 0;

    for (size_t i = 0; i < count; i++)
        if (cn_args_has(args, of_traces[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s cannot be used with %s", of_traces[i],
                           program->is_metrics ? "metrics" : "--spansets");
    return program->is_metrics || !cn_args_has(args, "step") ||
           cn_fail(err, CN_ERR_USAGE, "--step is for metrics, as '{} | rate()'");
}

static bool answer_traceql(struct cn_store_query *query, const struct cn_args *args,
                           const struct cn_tql_program *program,
                           const struct cn_tql_range *range, uint64_t limit,
                           uint64_t offset, struct cn_error *err)
{
    if (program->is_metrics || cn_args_has(args, "spansets"))
        cn_store_say_sampled(args, query->store);
    if (program->is_metrics)
        return cn_traceql_print_series(query, program, range, args, err);
    if (cn_args_has(args, "spansets"))
        return cn_traceql_print_sets(query, program, range, args, err);
    return cn_tql_query(&query->query, query->search, program, range, err) &&
           answer(query, args, program, limit, offset, err);
}

static bool run_traceql(const struct cn_args *args, uint64_t limit, uint64_t offset,
                        struct cn_error *err)
{
    struct cn_tql_range range = {0};
    struct cn_tql_program *program;
    struct cn_store_query query;
    bool ok;

    if (!cn_traceql_open(&query, &program, &range, args, err))
        return false;
    range.trace_max = cn_args_has(args, "spansets") ? (size_t)limit
                                                    : traces_needed(args, limit, offset);
    ok = check_traceql(args, program, err) &&
         answer_traceql(&query, args, program, &range, limit, offset, err) &&
         cn_search_check(query.search, err);
    cn_store_query_close(&query);
    cn_tql_program_free(program);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    static const char *const of_traceql[] = {"since", "until", "step", "spansets"};
    struct cn_store_query query;
    uint64_t limit, offset;

    if (!check_options(args, err) ||
        !cn_args_u64(args, "limit", 1, UINT32_MAX, LIMIT_DEFAULT, &limit, err) ||
        !cn_args_u64(args, "offset", 0, UINT32_MAX, 0, &offset, err))
        return false;
    if (cn_args_has(args, "traceql") ||
        (cn_args_count(args) > 1 && cn_tql_is_text(cn_args_operand(args, 1))))
        return run_traceql(args, limit, offset, err);
    for (size_t i = 0; i < sizeof(of_traceql) / sizeof(of_traceql[0]); i++)
        if (cn_args_has(args, of_traceql[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s needs --traceql", of_traceql[i]);
    if (!cn_store_query_open_args(&query, args, err))
        return false;
    bool ok = answer(&query, args, NULL, limit, offset, err) &&
              cn_search_check(query.search, err);
    cn_store_query_close(&query);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("spans", 's', NULL, "list, count or group spans instead of traces"),
    CN_OPTION("limit", 'n', "N", "show at most N (default: 100)"),
    CN_OPTION("offset", 0, "N", "skip the first N"),
    CN_OPTION("sort", 0, SORTS,
              "sort by this, the newest or largest first (default: time)"),
    CN_OPTION("reverse", 'r', NULL, "sort the oldest or smallest first"),
    CN_OPTION("count", 'c', NULL, "print only the number of matches"),
    CN_OPTION("group-by", 'g', "NAME",
              "group by type, service, method, operation (service and method of spans) "
              "or an "
              "attribute, with the share of errors and percentiles of durations"),
    {.name = "steps",
     .value = "N",
     .help =
         "divide the time into N steps, with rate, share of errors and percentiles of "
         "durations"},
    CN_OPTION("values", 0, "NAME", "list the values of an attribute with their counts"),
    CN_OPTION("traceql", 't', NULL, "the QUERY is in TraceQL, the language of Tempo"),
    CN_OPTION("since", 0, "TIME", "of TraceQL: only spans that began then or later"),
    CN_OPTION("until", 0, "TIME", "of TraceQL: only spans that began then or earlier"),
    CN_OPTION("step", 0, "DURATION",
              "of metrics in TraceQL: the time between points; 0: one point for all"),
    CN_OPTION("spansets", 0, NULL,
              "of TraceQL: list spansets, with what by() and aggregates say of them"),
    CN_OPTION_FORMAT,
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store search traces 'errors last 2h'", "failed traces of the last two hours"},
    {"cairn store search traces 'duration > 1s service = shop' --sort=duration -n 10",
     "the ten slowest requests of a service"},
    {"cairn store search traces 'method = Dao.query and http.status >= 500'",
     "server errors of requests that called a method"},
    {"cairn store search traces 'since 2026-01-01 not \"out of stock\"' --count",
     "the number of traces without this text"},
    {"cairn store search traces --group-by http.url", "requests and durations by URL"},
    {"cairn store search traces --group-by operation", "latencies by operation"},
    {"cairn store search traces --spans 'root = \"GET /cart\"' --steps 24",
     "an operation over time"},
    {"cairn store search traces --spans 'service = cart duration > 50ms'",
     "the slow spans of a service"},
    {"cairn store search traces '{ name = \"GET /pay\" } >> { status = error }'",
     "traces in which something failed below a call, in TraceQL"},
    {"cairn store search traces '{} | rate() by (name)' --step 1m",
     "the rate of each operation over time"},
    {0},
};

const struct cn_command cn_cmd_store_search = {
    .name = "store search",
    .operands = "STORE [QUERY]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "find traces in a store",
    .description =
        "Lists the traces that match, one row a trace, the newest first; without a QUERY "
        "all of them. A trace has all spans with its id, in whichever request or segment "
        "they arrived; a span that arrived twice counts once. Its row shows the start of "
        "the earliest span, duration and method of the span that has no caller, and all "
        "services. --spans lists the matching spans. Sorting and --limit apply to all "
        "matches.\n\n"
        "A condition is about a span: about its own name, attributes and calls, not "
        "about those of spans inside of it. A trace matches if each condition holds in "
        "one of its spans, not necessarily the same; NOT means that it holds in none. "
        "Duration, calls, records and errors are those of the trace. Times that must all "
        "hold are one condition: a span that began between them. With --spans, all "
        "conditions are about the same span.\n\n"
        "A query consists of conditions, AND, OR, NOT and parentheses; AND may be "
        "omitted. "
        "A bare word, or text in quotes, is searched for in names of methods and "
        "classes, "
        "names and values of attributes, exceptions, type and service. Upper and lower "
        "case differ.\n\n"
        "  since TIME, until TIME, last DURATION\n"
        "  errors                         has errors\n"
        "  NAME = VALUE, !=, <, <=, >, >=\n"
        "  NAME contains VALUE, NAME starts VALUE, NAME ends VALUE\n"
        "  NAME ~ PATTERN, NAME !~ PATTERN\n"
        "  NAME exists\n\n"
        "NAME is time, duration, errors, calls, records, id, span, parent, type, "
        "service, "
        "root (the method of the first call), method or class (of any call), exception, "
        "exception.class, exception.message, text, or an attribute of any call. "
        "root.NAME "
        "is an attribute of the first call; @NAME is an attribute with one of the names "
        "above, @\"NAME\" one whose name has blanks or operators. Of spans, there are "
        "also resource.NAME, scope.name, event, event.NAME, "
        "link.trace, link.NAME, status.code and status.message.\n\n"
        "A TIME is 2026-01-31 or \"2026-01-31 23:59:59.5\", in UTC or with Z or +02:00; "
        "a "
        "day, hour, minute or second stands for all of it. A DURATION is 100ms, 1.5s, 2h "
        "or 7d. A method or class also equals the end of its name: method = Dao.query. "
        "Values that are numbers compare as numbers. != and !~ match traces that have "
        "another value; use NOT to include those without one. A PATTERN is an extended "
        "regular expression, with \\w \\s \\d \\b.\n\n"
        "With --traceql the query is in TraceQL: spansets in braces, && || > >> ~ and "
        "the like between them, pipelines with count(), by(), select(), and metrics. See "
        "docs/traceql.md.",
    .examples = examples,
    .options = options,
    .run = run,
};
