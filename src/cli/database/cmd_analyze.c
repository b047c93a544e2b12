/* cairn analyze: recordings, measurements or samples to a database of calling contexts. */

#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/host/disk_usage.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "cli/database/analyze.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/ranks.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "launcher/files/rank.h"
#include "open/formats.h"
#include "open/host/target.h"

enum {
    SAMPLE_MAX = 1 << 16, /* of a thread's timeline by default: 768 KiB */
};

/* "run.db" of "run.data", "run.data/" or "run". */
static void set_default_target(struct cn_analysis *a)
{
    static const char ending[] = ".data";
    const char *source = cn_args_operand(a->args, 0);
    size_t len = strlen(source), ending_len = sizeof(ending) - 1;

    while (len > 1 && source[len - 1] == '/')
        len--;
    if (len > ending_len && strncmp(source + len - ending_len, ending, ending_len) == 0)
        len -= ending_len;
    cn_text_add(&a->default_target, source, len);
    cn_text_str_add(&a->default_target, ".db");
}

bool cn_analysis_set_target(struct cn_analysis *a, const char *target,
                            struct cn_error *err)
{
    char *copy;

    if (target && target[0] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "-o: the name of the database is empty");
    if (!target) {
        set_default_target(a);
        target = cn_text_str(&a->default_target);
    }
    a->target = target;
    copy = cn_strdup(target);
    cn_text_str_add(&a->folder, dirname(copy));
    free(copy);
    return cn_target_check(target, cn_format_find("hpctoolkit-v4"), a->is_forced, err);
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    const struct cn_analysis *a = arg;
    struct cn_text text = {0};

    cn_loss_print(&text, count, what);
    cn_cli_warn(a->args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

bool cn_analysis_write(struct cn_analysis *a, struct cn_database *db, size_t memory_len,
                       struct cn_error *err)
{
    struct cn_write_options options = {
        .replace = a->is_forced,
        .workers = a->workers,
        .memory_len = memory_len,
        .without_timelines = a->without_timelines,
        .timeline_resolution_ns = a->timeline_resolution_ns,
        .timeline_sample_max = a->timeline_sample_max,
        .without_sources = a->without_sources,
        .progress = &a->bar.progress,
        .on_loss = on_loss,
        .on_loss_arg = a,
    };

    return cn_hpc_v4_write_together(db, a->ranks, a->target, &options, err);
}

bool cn_analysis_agree(const struct cn_analysis *a, bool ok, struct cn_error *err)
{
    return cn_ranks_agree(a->ranks, ok, err);
}

void cn_analysis_tell(const struct cn_analysis *a, uint64_t context_count,
                      uint64_t thread_count, const char *items, const char *rate)
{
    struct cn_text text = {0};

    if (a->is_silent)
        return;
    cn_count_print_of(&text, context_count, "context");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, thread_count, "thread");
    cn_text_str_add(&text, ", ");
    cn_size_print(&text, cn_disk_usage(a->target).bytes);
    cn_cli_say(a->args, "wrote %s: %s", a->target, cn_text_str(&text));
    cn_text_clear(&text);
    cn_duration_print(&text, cn_clock_ns() - a->begin_ns);
    if (items)
        cn_cli_detail(a->args, "%s in %s%s", items, cn_text_str(&text), rate);
    cn_text_done(&text);
}

enum source { RECORDINGS, MEASUREMENTS, SAMPLES };

static bool find_source(const struct cn_args *args, enum source *out,
                        struct cn_error *err)
{
    unsigned kinds = 0;
    size_t count = cn_args_count(args), measured_count = 0, sampled_count = 0;
    const struct cn_format *format;
    struct cn_error ignored;

    for (size_t i = 0; i < count; i++) {
        if (!cn_format_probe(cn_args_operand(args, i), &format, &ignored))
            continue;
        measured_count += format->open_measurements != NULL;
        sampled_count += cn_kind_of(format) == CN_FOR_SAMPLES;
        kinds |= cn_kind_of(format);
    }
    if (sampled_count > 0 && count > 1)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s contains samples; analyse such files one at a time",
                       cn_args_operand(args, 0));
    if (measured_count > 0 && measured_count < count)
        return cn_fail(err, CN_ERR_USAGE,
                       "measurements cannot be analysed together with other data");
    *out = sampled_count > 0 ? SAMPLES : measured_count > 0 ? MEASUREMENTS : RECORDINGS;
    return !kinds || cn_kinds_check(args, kinds, cn_args_operand(args, 0), err);
}

/* Recordings have a sample for each call and return: by default, long timelines are thinned.
 * Timelines of measurements are samples already, and written as they are. */
static bool parse_trace(struct cn_analysis *a, enum source source, struct cn_error *err)
{
    const char *trace = cn_args_value(a->args, "trace");

    if (source != RECORDINGS)
        return true;
    /* As for other commands with filters. */
    if (trace && (strcmp(trace, "on") == 0 || strcmp(trace, "off") == 0))
        trace = NULL;
    if (trace && a->without_timelines && strcmp(trace, "none") != 0)
        return cn_fail(err, CN_ERR_USAGE, "--trace=%s and --no-trace exclude each other",
                       trace);
    a->timeline_resolution_ns = 1;
    if (!trace) {
        a->timeline_sample_max = SAMPLE_MAX;
        return true;
    }
    if (strcmp(trace, "full") == 0)
        return true;
    if (strcmp(trace, "none") == 0) {
        a->without_timelines = true;
        return true;
    }
    if (!cn_duration_parse(trace, CN_BARE_REFUSED, &a->timeline_resolution_ns, err))
        return cn_fail_in(err, "--trace");
    if (a->timeline_resolution_ns == 0)
        return cn_fail(err, CN_ERR_USAGE, "--trace: a resolution of 0; use 'full'");
    return true;
}

static bool analyse(const struct cn_args *args, struct cn_ranks *ranks,
                    struct cn_error *err)
{
    static bool (*const analyses[])(struct cn_analysis *, struct cn_error *) = {
        cn_analyze_recordings, cn_analyze_measurements, cn_analyze_samples};
    struct cn_analysis a = {
        .args = args,
        .ranks = ranks,
        .title = cn_args_value(args, "title"),
        .is_forced = cn_args_has(args, "force"),
        .is_strict = cn_args_has(args, "strict"),
        .without_timelines =
            cn_args_has(args, "no-trace") || cn_args_has(args, "no-traces"),
        .without_sources = cn_args_has(args, "no-source"),
        .begin_ns = cn_clock_ns(),
    };
    enum source source;
    uint64_t jobs;
    bool ok = cn_args_u64(args, "threads", 1, CN_RECORDING_THREADS_MAX,
                          cn_pool_default_workers(), &jobs, err) &&
              find_source(args, &source, err) && parse_trace(&a, source, err);

    if (!cn_ranks_agree(ranks, ok, err))
        return false;
    a.workers = (unsigned)jobs;
    /* A file of samples is work for one process. */
    if (source == SAMPLES)
        a.ranks = &cn_ranks_alone;
    ok = (source == SAMPLES && !cn_ranks_is_first(ranks)) || analyses[source](&a, err);
    if (ok && a.is_damaged)
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "the data is damaged: the database is incomplete");
    ok = cn_ranks_agree(ranks, ok, err);
    cn_text_done(&a.folder);
    cn_text_done(&a.default_target);
    return ok;
}

static void add_operand(struct cn_args *args, const char *name, size_t *capacity)
{
    CN_PUSH(args->operands, args->operand_count, *capacity, cn_strdup(name));
}

/* Add the recordings of ranks in `dir`, in order, as operands. False if there are none. */
static bool add_ranks(struct cn_args *args, const char *dir, size_t *capacity)
{
    struct cn_text path = {0};
    uint64_t *numbers = NULL;
    size_t count = 0;

    cn_text_printf(&path, "%s/" CN_RANKS_FILE, dir);
    if (access(path.chars, F_OK) == 0)
        numbers = cn_rank_files_list(dir, &count);
    for (size_t i = 0; i < count; i++) {
        cn_text_clear(&path);
        cn_text_printf(&path, "%s/" CN_RANK_PREFIX "%" PRIu64, dir, numbers[i]);
        add_operand(args, path.chars, capacity);
    }
    free(numbers);
    cn_text_done(&path);
    return count > 0;
}

/* The arguments, with the data that was not named, and with the recordings of ranks instead of
 * their folder. */
static bool expand(const struct cn_args *args, struct cn_args *out, struct cn_error *err)
{
    const char *const *paths = args->operands;
    size_t count = args->operand_count, capacity = 0;
    const char *path;

    *out = *args;
    out->operands = NULL;
    out->operand_count = 0;
    if (count > 0 && cn_args_has(args, "data"))
        return cn_fail(err, CN_ERR_USAGE,
                       "give recordings with -d or as operands, not both");
    if (count == 0) {
        if (!cn_data_path(args, NULL, &path, err))
            return false;
        paths = &path;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        if (!add_ranks(out, paths[i], &capacity))
            add_operand(out, paths[i], &capacity);
    }
    return true;
}

static bool run(const struct cn_args *given, struct cn_error *err)
{
    struct cn_args expanded, *args = &expanded;
    struct cn_ranks *ranks;
    bool ok;

    if (!expand(given, &expanded, err))
        return false;
    /* Reaching the file size limit is an error like a full disk, not a signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    ok = cn_cli_ranks_open(&ranks, args, err) && analyse(args, ranks, err);
    ok = cn_cli_ranks_close(ranks, args, ok, err);
    for (size_t i = 0; i < expanded.operand_count; i++)
        free((char *)(uintptr_t)expanded.operands[i]);
    free(expanded.operands);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("output", 'o', "DB",
              "the database to write (default: the name of the recording, with .db "
              "instead of .data; for measurements the name that hpcprof chooses)"),
    CN_OPTION("force", 'f', NULL, "replace DB if it exists"),
    CN_RECORDING_THREADS_OPTION,
    CN_OPTION("title", 0, "TEXT", "the title of the database"),
    CN_OPTION("no-trace", 0, NULL, "write no timelines, as --trace=none"),
    CN_OPTION("no-source", 0, NULL, "do not copy source files"),
    CN_OPTION("strict", 0, NULL, "write nothing if any data is damaged"),
    CN_OPTION_FOR(CN_FOR_STORES, "query", 0, "QUERY",
                  "only traces that match; see cairn-store-search(1)"),
    CN_OPTION_FOR(
        CN_FOR_CALLS, "collapse-recursion", 0, NULL,
        "make one context of a function that calls itself, directly or indirectly"),
    CN_OPTION_FOR(
        CN_FOR_CALLS, "min-time", 0, "TIME",
        "drop contexts whose total over all threads is less; their time becomes "
        "self time of the caller"),
    CN_OPTION_FOR(
        CN_FOR_CALLS, "statistics", 0, "all|sum",
        "statistics over threads: sum, count, squares, minimum and maximum (the "
        "default), or only the sum"),
    CN_OPTION_FOR(
        CN_FOR_CALLS, "trace", 0, "full|RESOLUTION|none|on|off",
        "timelines: every call and return, exact to RESOLUTION (10us), or none "
        "(default: as exact as 65,536 samples per thread allow; sums are always "
        "exact). off: count nothing until a trigger with trace_on"),
    CN_OPTION_LIST_FOR(CN_FOR_CALLS, "source-path", 0, "FROM=TO",
                       "look for source files under TO instead of FROM"),
    CN_OPTION_NO_MPI,
    CN_RECORDING_FILTER_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_OPTION_LIST_FOR(CN_FOR_MEASUREMENTS, "structure", 'S', "FILE",
                       "also read this .hpcstruct file, or a directory of them"),
    CN_OPTION_LIST_FOR(CN_FOR_MEASUREMENTS, "replace-path", 'R', "FROM=TO",
                       "replace the prefix FROM of recorded paths by TO; '*' matches one "
                       "folder"),
    CN_OPTION_LIST_FOR(CN_FOR_MEASUREMENTS, "only-exe", 0, "NAME",
                       "only processes of this program"),
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "name", 'n', "TEXT",
                  "the title of the database, as --title"),
    CN_OPTION_LIST_FOR(CN_FOR_MEASUREMENTS, "metric", 'M',
                       "sum|normal|extrema|stats|none",
                       "statistics over threads: sum (the default), also mean and "
                       "deviation, also minimum and maximum, all, or show no metrics"),
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "foreign", 0, NULL,
                  "from another machine; read no files of this one"),
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "ignore-structs", 0, NULL,
                  "do not read structs/ of the directory"),
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "no-traces", 0, NULL,
                  "write no timelines, as --no-trace"),
    CN_OPTION_FOR(CN_FOR_MEASUREMENTS, "hpcprof-compatible", 0, NULL,
                  "write the same values as hpcprof, even those that are wrong"),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn analyze run.data", "write run.db, for tree, top, hpcviewer"},
    {"cairn analyze rank*.data -o run.db --threads 8", "analyse several processes"},
    {"cairn analyze run.data -o small.db --no-trace --min-time 1ms",
     "write a small database without timelines"},
    {"cairn analyze run.data -o run.db -F handle_request --collapse-recursion",
     "analyse one function and what it calls"},
    {"cairn analyze hpctoolkit-app-measurements -o app.db -M stats",
     "do the work of hpcprof, with statistics over threads"},
    {"cairn analyze perf.data -o app.db", "analyse samples of perf record -g"},
    {"mpirun -n 4 cairn analyze rank*.data -o run.db", "use four processes"},
    {"cairn analyze run.data -o run.db",
     "after mpirun -n 4 cairn record -d run.data -- ./app: analyse all ranks"},
    {0},
};

const struct cn_command cn_cmd_analyze = {
    .name = "analyze",
    .operands = "[DIR]...",
    .operand_max = CN_OPERANDS_MAX,
    .scope = CN_FOR_CALLS | CN_FOR_MEASUREMENTS | CN_FOR_SAMPLES,
    .is_run_together = true,
    .summary = "turn recordings into a database of calling contexts",
    .description =
        "Adds up the calls of recordings by calling context and thread: number, total "
        "and "
        "self time, time on a processor, and the distribution of durations. Writes an "
        "HPCToolkit 4.0 database with a timeline per thread, for cairn's views and for "
        "hpcviewer.\n\n"
        "A store of request traces is analysed like a recording: all traces, or those "
        "that match --query.\n\n"
        "Measurement directories of hpcrun are converted as by hpcprof, with its "
        "options.\n\n"
        "A file of samples of another tool (perf.data, the output of perf script, pprof, "
        "folded stacks, speedscope) is converted as well.\n\n"
        "Files and lines come from the recording and from debug information; source "
        "files "
        "that are found are copied into the database.\n\n"
        "A timeline has a sample whenever the calling context changes. Of a thread that "
        "has more than 65,536, the last of every so many nanoseconds is stored; "
        "FORMATS.md in the database says how many. --trace changes this.\n\n"
        "DB is created when it is complete; after a failure there is no DB. Damaged data "
        "is analysed up to the damage, with a warning, and the exit status is 3; with "
        "--strict nothing is written. The "
        "same recordings give the same bytes with any number of threads.\n\n"
        "Under mpirun, the processes share the work: each reads some of the tasks or "
        "profiles, and all write parts of the database, which is the same as that of one "
        "process. They need a shared file system. If one fails, all fail.",
    .examples = examples,
    .options = options,
    .run = run,
};

bool cn_analyze_for_view(const struct cn_args *view, const char *path, const char *target,
                         struct cn_view_analysis *how, struct cn_error *err)
{
    const char *words[7];
    size_t count = 0;
    struct cn_args args;
    struct cn_analysis a = {
        .args = &args,
        .ranks = &cn_ranks_alone,
        .is_forced = true,
        .is_silent = true,
        .workers = cn_pool_default_workers(),
        .begin_ns = cn_clock_ns(),
    };
    bool ok;

    if (cn_args_has(view, "quiet"))
        words[count++] = "--quiet";
    if (how->is_raw)
        words[count++] = "--raw";
    if (how->query) {
        words[count++] = "--query";
        words[count++] = how->query;
    }
    words[count++] = "--output";
    words[count++] = target;
    words[count++] = path;
    if (!cn_args_parse(&args, &cn_cmd_analyze, count, words, err))
        return false;
    args.session = view->session;
    ok = cn_analyze_recordings(&a, err);
    how->is_complete = !a.is_incomplete;
    how->is_damaged = a.is_damaged;
    cn_text_done(&a.folder);
    cn_args_done(&args);
    return ok;
}
