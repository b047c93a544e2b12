/* cairn mpi: for whom the ranks of an MPI program wait, and its efficiencies. */

#include <stdlib.h>
#include <string.h>

#include "analyze/mpi/waits.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/mpi/print.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/shell/progress.h"
#include "open/mpi_run.h"

enum { ROWS_DEFAULT = 10, ROWS_MAX = 1000000 };

struct mpi_view {
    const struct cn_args *args;
    const char *phase, *by, *heat;
    bool only_waits;
    uint64_t most;
    bool is_damaged;
};

static bool open_run(struct mpi_view *view, const char *path, struct cn_mpi_run *run,
                     struct cn_error *err)
{
    struct cn_opened opened;
    struct cn_bar bar;
    bool ok;

    if (!cn_cli_open(&opened, view->args, path, 0, NULL, err))
        return false;
    cn_bar_begin_late(&bar, view->args);
    ok = cn_mpi_run_open(run, &opened, view->phase, &bar.progress, err);
    cn_bar_end(&bar);
    if (ok) {
        cn_cli_warn_opened(view->args, &opened);
        cn_cli_warn_lines(view->args, cn_text_str(&run->notes));
        view->is_damaged =
            view->is_damaged || run->is_damaged || cn_opened_is_damaged(&opened);
    }
    cn_opened_close(&opened);
    return ok;
}

static void efficiency_of(const struct mpi_view *view, const struct cn_mpi_run *run,
                          struct cn_mpi_efficiency *out)
{
    if (view->phase)
        cn_mpi_efficiency_of_phase(run, out);
    else
        cn_mpi_efficiency_of_run(run, out);
}

static void print_sentence(const struct mpi_view *view, const struct cn_mpi_run *run,
                           const struct cn_mpi_efficiency *efficiency,
                           const struct cn_mpi_waits *waits)
{
    struct cn_text text = {0};

    cn_mpi_sentence(run, efficiency, waits, &text);
    cn_text_char(&text, '\n');
    cn_cli_print(view->args, &text);
    if (run->resolution_ns > 0) {
        cn_text_clear(&text);
        cn_duration_print(&text, run->resolution_ns);
        cn_cli_say(view->args, "times are known to %s, as far as samples are apart",
                   cn_text_str(&text));
    }
    cn_text_done(&text);
}

/* What is known of one run: all of it, for people; one table, for programs. */
static bool print_run(const struct mpi_view *view, const char *path,
                      const struct cn_mpi_run *run, struct cn_error *err)
{
    bool is_text = cn_cli_format(view->args) == CN_TABLE_TEXT;
    struct cn_mpi_column column = {.path = path, .scalability = -1};
    struct cn_mpi_waits waits;
    size_t rows = 0;

    if (view->heat)
        return cn_mpi_print_heat_map(view->args, run, strcmp(view->heat, "waits") == 0,
                                     err);
    if (view->by && strcmp(view->by, "iteration") == 0) {
        if (!cn_mpi_print_iterations(view->args, run, (size_t)view->most, &rows, err))
            return false;
        cn_cli_say_left_out(view->args, rows, view->most);
        return true;
    }
    if (view->by) {
        rows = strcmp(view->by, "rank") == 0
                   ? cn_mpi_print_ranks(view->args, run, (size_t)view->most)
                   : cn_mpi_print_contexts(view->args, run, (size_t)view->most);
        cn_cli_say_left_out(view->args, rows, view->most);
        return true;
    }
    efficiency_of(view, run, &column.efficiency);
    cn_mpi_waits_build(&waits, run);
    if (is_text)
        print_sentence(view, run, &column.efficiency, &waits);
    if (!view->only_waits)
        cn_mpi_print_efficiency(view->args, &column, 1);
    if (is_text || view->only_waits) {
        cn_mpi_print_waits(view->args, run, &waits, (size_t)view->most);
        cn_cli_say_left_out(view->args, waits.count, view->most);
    }
    cn_mpi_waits_done(&waits);
    return true;
}

static bool print_one(struct mpi_view *view, struct cn_error *err)
{
    struct cn_mpi_run run;
    const char *path;
    bool ok;

    if (!cn_data_path(view->args, cn_args_find_operand(view->args, 0), &path, err) ||
        !open_run(view, path, &run, err))
        return false;
    ok = cn_cli_fit(view->args, err) && print_run(view, path, &run, err);
    cn_mpi_run_done(&run);
    return ok;
}

static bool print_several(struct mpi_view *view, struct cn_error *err)
{
    size_t count = cn_args_count(view->args);
    struct cn_mpi_column *columns = cn_alloc(count, sizeof(*columns));
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++) {
        struct cn_mpi_run run;

        columns[i].path = cn_args_operand(view->args, i);
        ok = open_run(view, columns[i].path, &run, err);
        if (!ok)
            break;
        efficiency_of(view, &run, &columns[i].efficiency);
        columns[i].scalability =
            cn_mpi_scalability(&columns[0].efficiency, &columns[i].efficiency,
                               cn_args_has(view->args, "weak"));
        cn_mpi_run_done(&run);
    }
    if (ok)
        cn_mpi_print_efficiency(view->args, columns, count);
    free(columns);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct mpi_view view = {
        .args = args,
        .phase = cn_args_value(args, "phase"),
        .by = cn_args_value(args, "by"),
        .heat = cn_args_value(args, "heat-map"),
        .only_waits = cn_args_has(args, "waits"),
    };
    bool is_one = cn_args_count(args) < 2;

    if (!cn_args_u64(args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &view.most, err) ||
        !cn_args_exclusive(args, "by", "heat-map", err) ||
        !cn_args_exclusive(args, "by", "waits", err) ||
        !cn_args_exclusive(args, "heat-map", "waits", err))
        return false;
    if (!is_one && (view.by || view.heat || view.only_waits))
        return cn_fail(err, CN_ERR_USAGE,
                       "--by, --heat-map and --waits are about one run");
    if (view.by && strcmp(view.by, "iteration") == 0 && !view.phase)
        return cn_fail(err, CN_ERR_USAGE,
                       "--by iteration needs --phase, the function of an iteration");
    if (!(is_one ? print_one(&view, err) : print_several(&view, err)))
        return false;
    return !view.is_damaged ||
           cn_fail(err, CN_ERR_FORMAT,
                   "a rank is damaged: what is shown is of the others");
}

static const struct cn_option options[] = {
    CN_OPTION(
        "phase", 0, "FUNC",
        "the efficiencies of calls of this function, each of which is an iteration"),
    CN_OPTION("by", 0, "context|iteration|rank",
              "show efficiencies of call paths or iterations, or the times of each rank"),
    CN_OPTION(
        "heat-map", 0, "useful|waits",
        "draw ranks and iterations of --phase (parts of the run without): time outside "
        "of MPI, or waiting"),
    CN_OPTION("waits", 0, NULL, "show only for whom ranks wait"),
    CN_OPTION("weak", 0, NULL,
              "runs have a problem of the same size per rank, not of the same size"),
    CN_OPTION("rows", 0, "N", "show at most N rows (default: 10)"),
    CN_OPTION_FORMAT,
    CN_OPTION_WIDTH,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn mpi run.data", "show how efficient a run was, and for whom its ranks waited"},
    {"cairn mpi run4.data run8.data run16.data",
     "compare runs with different numbers of ranks, as POP does"},
    {"cairn mpi run.data --phase step --by iteration",
     "show the efficiency of each step"},
    {"cairn mpi run.data --phase step --heat-map useful",
     "see which rank is slow in which step"},
    {"cairn mpi run.data --waits --format csv", "print all waits for other programs"},
    {0},
};

const struct cn_command cn_cmd_mpi = {
    .name = "mpi",
    .operands = "[DATA...]",
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_DATA,
    .summary = "show for whom MPI ranks wait, and POP's efficiencies",
    .description =
        "Reads what each rank of a program did over time: recordings of mpirun -n N "
        "cairn "
        "record, whose times are exact, samples of mpirun -n N cairn sample, or "
        "databases and "
        "measurements of HPCToolkit with traces.\n\n"
        "Useful is the time outside of MPI. Parallel efficiency is load balance (mean "
        "useful "
        "time of ranks by the longest) times communication efficiency (the longest by "
        "the run "
        "time). The latter is serialisation (the run on an ideal network) times "
        "transfer, if "
        "all calls could be matched. Several runs have computation scalability as well: "
        "the "
        "useful time of all ranks of the first run by that of each.\n\n"
        "Waits are added up by the function of MPI, the rank that came last, and the "
        "call path "
        "that took most of its time before. Collective operations are matched by their "
        "order; "
        "messages need arguments, which cairn record --mpi records. Calls that cannot be "
        "matched have the cause 'unknown', with all of their time. A rank without data, "
        "or "
        "with damaged data, is named and left out. See docs/mpi-waits.md.",
    .examples = examples,
    .options = options,
    .run = run,
};
