/* cairn tui: an interactive viewer in the terminal. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/tui/tui.h"
#include "cli/views/options.h"

#ifdef CN_HAS_NCURSES

/* Print what would have disturbed the screen. */
static void print_messages(const struct cn_args *args, struct cn_tui_data *data)
{
    struct cn_text text = {0};
    char *save = NULL;

    cn_tui_data_messages(data, &text);
    for (char *line = text.chars ? strtok_r(text.chars, "\n", &save) : NULL; line;
         line = strtok_r(NULL, "\n", &save))
        cn_cli_warn(args, "%s", line);
    cn_text_done(&text);
}

/* The first failure of what was shown. */
static bool result_of(struct cn_tui *tui, struct cn_error *err)
{
    if (tui->has_failed) {
        *err = tui->failure;
        return false;
    }
    if (!cn_tui_data_result(tui->data, err))
        return false;
    for (int i = 0; i < CN_TUI_PANE_COUNT; i++) {
        if (!tui->panes[i].tree.has_failed)
            continue;
        *err = tui->panes[i].tree.failure;
        return false;
    }
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_tui_terminal_options options = {
        .has_color = cn_cli_has_color(args), .has_mouse = !cn_args_has(args, "no-mouse")};
    struct cn_tui_data *data;
    const char *path;
    struct cn_tui tui;
    int signal_number = 0;
    bool ok;

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return cn_fail(err, CN_ERR_USAGE,
                       "this needs a terminal; use cairn report, graph, tree or flat");
    if (!cn_data_path(args, cn_args_find_operand(args, 0), &path, err) ||
        !cn_tui_data_open(&data, args, path, err))
        return false;
    ok = cn_tui_init(&tui, data, err) &&
         cn_tui_terminal_run(&tui, &options, &signal_number, err);
    if (ok && signal_number == 0) {
        print_messages(args, data);
        ok = result_of(&tui, err);
    }
    cn_tui_done(&tui);
    if (!cn_tui_data_close(data)) {
        /* A job reads on without looking at us: leave it behind. */
        if (!ok)
            cn_cli_fail(args->command, err);
        if (signal_number == 0)
            _exit(ok ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    if (signal_number != 0) {
        (void)signal(signal_number, SIG_DFL);
        (void)raise(signal_number);
    }
    return ok;
}

#else

static bool run(const struct cn_args *args, struct cn_error *err)
{
    (void)args;
    return cn_fail(err, CN_ERR_NOT_FOUND,
                   "this cairn was built without ncurses; install libncurses-dev and "
                   "build it again");
}

#endif

static const struct cn_option options[] = {
    CN_OPTION("view", 0, "graph|report|tree|callers|flat|flame|info",
              "the first view (default: graph of a recording, tree of a database)"),
    CN_OPTION("report", 0, NULL, "the same as --view report"),
    CN_RECORDING_FIELDS_OPTION(
        "columns of the graph, as of cairn graph; with --report, those of cairn report; "
        "+FIELD adds to the default"),
    CN_OPTION("sort", 's', "COLUMN",
              "sort rows by this column: total, self, name; with --report, as cairn "
              "report does"),
    CN_OPTION("no-mouse", 0, NULL, "leave the mouse to the terminal, for copying text"),
    CN_VIEW_METRIC_OPTIONS,
    CN_VIEW_THREAD_OPTIONS(0),
    CN_VIEW_PERCENTILES_OPTION,
    CN_VIEW_DERIVE_OPTION,
    CN_VIEW_WAITS_OPTION,
    CN_VIEW_LENS_OTHER_OPTIONS,
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_THREADS_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn tui", "look at cairn.data"},
    {"cairn tui run.data -F parse -t 10us", "look at calls of parse that take 10 us"},
    {"cairn tui perf.data --my-code", "look at one's own code in samples"},
    {"cairn tui run.db -m CYCLES --view flame", "look at the cycles of a database"},
    {0},
};

const struct cn_command cn_cmd_tui = {
    .name = "tui",
    .operands = "[PATH]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "look at a recording or database in the terminal",
    .description =
        "Shows a recording as call graph, report, flame graph, and after an analysis as "
        "call-path tree, callers and flat view with all metrics; a database or "
        "measurements as the latter. Press ? for the keys: they are those of uftrace tui "
        "and of less.\n\n"
        "Long work is done in the background: the screen appears at once, and q quits at "
        "any time. Numbers are those of cairn graph, report, tree, callers and flat.\n\n"
        "Options that choose calls (-F, -N, -t and so on) apply to graph, report and "
        "flame graph of a recording. Damaged data is shown up to the damage; warnings "
        "are "
        "in the view info, and printed at the end; the exit status is then 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
