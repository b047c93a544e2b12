/* cairn waits: for whom threads wait, and what the end of a run waited for. */

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/lens/code.h"
#include "analyze/views/frames.h"
#include "analyze/wakers/causes.h"
#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/study.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/views/options.h"
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
    struct cn_frames frames;
    struct cn_codes codes;
    struct cn_wait_study study;
    bool *is_selected; /* by profile */
    uint32_t main;     /* the first selected thread; its end is where the chain begins */
    uint64_t begin_ns, end_ns;
};

static bool is_chosen(const struct cn_thread_filter *filters, size_t count,
                      uint32_t index, const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < count; i++)
        if (cn_thread_filter_matches(&filters[i], index, identity))
            return true;
    return count == 0;
}

static bool choose(struct waits_view *view, const struct cn_thread_filter *filters,
                   size_t count, struct cn_error *err)
{
    struct cn_profile profile;

    view->is_selected = cn_alloc(view->db->profile_count, sizeof(*view->is_selected));
    for (uint32_t i = 0; i < view->db->profile_count; i++) {
        if (!cn_database_profile(view->db, i, &profile, err))
            return false;
        view->is_selected[i] = is_chosen(filters, count, i, &profile.identity);
    }
    view->main = cn_wait_study_first(&view->study, view->is_selected);
    return view->main != 0 ||
           cn_fail(err, CN_ERR_NOT_FOUND, "%s: of no thread%s it is known when it waits",
                   view->path, count > 0 ? " that --thread selects" : "");
}

static bool select_threads(struct waits_view *view, struct cn_error *err)
{
    struct cn_values threads = cn_args_values(view->args, "thread");
    struct cn_thread_filter *filters = cn_alloc(threads.count, sizeof(*filters));
    size_t count = 0;
    bool ok = true;

    while (ok && count < threads.count) {
        ok = cn_thread_filter_parse(&filters[count], threads.list[count],
                                    &view->db->kinds, err);
        count += ok;
    }
    ok = ok && choose(view, filters, count, err);
    while (count > 0)
        cn_thread_filter_done(&filters[--count]);
    free(filters);
    return ok;
}

static bool select_range(struct waits_view *view, struct cn_error *err)
{
    const char *text = cn_args_value(view->args, "time-range");

    view->end_ns = UINT64_MAX;
    return !text || cn_view_time_parse(view->db, "time-range", text, &view->begin_ns,
                                       &view->end_ns, err);
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

static void say_hidden(const struct waits_view *view, size_t count, uint64_t most)
{
    if (count > most && cn_cli_format(view->args) == CN_TABLE_TEXT)
        cn_cli_say(view->args, "%zu more %s not shown; use --rows", count - (size_t)most,
                   cn_plural(count - (size_t)most, "row is", "rows are"));
}

static bool print(struct waits_view *view, struct cn_error *err)
{
    struct cn_wait_sums path = {0}, waits = {0};
    bool is_path = cn_args_has(view->args, "critical-path");
    uint64_t most;
    bool ok = cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &most, err) &&
              cn_wait_study_path(&view->study, view->main, view->begin_ns, view->end_ns,
                                 &path, err) &&
              cn_wait_study_waits(&view->study, view->is_selected, view->begin_ns,
                                  view->end_ns, &waits, err) &&
              cn_cli_fit(view->args, err);
    const struct cn_wait_sums *shown = is_path ? &path : &waits;

    if (ok) {
        if (cn_cli_format(view->args) == CN_TABLE_TEXT)
            print_sentence(view, &path);
        cn_waits_print(view->args, shown, is_path, (size_t)most);
        say_hidden(view, shown->count, most);
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
              cn_lock_rows_build(&rows, &view->study, view->is_selected, view->begin_ns,
                                 view->end_ns, err) &&
              cn_cli_fit(view->args, err);

    if (ok) {
        if (!view->db->locks)
            cn_cli_warn(view->args,
                        "%s does not have the locks that threads wait for; cairn sample "
                        "--off-cpu of this version records them",
                        view->path);
        cn_locks_print(view->args, &rows, (size_t)most);
        say_hidden(view, rows.count, most);
    }
    cn_lock_rows_done(&rows);
    return ok;
}

static bool print_what_if(struct waits_view *view, struct cn_error *err)
{
    struct cn_wait_sums names;
    bool ok = cn_wait_sums_init(&names, view->db, &view->study.sites,
                                view->study.tells_threads, err) &&
              cn_waits_print_what_if(view->args, view->db, &view->study.graph,
                                     &view->frames, view->main,
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
    cn_opened_close(&view->opened);
    view->opened = (struct cn_opened){0};
    if (!cn_view_open(&view->opened, view->args, view->path, NULL, err))
        return false;
    view->db = view->opened.db;
    if (!cn_frames_build(&view->frames, view->db, NULL, err) ||
        !cn_codes_build(&view->codes, view->db, NULL, err))
        return cn_fail_in(err, "%s", view->path);
    if (!cn_wait_study_build(&view->study, view->db, &view->frames, &view->codes, err))
        return cn_fail_in(err, "%s", view->path);
    view->study.tells_threads = cn_args_has(view->args, "per-thread");
    if (view->study.graph.wakeup_count == 0)
        cn_cli_warn(view->args,
                    "%s has no wake-ups: for whom threads wait is unknown; cairn sample "
                    "--off-cpu records them as root",
                    view->path);
    if (!select_threads(view, err))
        return false;
    if (cn_args_has(view->args, CN_WAITS_WHAT_IF))
        return print_what_if(view, err);
    return select_range(view, err) &&
           (cn_args_has(view->args, "locks") ? print_locks(view, err) : print(view, err));
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct waits_view view = {.args = args};
    bool ok = cn_waits_check_what_if(args, err) &&
              cn_data_path(args, cn_args_find_operand(args, 0), &view.path, err) &&
              show(&view, err) && cn_cli_check_opened(&view.opened, err);

    free(view.is_selected);
    cn_wait_study_done(&view.study);
    cn_codes_done(&view.codes);
    cn_frames_done(&view.frames);
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
                  "tell threads of one name apart, by their numbers"),
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
