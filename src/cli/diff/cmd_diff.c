/* cairn diff: what changed between two runs, or two sets of runs. */

#include <stdint.h>
#include <string.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/rows.h"
#include "cli/diff/print.h"
#include "cli/diff/sides.h"
#include "cli/diff/waited.h"
#include "cli/shell/cli.h"

enum { LINES_DEFAULT = 10, CALLERS_DEPTH = 5 };

static bool is_value(const struct cn_args *args, const char *option, const char *value)
{
    const char *given = cn_args_value(args, option);

    return given && strcmp(given, value) == 0;
}

/* What is printed. */
struct choice {
    bool has_view, wants_facets;
    enum cn_compare_view view; /* if it has one; else what explains the difference */
    enum cn_compare_scaling scaling;
    uint64_t lines, depth;
};

static bool choose_view(const struct cn_args *args, struct choice *out,
                        struct cn_error *err)
{
    static const char *const names[] = {"tree", "flat", "callers", "facets"};
    const char *chosen = NULL;

    *out = (struct choice){0};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!cn_args_has(args, names[i]))
            continue;
        if (chosen)
            return cn_fail(err, CN_ERR_USAGE, "--%s and --%s exclude each other", chosen,
                           names[i]);
        chosen = names[i];
        out->wants_facets = i > CN_COMPARE_CALLERS;
        out->has_view = !out->wants_facets;
        if (out->has_view)
            out->view = (enum cn_compare_view)i;
    }
    if (out->has_view && out->view == CN_COMPARE_CALLERS &&
        is_value(args, "cost", "total"))
        return cn_fail(err, CN_ERR_USAGE, "--callers shows self costs");
    if (!out->has_view && cn_args_has(args, "cost"))
        return cn_fail(err, CN_ERR_USAGE, "--cost is for --tree and --flat");
    if (!out->has_view && cn_args_has(args, "depth"))
        return cn_fail(err, CN_ERR_USAGE, "--depth is for --tree and --callers");
    return true;
}

static bool choose(const struct cn_args *args, const struct cn_sides *sides,
                   struct choice *out, struct cn_error *err)
{
    if (!cn_cli_fit(args, err) || !choose_view(args, out, err) ||
        !cn_args_u64(args, "lines", 1, SIZE_MAX, LINES_DEFAULT, &out->lines, err) ||
        !cn_args_u64(args, "depth", 1, SIZE_MAX,
                     out->has_view && out->view == CN_COMPARE_CALLERS ? CALLERS_DEPTH
                                                                      : SIZE_MAX,
                     &out->depth, err))
        return false;
    if (sides->has_threads_as_runs &&
        (sides->count[CN_SIDE_A] > 1 || sides->count[CN_SIDE_B] > 1))
        return cn_fail(err, CN_ERR_USAGE, "--over threads is for one run on each side");
    return cn_args_exclusive(args, "over", "per", err) &&
           cn_args_exclusive(args, "over", "scaling", err) &&
           cn_args_exclusive(args, "per", "scaling", err) &&
           cn_compare_scaling_parse(cn_args_value(args, "per"),
                                    cn_args_value(args, "scaling"), &out->scaling, err);
}

static void print_rows(struct cn_diff_style *style, enum cn_compare_view view,
                       uint64_t depth, const struct cn_args *args)
{
    bool is_total = cn_args_has(args, "cost") ? is_value(args, "cost", "total")
                                              : view == CN_COMPARE_TREE;
    struct cn_compare_rows rows;

    style->cost = is_total ? "total" : "self";
    cn_compare_rows_make(&rows, style->c, view, is_total, (size_t)depth, false);
    cn_diff_print_rows(style, &rows, (size_t)depth, args);
    cn_compare_rows_done(&rows);
}

static void print(struct cn_comparison *c, const struct cn_args *args,
                  const struct choice *choice)
{
    struct cn_explanation e;
    struct cn_diff_style style = {
        .c = c,
        .cost = "",
        .ideal = cn_args_value(args, "scaling"),
    };

    cn_comparison_finish(c);
    if (style.ideal)
        cn_cli_say(args, "%s scaling from %.4g to %.4g threads: a loss of %.1f%% of B",
                   style.ideal, cn_comparison_threads(c, CN_SIDE_A),
                   cn_comparison_threads(c, CN_SIDE_B),
                   100 * (c->whole[CN_SIDE_B] - c->whole[CN_SIDE_A]) /
                       c->whole[CN_SIDE_B]);
    cn_explain(&e, c, (size_t)choice->lines);
    style.gross = e.gross;
    if (choice->has_view)
        print_rows(&style, choice->view, choice->depth, args);
    else
        cn_diff_print_changes(&style, &e, args);
    cn_explanation_done(&e);
}

/* Of whole runs, in the sentence's company. */
static bool has_line_of_waits(const struct cn_args *args, const struct choice *choice)
{
    static const char *const others[] = {"critical-path", "metric", "threads-a",
                                         "threads-b",     "time-a", "time-b",
                                         "over",          "per",    "scaling"};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (cn_args_has(args, others[i]))
            return false;
    return !choice->has_view && cn_cli_format(args) == CN_TABLE_TEXT;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_comparison c;
    struct cn_sides sides;
    struct cn_diff_waited waited;
    struct choice choice;
    bool ok;

    if (!cn_sides_parse(&sides, args, err))
        return false;
    sides.has_threads_as_runs = cn_args_has(args, "over");
    if (!choose(args, &sides, &choice, err))
        return false;
    if (choice.wants_facets)
        return cn_diff_facets(&sides, args, err);
    bool says_waited = has_line_of_waits(args, &choice);
    cn_comparison_init(&c);
    cn_diff_waited_init(&waited, &sides);
    ok = cn_sides_add(&c, &sides, args, says_waited ? cn_diff_waited_add : NULL, &waited,
                      err) &&
         cn_comparison_scale_by(&c, choice.scaling, err);
    if (ok) {
        print(&c, args, &choice);
        cn_diff_waited_print(&waited, args);
        ok = cn_sides_check(&sides, err);
    }
    cn_comparison_done(&c);
    cn_diff_waited_done(&waited);
    return ok;
}

static const struct cn_option options[] = {
    CN_COMPARE_OPTIONS,
    CN_OPTION("lines", 'n', "N", "show at most N changes (default: 10)"),
    CN_OPTION("tree", 0, NULL, "show every call path that changed, top-down"),
    CN_OPTION("flat", 0, NULL, "show every function that changed"),
    CN_OPTION("callers", 0, NULL, "show every function that changed, with its callers"),
    {.name = "facets",
     .help =
         "of two queries of stores: show attributes that traces of one side have more "
         "often"},
    CN_OPTION("cost", 0, "total|self",
              "of --tree and --flat: total costs (the default of --tree) or self costs"),
    CN_OPTION("depth", 'd', "N", "of --tree and --callers: show at most N levels"),
    CN_OPTION("over", 0, "threads",
              "with one run on each side, tell changes from noise by how much threads "
              "differ"),
    CN_OPTION("per", 0, "call|thread|second|trace",
              "compare costs per call of each context, per thread, per second of the "
              "run, or per request trace"),
    CN_OPTION("scaling", 0, "strong|weak",
              "show the loss of B against ideal scaling of A to as many threads: with "
              "the same work in all (strong) or for each thread (weak)"),
    CN_OPTION_WIDTH,
    CN_OPTION("format", 0, "text|json|csv|markdown",
              "print as aligned text (the default), as JSON, as CSV or as Markdown"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn diff old.db new.db", "show what explains the difference"},
    {"cairn diff a1 a2 a3 a4 a5 -- b1 b2 b3 b4 b5",
     "compare five runs with five, and tell changes from noise"},
    {"cairn diff --tree old.data new.data", "show all call paths that changed"},
    {"cairn diff -m calls --flat old.data new.data", "compare numbers of calls"},
    {"cairn diff --scaling strong 4ranks.db 64ranks.db",
     "show where a parallel program loses time"},
    {"cairn diff --threads-a 'RANK 0' --threads-b 'RANK 1' run.db",
     "compare two processes of one run"},
    {"cairn diff --time-a ~10s --time-b 50s~60s run.data",
     "compare two times of one run"},
    {"cairn diff --facets --query-a 'duration < 50ms' --query-b 'duration > 1s' DIR",
     "show what goes with slow traces of a store"},
    {0},
};

const struct cn_command cn_cmd_diff = {
    .name = "diff",
    .operands = "DB...",
    .operand_min = 1,
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_DATA,
    .summary = "show what changed between two runs",
    .description =
        "Compares two databases, or two sets of repeated runs separated by --. Options "
        "come first.\n\n"
        "Contexts are matched by function, not by address: names without suffixes of "
        "compilers, and functions that were renamed, inlined, split or moved by what is "
        "around them. The few lines printed explain 90 % of the change: self costs of "
        "functions (over all call paths, or the one that changed), and everything below "
        "calls that are new, gone, or more or fewer. SHARE is of the sum of all changes, "
        "up and down.\n\n"
        "With at least two runs on each side, a rank test and a confidence interval "
        "tell changes from noise, and only changes that are real are printed. With one "
        "run on each side, the durations of calls or the numbers of samples do, where "
        "both have them; otherwise there is no error bar. New, gone, more and fewer "
        "calls "
        "are certain." CN_VIEW_OF_MEASUREMENTS,
    .examples = examples,
    .options = options,
    .run = run,
};
