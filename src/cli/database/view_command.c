#include "cli/database/view_command.h"

#include "cli/shell/progress.h"

/* A limit in percent needs a column that has them. */
static bool check_percent(const struct cn_costs *costs, const struct cn_args *args,
                          struct cn_error *err)
{
    if (!cn_args_has(args, "min-percent"))
        return true;
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].has_percent)
            return true;
    return cn_fail(err, CN_ERR_USAGE, "--min-percent: the metric is no share of a whole");
}

static bool parse_limits(struct cn_view_limits *out, const struct cn_args *args,
                         size_t depth_default, struct cn_error *err)
{
    uint64_t depth;

    if (!cn_args_u64(args, "depth", 1, SIZE_MAX, depth_default, &depth, err) ||
        !cn_args_f64(args, "min-percent", 0, 100, 0, &out->min_percent, err))
        return false;
    out->depth_max = (size_t)depth;
    return true;
}

/* Damage costs what lies behind it: the rest is shown, then the failure reported. */
static bool show(struct cn_view_setup *setup, cn_view_maker make,
                 const struct cn_view_limits *limits, const struct cn_args *args,
                 struct cn_error *err)
{
    struct cn_error later;
    struct cn_view *view;
    struct cn_bar bar;
    bool ok;

    cn_bar_begin(&bar, args);
    ok = make(&view, &setup->costs, limits, &bar.progress, err) ||
         cn_fail_in(err, "%s", setup->db->path);
    cn_bar_end(&bar);
    if (ok || err->kind != CN_ERR_INTERRUPTED)
        ok = cn_view_print(view, setup, limits, args, ok ? err : &later) && ok;
    cn_view_free(view);
    return ok;
}

bool cn_view_command_run(const struct cn_args *args, cn_view_maker make,
                         size_t depth_default, struct cn_error *err)
{
    struct cn_view_limits limits;
    struct cn_view_setup setup;
    bool ok;

    if (!parse_limits(&limits, args, depth_default, err))
        return false;
    ok = cn_view_setup_open(&setup, args, err) &&
         check_percent(&setup.costs, args, err) && show(&setup, make, &limits, args, err);
    cn_view_setup_done(&setup);
    return ok;
}
