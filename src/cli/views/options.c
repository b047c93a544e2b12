#include "cli/views/options.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lens/database.h"
#include "analyze/time_base.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/kinds.h"
#include "model/gpu/metrics.h"
#include "open/formats.h"

enum { PER_THREAD_MAX = 64 };

static enum cn_cost_stat stat_named(const char *name)
{
    static const char *const names[] = {"sum", "mean", "min", "max", "stddev", "count"};
    size_t i = 0;

    while (strcmp(names[i], name) != 0)
        i++;
    return (enum cn_cost_stat)i;
}

/* True if `name` is the name of a side, or its old name. */
static bool is_side(const char *name, enum cn_cost_side side)
{
    return strcmp(name, side == CN_TOTAL ? "total" : "self") == 0 ||
           strcmp(name, side == CN_TOTAL ? "inclusive" : "exclusive") == 0;
}

/* Add total and self columns as --cost says. With both, a metric may lack one. */
static bool add_sides(struct cn_costs *costs, struct cn_cost_request request,
                      const char *cost, struct cn_error *err)
{
    size_t before = costs->column_count;
    bool wants_both = !cost || strcmp(cost, "both") == 0;

    if (request.scope)
        return cn_costs_add(costs, &request, err);
    for (int side = CN_TOTAL; side <= CN_SELF; side++) {
        request.side = (enum cn_cost_side)side;
        if (!wants_both && !is_side(cost, request.side))
            continue;
        if (cn_costs_add(costs, &request, err))
            continue;
        if (!wants_both || (side == CN_SELF && costs->column_count == before))
            return false;
    }
    return true;
}

static bool add_stats(struct cn_costs *costs, const struct cn_args *args,
                      struct cn_cost_request request, const char *cost,
                      struct cn_error *err)
{
    struct cn_values stats = cn_args_values(args, "stat");

    for (size_t i = 0; i < (stats.count ? stats.count : 1); i++) {
        if (stats.count)
            request.stat = stat_named(stats.list[i]);
        if (!add_sides(costs, request, cost, err))
            return false;
    }
    return true;
}

static bool add_threads(struct cn_costs *costs, struct cn_cost_request request,
                        const char *cost, struct cn_error *err)
{
    unsigned count = 0;

    for (uint32_t p = 1; p < costs->db->profile_count; p++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(costs, p))
            continue;
        if (!cn_database_profile(costs->db, p, &profile, err))
            return false;
        if (profile.is_summary)
            continue;
        if (++count > PER_THREAD_MAX)
            return cn_fail(err, CN_ERR_USAGE,
                           "--per-thread shows at most %d threads; select some with "
                           "--thread",
                           PER_THREAD_MAX);
        request.profile = p;
        if (!add_sides(costs, request, cost, err))
            return false;
    }
    return true;
}

static bool add_metric(struct cn_costs *costs, const struct cn_args *args,
                       const char *metric, const char *cost, struct cn_error *err)
{
    struct cn_cost_request request = {
        .metric = metric,
        .scope = cn_args_value(args, "scope"),
        .profile = CN_NONE,
    };

    return (cn_args_has(args, "per-thread")
                ? add_threads(costs, request, cost, err)
                : add_stats(costs, args, request, cost, err)) ||
           cn_args_misnamed(args, "metric", err) || cn_args_misnamed(args, "scope", err);
}

/* Add the time of a kind of waiting: one column, without a share, next to that of all time. */
static bool add_wait(struct cn_costs *costs, const struct cn_args *args,
                     const char *metric, struct cn_error *err)
{
    const char *cost = cn_args_value(args, "cost");
    size_t first = costs->column_count;

    if (!add_metric(costs, args, metric, cost && is_side(cost, CN_TOTAL) ? cost : "self",
                    err))
        return false;
    for (size_t i = first; i < costs->column_count; i++)
        costs->columns[i].has_percent = false;
    return true;
}

/* Rows are selected by their totals: if none is shown, add those of the metrics as hidden
 * columns. A metric may have none. */
static void add_hidden(struct cn_costs *costs, const char *const *metrics, size_t count)
{
    struct cn_error err;

    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].side == CN_TOTAL && costs->columns[i].has_percent)
            return;
    for (size_t i = 0; i < count; i++) {
        struct cn_cost_request request = {.metric = metrics[i],
                                          .side = CN_TOTAL,
                                          .profile = CN_NONE,
                                          .is_hidden = true};

        (void)!cn_costs_add(costs, &request, &err);
    }
}

static bool is_gpu_time(const char *metric)
{
    return strcmp(metric, cn_gpu_metric_name(CN_GPU_OP_TIME)) == 0;
}

static bool add_columns(struct cn_costs *costs, const struct cn_args *args,
                        const char *metric, bool has_percentiles, struct cn_error *err)
{
    struct cn_values metrics =
        metric ? (struct cn_values){&metric, 1} : cn_args_values(args, "metric");
    const char *defaults[CN_COST_DEFAULT_MAX];
    const char *const *names = metrics.count ? metrics.list : defaults;
    struct cn_values derived = cn_args_values(args, "derive");

    costs->counts_waits = cn_args_has(args, "waits");
    size_t count =
        metrics.count ? metrics.count : cn_costs_default_metrics(costs, defaults);
    if ((!metric && !cn_args_exclusive(args, "waits", "metric", err)) ||
        !cn_args_exclusive(args, "scope", "cost", err) ||
        !cn_args_exclusive(args, "per-thread", "stat", err))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool is_further = metrics.count == 0 && i > 0;
        bool is_gpu = is_further && is_gpu_time(names[i]);
        const char *cost = cn_args_value(args, "cost");

        /* The total of an operation of a GPU is its own. */
        if (!(is_further && !is_gpu ? add_wait(costs, args, names[i], err)
                                    : add_metric(costs, args, names[i],
                                                 is_gpu && !cost ? "total" : cost, err)))
            return false;
    }
    add_hidden(costs, names, metrics.count ? count : 1);
    for (size_t i = 0; i < derived.count; i++)
        if (!cn_costs_add_derived(costs, derived.list[i], err))
            return cn_args_misnamed(args, "derive", err);
    return !has_percentiles || cn_costs_add_percentiles(costs, err);
}

static bool select_threads(struct cn_costs *costs, struct cn_values threads,
                           struct cn_error *err)
{
    for (size_t i = 0; i < threads.count; i++)
        if (!cn_costs_select(costs, threads.list[i], err))
            return false;
    return true;
}

bool cn_view_costs_open(struct cn_costs *costs, struct cn_database *db,
                        const struct cn_args *args, const char *metric,
                        bool has_percentiles, struct cn_error *err)
{
    cn_costs_init(costs, db);
    return select_threads(costs, cn_args_values(args, "thread"), err) &&
           add_columns(costs, args, metric, has_percentiles, err) &&
           (cn_costs_ready(costs, err) || cn_fail_in(err, "%s", db->path));
}

static bool fail_unknown_column(const struct cn_costs *costs, const char *sort,
                                struct cn_error *err)
{
    struct cn_text names = {0};

    for (size_t i = 0; i < costs->column_count; i++)
        if (!costs->columns[i].is_hidden)
            cn_text_printf(&names, ", %s", costs->columns[i].name);
    (void)cn_fail(err, CN_ERR_USAGE,
                  "no column '%s' to sort by; there are: total, self, name%s", sort,
                  cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

static bool choose_order(struct cn_view_setup *setup, const struct cn_args *args,
                         struct cn_error *err)
{
    const char *by = cn_args_value(args, "by");
    const char *sort = by ? by : cn_args_value(args, "sort");

    if (!cn_args_exclusive(args, "by", "sort", err))
        return false;
    setup->has_order = sort != NULL;
    setup->is_reversed = cn_args_has(args, "reverse");
    setup->sorts_by_name = sort && strcmp(sort, "name") == 0;
    if (!sort || setup->sorts_by_name)
        return true;
    for (size_t i = 0; i < setup->costs.column_count; i++) {
        const struct cn_cost_column *column = &setup->costs.columns[i];
        if (column->is_hidden ||
            (strcmp(sort, column->name) != 0 && !is_side(sort, column->side)))
            continue;
        setup->sort_column = i;
        return true;
    }
    return fail_unknown_column(&setup->costs, sort, err);
}

static void add_duration(struct cn_text *text, const char *before, double seconds)
{
    const double max = 1e18; /* of files that others wrote */

    cn_text_str_add(text, before);
    cn_duration_print(text, (uint64_t)llround(fmin(fmax(seconds * 1e9, 0), max)));
}

/* Say how all time divides into states: a view without --waits shows one of them. */
static void tell_states(const struct cn_view_setup *setup, const struct cn_args *args)
{
    const struct cn_costs *costs = &setup->costs;
    struct cn_cost_states states;
    struct cn_time_base base;
    struct cn_text text = {0};
    struct cn_error err;

    if (costs->counts_waits && !cn_metrics_have_waits(&setup->db->metrics))
        cn_cli_say(args, "waiting is not known: %s has no scheduler events in calls",
                   setup->opened.path);
    if (cn_args_has(args, "metric") || cn_cli_format(args) != CN_TABLE_TEXT ||
        !cn_costs_states(costs, &states, &err))
        return;
    add_duration(&text, "time ", states.time_s);
    add_duration(&text, ": running ", states.cpu_s);
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++) {
        cn_text_printf(&text, ", %s", cn_wait_states[i]);
        add_duration(&text, " ", states.wait_s[i]);
    }
    if (!costs->counts_waits && cn_time_base_of(setup->db, cn_shown_time(false), &base))
        cn_text_printf(&text, "; rows show %s (all: --waits)", cn_time_base_name(base));
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

/* An option for this path; others may be for other paths of the command. */
static bool check_option(const struct cn_args *args, const char *name, unsigned scope,
                         const struct cn_opened *opened, struct cn_error *err)
{
    unsigned kinds = cn_cli_kinds_of(opened);

    return !cn_args_has(args, name) || (scope & kinds) ||
           cn_kinds_fail(name, scope, opened->path, kinds, err);
}

bool cn_view_open(struct cn_opened *opened, const struct cn_args *args, const char *path,
                  const char *query_option, struct cn_error *err)
{
    struct cn_lens lens;
    struct cn_open_options options = {
        .is_raw = cn_args_has(args, "raw"),
        .query = query_option ? cn_args_value(args, query_option) : NULL,
        .lens = &lens,
    };
    bool ok = cn_view_lens_parse(&lens, args, err) &&
              cn_cli_open(opened, args, path, 0, &options, err);

    if (ok && (!check_option(args, "raw", CN_FOR_CALLS, opened, err) ||
               (query_option &&
                !check_option(args, query_option, CN_FOR_STORES, opened, err)) ||
               !cn_cli_load(opened, args, CN_CONTEXTS, err))) {
        cn_opened_close(opened);
        ok = false;
    }
    if (ok) {
        opened->options.lens = NULL;
        cn_cli_warn_opened(args, opened);
        if (opened->whole)
            cn_view_lens_tell(args, &lens, opened->db);
    }
    cn_lens_done(&lens);
    return ok;
}

/* Without codes, rows are shown as well. */
static void find_codes(struct cn_view_setup *setup, const struct cn_args *args)
{
    struct cn_lens lens;
    struct cn_error ignored;

    if (setup->opened.whole)
        setup->codes = cn_lens_codes(setup->db);
    else if (cn_view_lens_parse(&lens, args, &ignored) &&
             cn_codes_build(&setup->own_codes, setup->db, &lens.mine, &ignored))
        setup->codes = &setup->own_codes;
    if (!setup->opened.whole)
        cn_lens_done(&lens);
}

bool cn_view_setup_select(struct cn_view_setup *setup, const struct cn_args *args,
                          struct cn_values threads, struct cn_error *err)
{
    bool has_percentiles = cn_args_has(args, "percentiles") || cn_args_has(args, "by");

    cn_costs_done(&setup->costs);
    cn_costs_init(&setup->costs, setup->db);
    return select_threads(&setup->costs, threads, err) &&
           add_columns(&setup->costs, args, NULL, has_percentiles, err) &&
           (cn_costs_ready(&setup->costs, err) || cn_fail_in(err, "%s", setup->db->path));
}

bool cn_view_setup_open(struct cn_view_setup *setup, const struct cn_args *args,
                        const char *path, struct cn_error *err)
{
    const char *match = cn_args_value(args, "match");
    enum cn_match how =
        match && strcmp(match, "regex") == 0 ? CN_MATCH_REGEX : CN_MATCH_GLOB;
    struct cn_values patterns = cn_args_values(args, "filter");
    bool has_percentiles = cn_args_has(args, "percentiles") || cn_args_has(args, "by");

    *setup = (struct cn_view_setup){0};
    for (size_t i = 0; i < patterns.count; i++)
        if (!cn_name_filter_add(&setup->filter, patterns.list[i], how, err))
            return false;
    if (!cn_cli_fit(args, err) || !cn_view_open(&setup->opened, args, path, NULL, err))
        return false;
    setup->db = setup->opened.db;
    find_codes(setup, args);
    if (!cn_view_range_open(&setup->range, args, &setup->db, err) ||
        !cn_view_costs_open(&setup->costs, setup->db, args, NULL, has_percentiles, err) ||
        !choose_order(setup, args, err))
        return false;
    tell_states(setup, args);
    return true;
}

void cn_view_setup_done(struct cn_view_setup *setup)
{
    cn_costs_done(&setup->costs);
    cn_view_range_done(&setup->range);
    cn_opened_close(&setup->opened);
    cn_name_filter_done(&setup->filter);
    cn_codes_done(&setup->own_codes);
}

/* Parse one end of FROM~TO; an empty one leaves *out unchanged. */
static bool parse_end(const char *str, size_t len, uint64_t span_ns, uint64_t *out,
                      struct cn_error *err)
{
    char *copy = cn_strdup(str);
    bool ok = true;

    copy[len] = '\0';
    if (len > 0)
        ok = cn_duration_parse_share(copy, span_ns, out, err);
    free(copy);
    return ok;
}

bool cn_view_offsets_parse(const char *option, const char *text, uint64_t span_ns,
                           uint64_t *from_ns, uint64_t *to_ns, struct cn_error *err)
{
    const char *tilde = strchr(text, '~');
    uint64_t end_ns = span_ns > 0 ? span_ns : UINT64_MAX;

    *from_ns = 0;
    *to_ns = end_ns;
    if (!tilde)
        return cn_fail(err, CN_ERR_USAGE, "--%s '%s' is not FROM~TO", option, text);
    if (!parse_end(text, (size_t)(tilde - text), span_ns, from_ns, err) ||
        !parse_end(tilde + 1, strlen(tilde + 1), span_ns, to_ns, err))
        return cn_fail_in(err, "--%s", option);
    if (*to_ns > end_ns)
        *to_ns = end_ns;
    if (*from_ns < *to_ns)
        return true;
    if (span_ns == 0)
        return cn_fail(err, CN_ERR_USAGE, "--%s '%s' is empty", option, text);
    return cn_fail(err, CN_ERR_USAGE,
                   "--%s '%s' is empty; the timelines span %" PRIu64 " ns", option, text,
                   span_ns);
}

bool cn_view_time_parse(const struct cn_database *db, const char *option,
                        const char *text, uint64_t *begin_ns, uint64_t *end_ns,
                        struct cn_error *err)
{
    uint64_t from_ns, to_ns;

    if (!cn_view_offsets_parse(option, text, db->end_ns - db->begin_ns, &from_ns, &to_ns,
                               err))
        return false;
    *begin_ns = db->begin_ns + from_ns;
    *end_ns = db->begin_ns + to_ns;
    return true;
}

bool cn_view_range_select(const struct cn_args *args, const struct cn_database *db,
                          uint64_t *begin_ns, uint64_t *end_ns, struct cn_error *err)
{
    const char *text = cn_args_value(args, "time-range");

    *begin_ns = 0;
    *end_ns = UINT64_MAX;
    return !text || cn_view_time_parse(db, "time-range", text, begin_ns, end_ns, err);
}
