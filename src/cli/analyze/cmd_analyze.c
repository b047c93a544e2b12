/* cairn analyze: recordings, measurements or samples to a database of calling contexts. */

#include <inttypes.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/host/disk_usage.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "cli/analyze/analyze.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/progress.h"
#include "cli/shell/ranks.h"
#include "model/contexts/database.h"
#include "open/formats.h"
#include "open/host/target.h"

enum {
    SAMPLE_MAX = 1 << 16, /* of a thread's timeline by default: 768 KiB */
};

/* "run.db" of "run.data", "run.data/" or "run". */
static void set_default_target(struct cn_analyze *a)
{
    static const char ending[] = ".data";
    const char *source = a->paths.list[0];
    size_t len = strlen(source), ending_len = sizeof(ending) - 1;

    while (len > 1 && source[len - 1] == '/')
        len--;
    if (len > ending_len && strncmp(source + len - ending_len, ending, ending_len) == 0)
        len -= ending_len;
    cn_text_add(&a->default_target, source, len);
    cn_text_str_add(&a->default_target, ".db");
}

bool cn_analyze_set_target(struct cn_analyze *a, const char *target, struct cn_error *err)
{
    if (target && target[0] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "-o: the name of the database is empty");
    if (!target) {
        set_default_target(a);
        target = cn_text_str(&a->default_target);
    }
    a->to.path = target;
    char *copy = cn_strdup(target);
    cn_text_str_add(&a->folder, dirname(copy));
    free(copy);
    return cn_target_check(target, cn_format_find("hpctoolkit-v4"), a->to.write.replace,
                           err);
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    struct cn_text text = {0};

    cn_loss_print(&text, count, what);
    cn_cli_warn(arg, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

bool cn_analyze_agree(const struct cn_analyze *a, bool ok, struct cn_error *err)
{
    return cn_ranks_agree(a->ranks, ok, err);
}

/* Append "2 values, 1 sample in 1.2 s", or how many records in a second. */
static void add_speed(struct cn_text *text, const struct cn_analyze *a,
                      const struct cn_analysis *analysis)
{
    uint64_t elapsed_ns = cn_clock_ns() - a->begin_ns;

    if (analysis->record_count > 0) {
        cn_count_print_of(text, analysis->record_count, "record");
    } else {
        cn_count_print_of(text, analysis->value_count, "value");
        cn_text_str_add(text, ", ");
        cn_count_print_of(text, analysis->sample_count, "sample");
    }
    cn_text_str_add(text, " in ");
    cn_duration_print(text, elapsed_ns);
    if (analysis->record_count > 0)
        cn_text_printf(text, ", %.1f million a second",
                       (double)analysis->record_count * 1e3 / (double)(elapsed_ns + 1));
}

/* Print what was written; with -v also how fast. */
static void tell(const struct cn_analyze *a, const struct cn_analysis *analysis)
{
    struct cn_text text = {0};

    cn_count_print_of(&text, analysis->context_count, "context");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, analysis->thread_count, "thread");
    cn_text_str_add(&text, ", ");
    cn_size_print(&text, cn_disk_usage(a->to.path).bytes);
    cn_cli_say(a->args, "wrote %s: %s", a->to.path, cn_text_str(&text));
    cn_text_clear(&text);
    add_speed(&text, a, analysis);
    if (analysis->record_count + analysis->value_count > 0)
        cn_cli_detail(a->args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

/* Warnings about several recordings name them. */
static void warn(const struct cn_analyze *a, const struct cn_analysis *analysis,
                 bool has_path)
{
    for (const struct cn_warning *w = analysis->warnings; w; w = w->next)
        cn_cli_warn(a->args, "%s%s%s", has_path ? a->sources[0].path : "",
                    has_path ? ": " : "", w->text);
    cn_cli_warn_lost(a->args, analysis->lost_count);
}

enum analyze_source { RECORDINGS, MEASUREMENTS, SAMPLES };

static void add_source(struct cn_analyze *a, const struct cn_opened *source)
{
    a->sources = cn_realloc(a->sources, a->source_count + 1, sizeof(*source));
    a->sources[a->source_count++] = *source;
}

/* A folder of recordings of ranks is as many sources. */
static void add_path(struct cn_analyze *a, const char *path)
{
    struct cn_opened found;
    struct cn_error err;

    if (!cn_recording_find(&found, a->args, path, &err)) {
        a->unknown = a->unknown.kind == CN_ERR_NONE ? err : a->unknown;
        return;
    }
    if (found.rank_count == 0) {
        add_source(a, &found);
        return;
    }
    for (size_t i = 0; i < found.rank_count; i++)
        add_path(a, found.ranks[i]);
    cn_opened_close(&found);
}

static bool find_paths(struct cn_analyze *a, struct cn_error *err)
{
    a->paths = (struct cn_values){a->args->operands, cn_args_count(a->args)};
    if (a->paths.count > 0)
        return !cn_args_has(a->args, "data") ||
               cn_fail(err, CN_ERR_USAGE,
                       "give recordings with -d or as operands, not both");
    a->paths = (struct cn_values){&a->unnamed, 1};
    return cn_data_path(a->args, NULL, &a->unnamed, err);
}

static bool find_sources(struct cn_analyze *a, enum analyze_source *out,
                         struct cn_error *err)
{
    size_t measured_count = 0, sampled_count = 0;
    unsigned kinds = 0;

    if (!find_paths(a, err))
        return false;
    for (size_t i = 0; i < a->paths.count; i++)
        add_path(a, a->paths.list[i]);
    for (size_t i = 0; i < a->source_count; i++) {
        unsigned kind = cn_kind_of(a->sources[i].format);

        measured_count += kind == CN_FOR_MEASUREMENTS;
        sampled_count += kind == CN_FOR_SAMPLES;
        kinds |= kind;
    }
    if (sampled_count > 0 && a->source_count > 1)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s contains samples; analyse such files one at a time",
                       a->sources[0].path);
    if (measured_count > 0 && measured_count < a->source_count)
        return cn_fail(err, CN_ERR_USAGE,
                       "measurements cannot be analysed together with other data");
    *out = sampled_count > 0 ? SAMPLES : measured_count > 0 ? MEASUREMENTS : RECORDINGS;
    return !kinds || cn_kinds_check(a->args, kinds, a->paths.list[0], err);
}

/* Recordings have a sample for each call and return: by default, long timelines are thinned.
 * Timelines of measurements are samples already, and written as they are. */
static bool parse_trace(struct cn_analyze *a, enum analyze_source source,
                        struct cn_error *err)
{
    const char *trace = cn_args_value(a->args, "trace");

    if (source != RECORDINGS)
        return true;
    /* As for other commands with filters. */
    if (trace && (strcmp(trace, "on") == 0 || strcmp(trace, "off") == 0))
        trace = NULL;
    if (trace && a->to.write.without_timelines && strcmp(trace, "none") != 0)
        return cn_fail(err, CN_ERR_USAGE, "--trace=%s and --no-trace exclude each other",
                       trace);
    a->to.write.timeline_resolution_ns = 1;
    if (!trace) {
        a->to.write.timeline_sample_max = SAMPLE_MAX;
        return true;
    }
    if (strcmp(trace, "full") == 0)
        return true;
    if (strcmp(trace, "none") == 0) {
        a->to.write.without_timelines = true;
        return true;
    }
    if (!cn_duration_parse(trace, CN_BARE_REFUSED, &a->to.write.timeline_resolution_ns,
                           err))
        return cn_fail_in(err, "--trace");
    if (a->to.write.timeline_resolution_ns == 0)
        return cn_fail(err, CN_ERR_USAGE, "--trace: a resolution of 0; use 'full'");
    return true;
}

/* A file of samples that another tool has written: perf.data, pprof, folded stacks and others. One
 * file is work for one process. */
static bool analyse_samples(struct cn_analyze *a, struct cn_analysis *out,
                            struct cn_error *err)
{
    const struct cn_opened *source = &a->sources[0];
    const struct cn_format *format = source->format;
    struct cn_database *samples = NULL;
    bool ok = cn_analyze_set_target(a, cn_args_value(a->args, "output"), err);

    if (ok && cn_ranks_is_first(a->ranks)) {
        ok = format->open_samples ? format->open_samples(&samples, source->source,
                                                         a->to.write.progress, err)
                                  : format->open_database(&samples, source->source, err);
        if (ok && a->title)
            samples->title = a->title;
        ok = ok && cn_analyze_samples(out, samples, &a->to, err);
        cn_database_close(samples);
    }
    return cn_ranks_agree(a->ranks, ok, err);
}

static bool analyse(struct cn_analyze *a, struct cn_error *err)
{
    static bool (*const analyses[])(struct cn_analyze *, struct cn_analysis *,
                                    struct cn_error *) = {
        cn_analyze_recordings, cn_analyze_directories, analyse_samples};
    struct cn_analysis analysis = {0};
    enum analyze_source source;
    struct cn_bar bar;
    uint64_t jobs;
    bool ok = cn_args_u64(a->args, "threads", 1, CN_RECORDING_THREADS_MAX,
                          cn_pool_default_workers(), &jobs, err) &&
              find_sources(a, &source, err) && parse_trace(a, source, err);

    if (!cn_ranks_agree(a->ranks, ok, err))
        return false;
    a->to.write.workers = (unsigned)jobs;
    a->to.ranks = source == SAMPLES ? NULL : a->ranks;
    cn_bar_begin_late(&bar, a->args);
    a->to.write.progress = &bar.progress;
    ok = analyses[source](a, &analysis, err);
    cn_bar_end(&bar);
    warn(a, &analysis, source == RECORDINGS && a->source_count == 1);
    if (ok)
        tell(a, &analysis);
    if (ok && analysis.is_damaged)
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "the data is damaged: the database is incomplete");
    cn_analysis_done(&analysis);
    return cn_ranks_agree(a->ranks, ok, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_analyze a = {
        .args = args,
        .title = cn_args_value(args, "title"),
        .to.write = {.replace = cn_args_has(args, "force"),
                     .is_strict = cn_args_has(args, "strict"),
                     .without_timelines =
                         cn_args_has(args, "no-trace") || cn_args_has(args, "no-traces"),
                     .without_sources = cn_args_has(args, "no-source"),
                     .on_loss = on_loss,
                     .on_loss_arg = (void *)(uintptr_t)args},
        .begin_ns = cn_clock_ns(),
    };
    bool ok;

    /* Reaching the file size limit is an error like a full disk, not a signal. */
    (void)signal(SIGXFSZ, SIG_IGN);
    ok = cn_cli_ranks_open(&a.ranks, args, err) && analyse(&a, err);
    ok = cn_cli_ranks_close(a.ranks, args, ok, err);
    for (size_t i = 0; i < a.source_count; i++)
        cn_opened_close(&a.sources[i]);
    free(a.sources);
    cn_text_done(&a.folder);
    cn_text_done(&a.default_target);
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
