/* cairn waits: for whom threads wait, and what the end of a run waited for. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/wakers/causes.h"
#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/study.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/views/options.h"
#include "cli/views/threads.h"
#include "cli/waits/locks.h"
#include "cli/waits/print.h"
#include "cli/waits/what_if.h"
#include "model/contexts/database.h"

enum { ROWS_DEFAULT = 8, ROWS_MAX = 1000000, CAUSES_SHOWN = 4 };

struct waits_view {
    const struct cn_args *args;
    const char *path;
    struct cn_opened opened;
    struct cn_database *db; /* of `opened` */
    struct cn_wait_source source;
    bool *is_selected; /* by profile */
    uint32_t main;     /* the first selected thread; its end is where the chain begins */
    uint64_t begin_ns, end_ns;
};

static bool select_threads(struct waits_view *view, struct cn_error *err)
{
    if (!cn_view_threads_select(view->args, view->db, &view->is_selected, err))
        return false;
    view->main = cn_wait_study_first(&view->source.study, view->is_selected);
    return view->main != 0 ||
           cn_fail(err, CN_ERR_NOT_FOUND, "%s: of no thread%s it is known when it waits",
                   view->path,
                   cn_args_has(view->args, "thread") ? " that --thread selects" : "");
}

static void print_sentence(const struct waits_view *view, const struct cn_wait_sums *path)
{
    struct cn_text text = {0};
    struct cn_wait_causes causes;

    cn_wait_causes_list(&causes, path);
    cn_wait_causes_print(&causes, path, path->names.list[path->name_of[view->main]],
                         CAUSES_SHOWN, &text);
    cn_text_char(&text, '\n');
    cn_cli_print(view->args, &text);
    cn_wait_causes_done(&causes);
    cn_text_done(&text);
}

static bool print(struct waits_view *view, struct cn_error *err)
{
    struct cn_wait_sums path = {0}, waits = {0};
    bool is_path = cn_args_has(view->args, "critical-path");
    uint64_t most;
    bool ok = cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &most, err) &&
              cn_wait_study_path(&view->source.study, view->main, view->begin_ns,
                                 view->end_ns, &path, err) &&
              cn_wait_study_waits(&view->source.study, view->is_selected, view->begin_ns,
                                  view->end_ns, &waits, err) &&
              cn_cli_fit(view->args, err);
    const struct cn_wait_sums *shown = is_path ? &path : &waits;

    if (ok) {
        if (cn_cli_format(view->args) == CN_TABLE_TEXT)
            print_sentence(view, &path);
        cn_waits_print(view->args, shown, is_path, (size_t)most);
        cn_cli_say_left_out(view->args, shown->count, most);
    }
    cn_wait_sums_done(&path);
    cn_wait_sums_done(&waits);
    return ok;
}

static bool print_locks(struct waits_view *view, struct cn_error *err)
{
    struct cn_lock_rows rows = {0};
    uint64_t most;
    bool ok = cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &most, err) &&
              cn_lock_rows_build(&rows, &view->source.study, view->is_selected,
                                 view->begin_ns, view->end_ns, err) &&
              cn_cli_fit(view->args, err);

    if (ok) {
        if (!view->db->locks)
            cn_cli_warn(view->args,
                        "%s does not have the locks that threads wait for; cairn sample "
                        "--off-cpu of this version records them",
                        view->path);
        cn_locks_print(view->args, &rows, (size_t)most);
        cn_cli_say_left_out(view->args, rows.count, most);
    }
    cn_lock_rows_done(&rows);
    return ok;
}

static bool print_what_if(struct waits_view *view, struct cn_error *err)
{
    struct cn_wait_sums names;
    bool ok = cn_wait_sums_init(&names, view->db, &view->source.study.sites,
                                view->source.study.tells_threads, err) &&
              cn_waits_print_what_if(view->args, view->db, &view->source.study.graph,
                                     &view->source.frames, view->main,
                                     names.names.list[names.name_of[view->main]], err);

    cn_wait_sums_done(&names);
    return ok || cn_fail_in(err, "%s", view->path);
}

/* The locks of a recording are known from its calls; for what else threads waited is not. */
static bool show_recorded(struct waits_view *view, struct cn_error *err)
{
    uint64_t most;

    if (!cn_cli_check_kinds(view->args, &view->opened, err) ||
        !cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &most, err) ||
        !cn_cli_load(&view->opened, view->args, CN_CALLS, err))
        return false;
    cn_cli_warn_opened(view->args, &view->opened);
    return cn_locks_print_recorded(view->args, view->path, view->opened.rec, (size_t)most,
                                   err);
}

static bool show(struct waits_view *view, struct cn_error *err)
{
    if (!cn_cli_open(&view->opened, view->args, view->path, 0, NULL, err))
        return false;
    if (cn_cli_kinds_of(&view->opened) == CN_FOR_RECORDINGS)
        return show_recorded(view, err);
    if (!cn_cli_load(&view->opened, view->args, CN_CONTEXTS, err))
        return false;
    cn_cli_warn_opened(view->args, &view->opened);
    view->db = view->opened.db;
    if (!cn_wait_source_build(&view->source, view->db, err))
        return cn_fail_in(err, "%s", view->path);
    view->source.study.tells_threads = cn_args_has(view->args, "per-thread");
    if (view->source.study.graph.wakeup_count == 0)
        cn_cli_warn(view->args,
                    "%s has no wake-ups: for whom threads wait is unknown; cairn sample "
                    "--off-cpu records them as root",
                    view->path);
    if (!select_threads(view, err))
        return false;
    if (cn_args_has(view->args, CN_WAITS_WHAT_IF))
        return print_what_if(view, err);
    return cn_view_range_select(view->args, view->db, &view->begin_ns, &view->end_ns,
                                err) &&
           (cn_args_has(view->args, "locks") ? print_locks(view, err) : print(view, err));
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct waits_view view = {.args = args};
    bool ok = cn_waits_check_what_if(args, err) &&
              cn_data_path(args, cn_args_find_operand(args, 0), &view.path, err) &&
              show(&view, err) && cn_cli_check_opened(&view.opened, err);

    free(view.is_selected);
    cn_wait_source_done(&view.source);
    cn_opened_close(&view.opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION_FOR(CN_FOR_COSTS, "critical-path", 0, NULL,
                  "show what the end of the range waited for, instead of all waits"),
    CN_OPTION("locks", 0, NULL,
              "show the locks that threads waited for, and who kept them"),
    CN_OPTION_LIST_FOR(
        CN_FOR_COSTS, CN_WAITS_WHAT_IF, 0, "FUNC=PERCENT",
        "say how long the run would take if the running time below FUNC took "
        "PERCENT of its time; lock:FUNC=PERCENT: its waits for locks"),
    CN_OPTION_FOR(CN_FOR_COSTS, "time-range", 'r', "FROM~TO",
                  "only this time, as offsets from the start: 1.5s~2s, 10%~20%, ~300ms"),
    CN_OPTION_LIST_FOR(CN_FOR_COSTS, "thread", 't', "SELECTION",
                       "only these threads: 'RANK 0-3 THREAD 0', or numbers of "
                       "profiles: '5-8'"),
    CN_OPTION_FOR(CN_FOR_COSTS, "per-thread", 0, NULL,
                  "distinguish threads of one name by their numbers"),
    CN_OPTION("rows", 0, "N", "show at most N rows (default: 8)"),
    CN_OPTION_FORMAT,
    CN_OPTION_WIDTH,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn waits", "show for whom the threads of the last sampling waited"},
    {"cairn waits cairn.perf.data --critical-path",
     "show what the run took its time for, in all threads"},
    {"cairn waits cairn.data",
     "show who kept threads waiting for locks, by recorded calls"},
    {"cairn waits --locks",
     "show for which locks threads waited, who had them, and what that did meanwhile"},
    {"cairn waits --what-if compress=50%",
     "say how long the run would take if compress took half of its time"},
    {"cairn waits cairn.perf.data --thread 'THREAD 4711' -r 1s~2s",
     "show for whom one thread waited in one second"},
    {"cairn waits cairn.perf.data --format csv", "print all rows for other programs"},
    {0},
};

const struct cn_command cn_cmd_waits = {
    .name = "waits",
    .operands = "[DATA]",
    .operand_max = 1,
    .scope = CN_FOR_COSTS | CN_FOR_RECORDINGS,
    .summary = "show for whom threads wait",
    .description =
        "Of samples of cairn sample --off-cpu, taken as root, it is known which thread "
        "or interrupt ended each wait. The first line says what the main thread, or the "
        "first one that --thread selects, took its time for: the critical path. That is "
        "a chain back from the end: what the thread ran, where it waited what the thread "
        "ran that woke it, and so on. Its parts add up to the whole time. Where a "
        "wake-up is missing, the chain ends, and the time before it is unknown.\n\n"
        "The rows are waits, added up by where the thread waited and who woke it: the "
        "innermost function of the program, and what it called. They add up to the "
        "blocked and pre-empted time of the threads. A wait is for another thread, a "
        "process, the end of a child, a timer, the network, the disk, another interrupt "
        "or a thread of the kernel; the time from its wake-up until it runs is for a "
        "processor. Where a thread waits for a lock, the row has its name: its variable, "
        "or "
        "the function that waits for it. --locks shows locks instead, in the order of "
        "the time "
        "waited, a row for each place that gave one back: its thread, what took most of "
        "the time "
        "until then, and the longest time that one thread kept the lock, where it is "
        "known.\n\n"
        "Of a recording of cairn record --locks, it shows the locks: exactly who had "
        "each one, "
        "where it was taken, and for how long.\n\n"
        "--what-if replays the wake-ups with less running time below some functions. It "
        "says what it assumes, and gives a range where wake-ups are missing. See "
        "docs/waits.md.",
    .examples = examples,
    .options = options,
    .run = run,
};
