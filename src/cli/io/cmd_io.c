/* cairn io: which files and peers a program reads and writes. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/io/sums.h"
#include "analyze/lens/code.h"
#include "analyze/views/frames.h"
#include "base/list.h"
#include "base/text.h"
#include "cli/io/print.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/views/options.h"
#include "cli/views/threads.h"
#include "model/contexts/database.h"
#include "model/io/calls.h"

enum { ROWS_DEFAULT = 8, ROWS_MAX = 1000000 };

struct io_view {
    const struct cn_args *args;
    const char *path;
    struct cn_opened opened;
    struct cn_database *db; /* of `opened` */
    struct cn_frames frames;
    struct cn_codes codes;
    struct cn_wait_sites sites;
    struct cn_io_sums sums;
    bool *is_selected; /* by profile */
    uint64_t begin_ns, end_ns;
    size_t outside_count; /* system calls of a recording that are none of its costs */
};

/* Page faults of a file are one row, minor and major ones. */
static unsigned parts_of(const char *by, enum cn_io_class class)
{
    static const struct {
        const char *name;
        unsigned parts;
    } known[] = {
        {"file", CN_IO_BY_TARGET},
        {"call", CN_IO_BY_CALL},
        {"function", CN_IO_BY_SITE},
    };

    for (size_t i = 0; by && i < CN_COUNT_OF(known); i++)
        if (strcmp(by, known[i].name) == 0)
            return known[i].parts;
    return CN_IO_BY_TARGET | CN_IO_BY_SITE | (class != CN_IO_FAULTS ? CN_IO_BY_CALL : 0);
}

/* The calls that begin in the range. */
static void add_calls(struct io_view *view)
{
    const struct cn_io_calls *calls = view->db->io;
    enum cn_io_class class = cn_args_has(view->args, "disk")     ? CN_IO_DISKS
                             : cn_args_has(view->args, "faults") ? CN_IO_FAULTS
                                                                 : CN_IO_SYSTEM_CALLS;

    cn_wait_sites_init(&view->sites, &view->frames, &view->codes);
    cn_io_sums_init(&view->sums, calls, &view->sites,
                    parts_of(cn_args_value(view->args, "by"), class), class);
    for (size_t i = 0; i < calls->count; i++) {
        const struct cn_io_call *call = &calls->list[i];

        if (view->is_selected[call->profile] && call->begin_ns >= view->begin_ns &&
            call->begin_ns < view->end_ns)
            cn_io_sums_add(&view->sums, call);
    }
    cn_io_sums_finish(&view->sums);
}

/* The calls of a recording that no recorded call contains: none of its costs. */
static size_t count_outside(struct cn_opened *opened)
{
    const struct cn_database *db = opened->whole ? opened->whole : opened->db;
    size_t inside = db->io ? db->io->count : 0;
    struct cn_error ignored = {0};

    if (!(opened->contains & CN_CALLS) ||
        !cn_opened_load(opened, CN_CALLS, NULL, &ignored) || !opened->rec->io)
        return 0;
    return opened->rec->io->count - inside;
}

/* What is there as well. */
static void say_others(const struct io_view *view)
{
    uint64_t disks = view->sums.left_out[CN_IO_DISKS];
    uint64_t faults = view->sums.left_out[CN_IO_FAULTS];

    if (view->sums.class != CN_IO_SYSTEM_CALLS)
        return;
    if (disks > 0)
        cn_cli_say(view->args, "%" PRIu64 " %s of disks: use --disk", disks,
                   cn_plural(disks, "request", "requests"));
    if (faults > 0)
        cn_cli_say(view->args, "%" PRIu64 " page %s: use --faults", faults,
                   cn_plural(faults, "fault", "faults"));
    if (view->outside_count > 0)
        cn_cli_say(view->args,
                   "%zu %s outside of recorded calls: the table io of cairn sql has them",
                   view->outside_count,
                   cn_plural(view->outside_count, "system call", "system calls"));
}

static bool print(const struct io_view *view, struct cn_error *err)
{
    bool is_text = cn_cli_format(view->args) == CN_TABLE_TEXT;
    uint64_t most;

    if (!cn_args_u64(view->args, "rows", 1, ROWS_MAX, ROWS_DEFAULT, &most, err) ||
        !cn_cli_fit(view->args, err))
        return false;
    if (cn_args_has(view->args, "disk") && cn_args_has(view->args, "faults"))
        return cn_fail(err, CN_ERR_USAGE, "--disk and --faults: choose one of them");
    if (is_text)
        cn_io_print_all(view->args, &view->sums);
    cn_io_print(view->args, &view->sums, (size_t)most);
    cn_cli_say_left_out(view->args, view->sums.count, most);
    if (is_text)
        say_others(view);
    return true;
}

static bool show(struct io_view *view, struct cn_error *err)
{
    if (!cn_view_open(&view->opened, view->args, view->path, NULL, err))
        return false;
    view->outside_count = count_outside(&view->opened);
    view->db = view->opened.db;
    if (!view->db->io && view->outside_count > 0)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s: all its %zu system calls are outside of recorded calls; the "
                       "table io of cairn sql has them",
                       view->path, view->outside_count);
    if (!view->db->io)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s has no system calls; sudo cairn sample --io and sudo cairn "
                       "record --syscalls record them",
                       view->path);
    if (!cn_frames_build(&view->frames, view->db, NULL, err) ||
        !cn_codes_build(&view->codes, view->db, NULL, err))
        return cn_fail_in(err, "%s", view->path);
    if (!cn_view_range_select(view->args, view->db, &view->begin_ns, &view->end_ns,
                              err) ||
        !cn_view_threads_select(view->args, view->db, &view->is_selected, err))
        return false;
    add_calls(view);
    return print(view, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct io_view view = {.args = args};
    bool ok = cn_data_path(args, cn_args_find_operand(args, 0), &view.path, err) &&
              show(&view, err) && cn_cli_check_opened(&view.opened, err);

    free(view.is_selected);
    cn_io_sums_done(&view.sums);
    cn_wait_sites_done(&view.sites);
    cn_codes_done(&view.codes);
    cn_frames_done(&view.frames);
    cn_opened_close(&view.opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION(
        "by", 0, "file|call|function",
        "add up calls by their file or peer, by the system call, or by the function "
        "that made them, instead of all three"),
    CN_OPTION("disk", 0, NULL,
              "the requests of disks that threads of the program made themselves, until "
              "they were complete"),
    CN_OPTION("faults", 0, NULL,
              "the page faults of threads of the program, with the file or other memory "
              "that was accessed"),
    CN_OPTION("time-range", 'r', "FROM~TO",
              "only calls that begin in this time, as offsets from the start: 1.5s~2s, "
              "10%~20%, ~300ms"),
    CN_VIEW_THREAD_OPTION('t'),
    CN_OPTION("rows", 0, "N", "show at most N rows (default: 8)"),
    CN_OPTION_FORMAT,
    CN_OPTION_WIDTH,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn io", "show which files and peers the last sampled program used, and where"},
    {"cairn io cairn.data --by file", "show the files and peers alone"},
    {"cairn io cairn.perf.data --thread 'THREAD 4711' -r 1s~2s",
     "show the calls of one thread in one second"},
    {"cairn io --disk", "show how long disks took, and for which file and function"},
    {"cairn io --faults",
     "show which files and memory are accessed for the first time, and where"},
    {"cairn io cairn.perf.data --format csv", "print all rows for other programs"},
    {0},
};

const struct cn_command cn_cmd_io = {
    .name = "io",
    .operands = "[DATA]",
    .operand_max = 1,
    .scope = CN_FOR_COSTS,
    .summary = "show which files and peers are read and written",
    .description =
        "Of samples of cairn sample --io and recordings of cairn record --syscalls, "
        "taken as root, each system call about a file or a socket is known: when it "
        "began and ended, how many bytes it read or wrote, its file or peer, and the "
        "call path that made it. The rows add calls up, those that took the longest "
        "first; the time is that of the calls, running and waiting. A descriptor is "
        "followed through the calls that open, copy and close it; where it is not known "
        "what it is, the row says so. A call whose end was not recorded has no time. "
        "Requests of disks (--disk), of samples, are known in the same way; their file "
        "is that of the system call that the thread is in, or of the page that it "
        "accesses. Page faults (--faults), of samples, have the file that is mapped at "
        "the address, or [anonymous] or [stack]; of minor ones, for which no disk is "
        "read, some are sampled when there are very many, and stand for the others. The "
        "same calls are metrics in cairn tree, and rows of the table io in "
        "cairn sql. See docs/io.md.",
    .examples = examples,
    .options = options,
    .run = run,
};
