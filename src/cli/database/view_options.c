#include "cli/database/view_options.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "formats/formats.h"

enum { PER_THREAD_MAX = 64 };

static bool select_threads(struct cn_costs *costs, const struct cn_args *args,
                           struct cn_error *err)
{
    for (size_t i = 0; i < cn_args_value_count(args, "thread"); i++)
        if (!cn_costs_select(costs, cn_args_value_at(args, "thread", i), err))
            return false;
    return true;
}

static enum cn_cost_stat stat_named(const char *name)
{
    static const char *const names[] = {"sum", "mean", "min", "max", "stddev", "count"};
    size_t i = 0;

    while (strcmp(names[i], name) != 0)
        i++;
    return (enum cn_cost_stat)i;
}

/* Total and self as --cost wants them. A metric that lacks one of the two is shown
 * with the other, unless that very one was asked for. */
static bool add_sides(struct cn_costs *costs, struct cn_cost_request request,
                      const char *cost, struct cn_error *err)
{
    size_t before = costs->column_count;
    bool wants_both = !cost || strcmp(cost, "both") == 0;

    if (request.scope)
        return cn_costs_add(costs, &request, err);
    for (int side = CN_TOTAL; side <= CN_SELF; side++) {
        const char *name = side == CN_TOTAL ? "inclusive" : "exclusive";

        request.side = (enum cn_cost_side)side;
        if (!wants_both && strcmp(cost, name) != 0)
            continue;
        if (cn_costs_add(costs, &request, err))
            continue;
        if (!wants_both || (side == CN_SELF && costs->column_count == before))
            return false;
    }
    return true;
}

static bool add_stats(struct cn_costs *costs, const struct cn_args *args,
                      struct cn_cost_request request, struct cn_error *err)
{
    size_t count = cn_args_value_count(args, "stat");
    const char *cost = cn_args_value(args, "cost");

    for (size_t i = 0; i < (count ? count : 1); i++) {
        if (count)
            request.stat = stat_named(cn_args_value_at(args, "stat", i));
        if (!add_sides(costs, request, cost, err))
            return false;
    }
    return true;
}

static bool add_threads(struct cn_costs *costs, const struct cn_args *args,
                        struct cn_cost_request request, struct cn_error *err)
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
                           "--per-thread shows at most %d threads: choose some with "
                           "--thread",
                           PER_THREAD_MAX);
        request.profile = p;
        if (!add_sides(costs, request, cn_args_value(args, "cost"), err))
            return false;
    }
    return true;
}

/* Which rows are worth showing is known from their totals: where none is shown,
 * there is one that is not. A metric may do without. */
static void add_hidden(struct cn_costs *costs, const char *metric)
{
    struct cn_cost_request request = {
        .metric = metric, .side = CN_TOTAL, .profile = CN_NONE, .is_hidden = true};
    struct cn_error err;

    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].side == CN_TOTAL && costs->columns[i].has_percent)
            return;
    (void)!cn_costs_add(costs, &request, &err);
}

static bool add_percentiles(struct cn_costs *costs, const struct cn_args *args,
                            struct cn_error *err)
{
    if (!cn_args_has(args, "percentiles") && !cn_args_has(args, "by"))
        return true;
    return cn_costs_add_percentile(costs, 0.50, "p50", err) &&
           cn_costs_add_percentile(costs, 0.90, "p90", err) &&
           cn_costs_add_percentile(costs, 0.99, "p99", err);
}

static bool add_columns(struct cn_costs *costs, const struct cn_args *args,
                        struct cn_error *err)
{
    struct cn_cost_request request = {.scope = cn_args_value(args, "scope")};
    size_t count = cn_args_value_count(args, "metric");
    bool is_per_thread = cn_args_has(args, "per-thread");

    if (request.scope && cn_args_has(args, "cost"))
        return cn_fail(err, CN_ERR_USAGE, "--scope and --cost exclude each other");
    if (is_per_thread && cn_args_has(args, "stat"))
        return cn_fail(err, CN_ERR_USAGE, "--per-thread and --stat exclude each other");
    for (size_t i = 0; i < (count ? count : 1); i++) {
        request.metric = count ? cn_args_value_at(args, "metric", i) : NULL;
        request.profile = CN_NONE;
        if (!(is_per_thread ? add_threads(costs, args, request, err)
                            : add_stats(costs, args, request, err)))
            return false;
    }
    add_hidden(costs, count ? cn_args_value_at(args, "metric", 0) : NULL);
    return add_percentiles(costs, args, err);
}

static bool fail_unknown_column(const struct cn_costs *costs, const char *sort,
                                struct cn_error *err)
{
    struct cn_text names = {0};

    for (size_t i = 0; i < costs->column_count; i++)
        if (!costs->columns[i].is_hidden)
            cn_text_printf(&names, ", %s", costs->columns[i].name);
    (void)cn_fail(err, CN_ERR_USAGE, "no column '%s' to sort by; there are: name%s", sort,
                  cn_text_str(&names));
    cn_text_done(&names);
    return false;
}

static bool choose_order(struct cn_view_setup *setup, const struct cn_args *args,
                         struct cn_error *err)
{
    const char *by = cn_args_value(args, "by");
    const char *sort = by ? by : cn_args_value(args, "sort");

    if (by && cn_args_has(args, "sort"))
        return cn_fail(err, CN_ERR_USAGE, "--by and --sort exclude each other");
    setup->is_reversed = cn_args_has(args, "reverse");
    setup->sorts_by_name = sort && strcmp(sort, "name") == 0;
    if (!sort || setup->sorts_by_name)
        return true;
    for (size_t i = 0; i < setup->costs.column_count; i++) {
        const struct cn_cost_column *column = &setup->costs.columns[i];
        const char *side = column->side == CN_TOTAL ? "inclusive" : "exclusive";

        if (column->is_hidden ||
            (strcmp(sort, column->name) != 0 && strcmp(sort, side) != 0))
            continue;
        setup->sort_column = i;
        return true;
    }
    return fail_unknown_column(&setup->costs, sort, err);
}

static bool set_filter(struct cn_view_setup *setup, const struct cn_args *args,
                       struct cn_error *err)
{
    const char *match = cn_args_value(args, "match");
    enum cn_match how =
        match && strcmp(match, "regex") == 0 ? CN_MATCH_REGEX : CN_MATCH_GLOB;

    for (size_t i = 0; i < cn_args_value_count(args, "filter"); i++)
        if (!cn_name_filter_add(&setup->filter, cn_args_value_at(args, "filter", i), how,
                                err))
            return false;
    return true;
}

bool cn_view_setup_open(struct cn_view_setup *setup, const struct cn_args *args,
                        struct cn_error *err)
{
    *setup = (struct cn_view_setup){0};
    if (!set_filter(setup, args, err) ||
        !cn_opened_database_open(&setup->opened, args, cn_args_operand(args, 0), err))
        return false;
    setup->db = setup->opened.db;
    for (const struct cn_warning *w = setup->db->warnings; w; w = w->next)
        cn_cli_warn(args, "%s: %s", setup->db->path, w->text);
    cn_costs_init(&setup->costs, setup->db);
    if (!select_threads(&setup->costs, args, err) ||
        !add_columns(&setup->costs, args, err) || !choose_order(setup, args, err))
        return false;
    return cn_costs_ready(&setup->costs, err) || cn_fail_in(err, "%s", setup->db->path);
}

void cn_view_setup_done(struct cn_view_setup *setup)
{
    cn_costs_done(&setup->costs);
    cn_opened_database_close(&setup->opened);
    cn_name_filter_done(&setup->filter);
}
