/* cairn tree, flat and callers: the costs of a database as a tree of rows. */

#include <stdint.h>
#include <string.h>

#include "analyze/views/view.h"
#include "cli/shell/progress.h"
#include "cli/views/options.h"
#include "cli/views/print.h"
#include "cli/views/processes.h"

enum { CALLERS_DEPTH = 5 };

/* Makes the view; on failure, one of what could be read. */
typedef bool (*view_maker)(struct cn_view **out, struct cn_costs *costs,
                           const struct cn_view_limits *limits,
                           const struct cn_progress *progress, struct cn_error *err);

/* --min-percent needs a column of percentages. */
static bool check_percent(const struct cn_costs *costs, const struct cn_args *args,
                          struct cn_error *err)
{
    if (!cn_args_has(args, "min-percent"))
        return true;
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].has_percent)
            return true;
    return cn_fail(err, CN_ERR_USAGE, "--min-percent: this metric has no percentages");
}

/* What moves between rows must add up. */
static bool check_works(const struct cn_costs *costs, struct cn_error *err)
{
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].stat != CN_STAT_SUM)
            return cn_fail(err, CN_ERR_USAGE,
                           "--group work divides sums over threads; "
                           "leave --stat out");
    return true;
}

static bool make_works(struct cn_view **out, struct cn_costs *costs,
                       const struct cn_view_limits *limits,
                       const struct cn_progress *progress, struct cn_error *err)
{
    return cn_view_works_new(out, costs, limits->codes, progress, err);
}

/* Print what could be read, then report the damage. */
static bool show(struct cn_view_setup *setup, view_maker make,
                 struct cn_view_limits *limits, const struct cn_args *args,
                 struct cn_error *err)
{
    struct cn_error later;
    struct cn_view *view;
    struct cn_bar bar;
    bool ok;

    cn_bar_begin(&bar, args);
    limits->codes = setup->codes;
    ok = make(&view, &setup->costs, limits, &bar.progress, err) ||
         cn_fail_in(err, "%s", setup->db->path);
    cn_bar_end(&bar);
    if (ok || err->kind != CN_ERR_INTERRUPTED)
        ok = cn_view_print(view, setup, limits, args, ok ? err : &later) && ok;
    cn_view_free(view);
    return ok;
}

/* What to show, of all processes or of each. */
struct view_wish {
    view_maker make;
    struct cn_view_limits *limits;
    const struct cn_args *args;
};

static bool show_wish(struct cn_view_setup *setup, void *arg, struct cn_error *err)
{
    const struct view_wish *wish = arg;

    return show(setup, wish->make, wish->limits, wish->args, err);
}

static bool run(const struct cn_args *args, view_maker make, size_t depth_default,
                struct cn_error *err)
{
    struct cn_view_limits limits;
    struct cn_view_setup setup;
    const char *path;
    uint64_t depth;

    if (!cn_args_u64(args, "depth", 1, SIZE_MAX, depth_default, &depth, err) ||
        !cn_args_f64(args, "min-percent", 0, 100, 0, &limits.min_percent, err) ||
        !cn_data_path(args, cn_args_find_operand(args, 0), &path, err))
        return false;
    limits.depth_max = (size_t)depth;
    bool ok = cn_view_setup_open(&setup, args, path, err) &&
              check_percent(&setup.costs, args, err) &&
              (make != make_works || check_works(&setup.costs, err)) &&
              cn_view_each_process(&setup, args, show_wish,
                                   &(struct view_wish){make, &limits, args}, err) &&
              cn_cli_check_opened(&setup.opened, err);
    cn_view_setup_done(&setup);
    return ok;
}

static bool groups_by(const struct cn_args *args, const char *what)
{
    const char *group = cn_args_value(args, "group");

    return group && strcmp(group, what) == 0;
}

static bool make_tree(struct cn_view **out, struct cn_costs *costs,
                      const struct cn_view_limits *limits,
                      const struct cn_progress *progress, struct cn_error *err)
{
    (void)limits;
    (void)progress;
    (void)err;
    *out = cn_view_top_down_new(costs);
    return true;
}

static bool run_tree(const struct cn_args *args, struct cn_error *err)
{
    return run(args, groups_by(args, "work") ? make_works : make_tree, SIZE_MAX, err);
}

static bool make_flat(struct cn_view **out, struct cn_costs *costs,
                      const struct cn_view_limits *limits,
                      const struct cn_progress *progress, struct cn_error *err)
{
    (void)limits;
    return cn_view_flat_new(out, costs, progress, err);
}

static bool make_languages(struct cn_view **out, struct cn_costs *costs,
                           const struct cn_view_limits *limits,
                           const struct cn_progress *progress, struct cn_error *err)
{
    return cn_view_languages_new(out, costs, limits->codes, progress, err);
}

static bool run_flat(const struct cn_args *args, struct cn_error *err)
{
    return run(args, groups_by(args, "language") ? make_languages : make_flat, SIZE_MAX,
               err);
}

static bool make_callers(struct cn_view **out, struct cn_costs *costs,
                         const struct cn_view_limits *limits,
                         const struct cn_progress *progress, struct cn_error *err)
{
    return cn_view_bottom_up_new(out, costs, limits->depth_max, progress, err);
}

static bool run_callers(const struct cn_args *args, struct cn_error *err)
{
    return run(args, make_callers, CALLERS_DEPTH, err);
}

#define ROW_OPTIONS                                                             \
    CN_VIEW_OPTIONS, CN_VIEW_PROCESS_OPTION,                                    \
        CN_OPTION("depth", 'd', "N", "show at most N levels"),                  \
        CN_OPTION("min-percent", 'p', "P",                                      \
                  "hide rows below P percent of the whole, and the rows below " \
                  "them"),                                                      \
        CN_OPTION_FORMAT

static const struct cn_option tree_options[] = {
    CN_VIEW_GROUP_OPTION("|work",
                         "; work: put call paths below what they are for, such as the "
                         "program, garbage collection or the compiler of a run-time"),
    ROW_OPTIONS,
    {0},
};

static const struct cn_example tree_examples[] = {
    {"cairn tree run.db --depth 6 --min-percent 1", "show where most time is spent"},
    {"cairn tree run.db -t 'RANK 0' --cost total", "show the first process only"},
    {"cairn tree run.db -F 'MPI_*'", "show the call paths into MPI"},
    {"cairn tree run.db --stat mean --stat max", "compare threads"},
    {"cairn tree --per-process cairn.perf.data",
     "show each process of a sample by itself"},
    {"cairn tree --group work -d 1 cairn.perf.data",
     "show how much of the time is the program's, and how much its run-time's own"},
    {"cairn tree run.data --time-range 10s~20s -m grown",
     "show which call paths have more memory after 20 s than after 10 s"},
    {0},
};

const struct cn_command cn_cmd_tree = {
    .name = "tree",
    .operands = "[DB]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "show calling contexts top-down",
    .description =
        "Prints the calling contexts of a database, callees below their callers, with "
        "their costs. total is the cost of a context with everything it calls, self the "
        "cost of the function alone. Percentages are of the whole program, or of the "
        "selected threads.\n\n"
        "Contexts are read as they are printed, so the first levels of a large database "
        "appear at once." CN_VIEW_OF_MEASUREMENTS,
    .examples = tree_examples,
    .options = tree_options,
    .run = run_tree,
};

static const struct cn_option flat_options[] = {
    CN_OPTION("group", 'g', "module|language|process|program",
              "put functions below their module and file (default), or their language; "
              "or show one view per process, or per program (processes of one name)"),
    ROW_OPTIONS,
    {0},
};

static const struct cn_example flat_examples[] = {
    {"cairn flat run.db --depth 3 -s self", "sort functions by self"},
    {"cairn flat run.db --group language", "show what each language costs"},
    {"cairn flat run.db -F 'loop at *'", "show loops only"},
    {"cairn flat --group program -d 1 cairn.perf.data",
     "show modules of each program (sample -a), as perf report --sort comm,dso"},
    {0},
};

const struct cn_command cn_cmd_flat = {
    .name = "flat",
    .operands = "[DB]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "show costs by module, file, function, loop and line",
    .description =
        "Adds up costs over all calling contexts of the same code: load module, source "
        "file, function, loop, line; with --group language: language, function, loop, "
        "line.\n\n"
        "Recursion is counted once: the total of a function that calls itself, directly "
        "or indirectly, is not multiplied. Inlined functions are rows like "
        "others." CN_VIEW_OF_MEASUREMENTS,
    .examples = flat_examples,
    .options = flat_options,
    .run = run_flat,
};

static const struct cn_option callers_options[] = {
    CN_VIEW_GROUP_OPTION("", ""),
    ROW_OPTIONS,
    {0},
};

static const struct cn_example callers_examples[] = {
    {"cairn callers run.db -s self --min-percent 5",
     "show hot functions and their callers"},
    {"cairn callers run.db -F malloc --depth 3", "show the callers of malloc"},
    {0},
};

const struct cn_command cn_cmd_callers = {
    .name = "callers",
    .operands = "[DB]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "show functions with their callers, bottom-up",
    .description =
        "Prints each function, and below it its callers, their callers and so on, with "
        "the part of its cost that came along this path. Five levels are shown unless "
        "--depth is given.\n\n"
        "Recursion is counted once, however often the function is on the "
        "stack." CN_VIEW_OF_MEASUREMENTS,
    .examples = callers_examples,
    .options = callers_options,
    .run = run_callers,
};
