/* cairn store show: one trace with its calls. */

#include <string.h>

#include "base/duration.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "cli/store/trace_print.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/trace/distributed.h"

#define FORMATS "text|json|csv|chrome|folded|otlp-json"

/* "ID", or "ID/SPAN" for one span. An id may be abbreviated. */
static bool make_query(struct cn_query **out, const char *id, struct cn_error *err)
{
    const char *slash = strchr(id, '/');
    size_t len = slash ? (size_t)(slash - id) : strlen(id);
    struct cn_text text = {0};

    cn_text_printf(&text, "id starts \"%.*s\"", (int)len, id);
    if (slash)
        cn_text_printf(&text, " span = \"%s\"", slash + 1);
    bool ok = cn_query_parse(out, cn_text_str(&text), 0, err) ||
              cn_fail(err, CN_ERR_USAGE, "'%s' is not a trace id", id);
    cn_text_done(&text);
    return ok;
}

static bool check_set(const struct cn_trace_set *set, const char *id,
                      struct cn_error *err)
{
    if (set->count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no trace %s", id);
    for (size_t i = 0; i < set->count; i++) {
        if (set->branches[i].trace.node_count == 0)
            return cn_fail(err, CN_ERR_NOT_FOUND, "trace %s has no calls", id);
    }
    return true;
}

static bool print(const struct cn_trace_set *set, const struct cn_args *args,
                  const struct cn_trace_cut *cut, struct cn_error *err)
{
    const char *format = cn_args_value(args, "format");

    if (cn_args_has(args, "critical-path"))
        cn_trace_print_path(set, args);
    else if (cn_args_has(args, "stats"))
        cn_trace_print_methods(set, args, cut);
    else if (format && strcmp(format, "json") == 0)
        cn_trace_print_json(set, args, cut);
    else if (format && strcmp(format, "otlp-json") == 0)
        cn_trace_print_otlp(set, args);
    else if (format && strcmp(format, "text") != 0)
        return cn_trace_export(set, format, cut, err);
    else
        cn_trace_print_tree(set, args, cut);
    return true;
}

static bool show(struct cn_store_query *query, const struct cn_args *args,
                 const struct cn_trace_cut *cut, struct cn_error *err)
{
    const char *id = cn_args_operand(args, 1);
    struct cn_trace_set set;

    if (!cn_trace_set_load(&set, query->search, query->query, err))
        return false;
    bool ok = check_set(&set, id, err) && print(&set, args, cut, err);
    cn_trace_set_done(&set);
    return ok || cn_fail_in(err, "%s", cn_args_operand(args, 0));
}

static bool check_options(const struct cn_args *args, struct cn_error *err)
{
    const char *format = cn_args_value(args, "format");
    bool is_table = !format || strcmp(format, "text") == 0 ||
                    strcmp(format, "json") == 0 || strcmp(format, "csv") == 0;

    bool has_stats = cn_args_has(args, "stats");
    bool has_path = cn_args_has(args, "critical-path");

    if (has_stats && has_path)
        return cn_fail(err, CN_ERR_USAGE,
                       "--stats and --critical-path exclude each other");
    if ((has_stats || has_path) && !is_table)
        return cn_fail(err, CN_ERR_USAGE, "--%s and --format=%s exclude each other",
                       has_stats ? "stats" : "critical-path", format);
    if (has_path && (cn_args_has(args, "depth") || cn_args_has(args, "min-time")))
        return cn_fail(err, CN_ERR_USAGE,
                       "--critical-path shows all calls of the path; omit --depth and "
                       "--min-time");
    if (format && strcmp(format, "otlp-json") == 0 &&
        (cn_args_has(args, "depth") || cn_args_has(args, "min-time")))
        return cn_fail(err, CN_ERR_USAGE,
                       "--format=otlp-json has all calls; omit --depth and --min-time");
    if (!has_stats && !has_path && format && strcmp(format, "csv") == 0)
        return cn_fail(
            err, CN_ERR_USAGE,
            "the tree cannot be printed as CSV; use --stats or another format");
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_trace_cut cut = {.depth = UINT32_MAX};
    const char *min_time = cn_args_value(args, "min-time");
    struct cn_store_query query = {0};
    uint64_t depth;
    bool ok;

    if (!check_options(args, err) ||
        !cn_args_u64(args, "depth", 0, UINT32_MAX, UINT32_MAX, &depth, err))
        return false;
    if (min_time && !cn_duration_parse(min_time, CN_BARE_REFUSED, &cut.min_ns, err))
        return cn_fail_in(err, "--min-time");
    if (!make_query(&query.query, cn_args_operand(args, 1), err))
        return false;
    cut.depth = (uint32_t)depth;
    ok = cn_store_open(&query.store, cn_args_operand(args, 0), err);
    if (ok)
        cn_store_warn_missing(args, query.store);
    ok = ok && cn_search_open(&query.search, query.store, err) &&
         show(&query, args, &cut, err) && cn_search_check(query.search, err);
    cn_store_query_close(&query);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("depth", 'd', "N", "hide calls nested deeper than N; the first call is 0"),
    CN_OPTION("min-time", 't', "TIME", "hide shorter calls, such as 2ms"),
    CN_OPTION("stats", 's', NULL,
              "list methods with calls, errors and times instead of the tree"),
    {.name = "critical-path",
     .letter = 'p',
     .help =
         "show the calls that the end of the trace waited for, of all services, with the "
         "time that it waited for each"},
    {
        .name = "format",
        .value = FORMATS,
        .help =
            "tree (default), JSON, Chrome trace events, folded stacks in nanoseconds, or "
            "OpenTelemetry JSON with all ids, attributes and links; with --stats and "
            "--critical-path also CSV",
    },
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store show traces 19ab141b2e5875eb1a42d72c2e9360cd", "the tree of a trace"},
    {"cairn store show traces 19ab14 --min-time=5ms --depth=10",
     "without short and deep calls; the id may be abbreviated"},
    {"cairn store show traces 19ab14 --stats", "times by method"},
    {"cairn store show traces 19ab14 --critical-path", "what the request waited for"},
    {"cairn store show traces 19ab14 --format=folded | flamegraph.pl >trace.svg",
     "a flame graph"},
    {"cairn store show traces 19ab14 --format=otlp-json >trace.json",
     "the trace for other tools, with its span links"},
    {0},
};

const struct cn_command cn_cmd_store_show = {
    .name = "store show",
    .operands = "STORE TRACE-ID",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "show one trace of a store",
    .description =
        "Shows the calls of a trace with their times, attributes, events, links and "
        "exceptions. "
        "Spans "
        "that arrived separately are shown below the call that caused them. TRACE-ID is "
        "the "
        "id that cairn store search prints, or its beginning; TRACE-ID/SPAN-ID selects "
        "one "
        "span. A duration followed by + is that of a call that has not ended.",
    .examples = examples,
    .options = options,
    .run = run,
};
