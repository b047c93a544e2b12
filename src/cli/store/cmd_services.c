/* cairn store services: which services call which. */

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "model/contexts/context.h"
#include "store/groups/services.h"
#include "store/search/search.h"

static const struct cn_column texts[] = {
    {.name = "caller", .title = "CALLER", .kind = CN_COLUMN_TEXT},
    {.name = "callee", .title = "CALLEE", .kind = CN_COLUMN_TEXT},
    {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
    {.name = "rate", .title = "PER SECOND", .kind = CN_COLUMN_FIXED, .decimals = 3},
    {.name = "error_percent", .title = "ERRORS", .kind = CN_COLUMN_PERCENT},
    {.name = "p50", .title = "P50", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p90", .title = "P90", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p99", .title = "P99", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static const struct cn_column columns[] = {
    {.name = "caller", .kind = CN_COLUMN_TEXT},
    {.name = "callee", .kind = CN_COLUMN_TEXT},
    {.name = "calls", .kind = CN_COLUMN_U64},
    {.name = "calls_per_second", .kind = CN_COLUMN_F64},
    {.name = "error_percent", .kind = CN_COLUMN_PERCENT},
    {.name = "error_count", .kind = CN_COLUMN_U64},
    {.name = "p50_ns", .kind = CN_COLUMN_U64},
    {.name = "p90_ns", .kind = CN_COLUMN_U64},
    {.name = "p99_ns", .kind = CN_COLUMN_U64},
    {.name = "total_ns", .kind = CN_COLUMN_U64},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), CALLS = 2 };

static void print_edge(struct cn_table *table, bool is_text,
                       const struct cn_services *services,
                       const struct cn_service_edge *edge, bool has_estimates)
{
    const uint64_t durations[] = {edge->p50_ns, edge->p90_ns, edge->p99_ns};

    if (edge->caller != CN_NONE)
        cn_table_str(table, services->names.list[edge->caller]);
    else
        cn_table_none(table);
    cn_table_str(table, services->names.list[edge->callee]);
    cn_store_put_count(table, edge->count, has_estimates, edge->estimate);
    cn_store_put_rate(table, edge->count, services->last_ns - services->first_ns);
    if (edge->error_count > 0)
        cn_table_paint(table, CN_COLOR_RED);
    cn_table_f64(table, 100.0 * (double)edge->error_count / (double)edge->count);
    if (!is_text)
        cn_table_u64(table, edge->error_count);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
        cn_table_time(table, is_text, durations[i]);
    if (!is_text)
        cn_table_u64(table, edge->total_ns);
    cn_table_end_row(table);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT, ok;
    struct cn_store_query query;
    struct cn_services services;
    struct cn_table *table;

    if (!cn_store_query_open_args(&query, args, err))
        return false;
    cn_store_say_sampled(args, query.store);
    ok = cn_search_services(query.search, query.query, false, &services, err);
    if (ok) {
        bool has_estimates = cn_store_has_estimates(query.store);
        struct cn_column all[COLUMNS + 1];
        table = cn_store_table(args, is_text ? texts : columns, is_text ? TEXTS : COLUMNS,
                               CALLS, has_estimates, all);
        for (size_t i = 0; i < services.count; i++)
            print_edge(table, is_text, &services, &services.edges[i], has_estimates);
        cn_table_free(table);
        if (services.count == 0)
            cn_cli_say(args, "no span with a service matches");
        cn_services_done(&services);
        ok = cn_search_check(query.search, err);
    }
    cn_store_query_close(&query);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION_FORMAT,
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store services traces 'last 1h'", "the calls of the last hour"},
    {"cairn store services traces 'errors service = cart'",
     "who calls a service in vain"},
    {0},
};

const struct cn_command cn_cmd_store_services = {
    .name = "store services",
    .operands = "STORE [QUERY]...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .summary = "show which services call which",
    .description =
        "Lists the calls between services with rate, share of errors and percentiles of "
        "durations, the most frequent first: all spans of the matching traces, by their "
        "service and that of the span that caused them. Calls inside a service are not "
        "listed. A row "
        "without a caller counts spans whose caller is not in the store. Rates are over "
        "the time between the first and the last of these spans.",
    .examples = examples,
    .options = options,
    .run = run,
};
