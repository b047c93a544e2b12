/* cairn analyze: recordings of calls to a database of calling contexts. */

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/files/disk_usage.h"
#include "base/run/clock.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "cli/database/analyze_measurements.h"
#include "cli/database/analyze_places.h"
#include "cli/database/analyze_samples.h"
#include "cli/print/quantity.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "cli/shell/ranks.h"
#include "cli/shell/target.h"
#include "formats/formats.h"
#include "model/contexts/database.h"

enum { JOBS_MAX = 1024 };

struct analyze {
    const struct cn_args *args;
    struct cn_ranks *ranks;
    const char *target;
    char *folder; /* that the target is in */
    struct cn_recording_setup *setups;
    struct cn_call_query *queries;
    size_t count;
    struct cn_analyze_places places;
    struct cn_calls_options options;
    struct cn_bar bar;
    uint64_t begin_ns;
};

static char *folder_of(const char *path)
{
    char *folder = cn_strdup(path);
    size_t len = strlen(folder);

    while (len > 0 && folder[len - 1] == '/')
        len--;
    while (len > 0 && folder[len - 1] != '/')
        len--;
    while (len > 1 && folder[len - 1] == '/')
        len--;
    folder[len] = '\0';
    if (len == 0) {
        free(folder);
        return cn_strdup(".");
    }
    return folder;
}

/* Replacing what is being read would destroy both. */
static bool check_apart(const char *target, const char *source, struct cn_error *err)
{
    char *a = realpath(target, NULL), *b = realpath(source, NULL);
    size_t len = a ? strlen(a) : 0;
    bool ok = !a || !b || strncmp(a, b, len) != 0 || (b[len] != '\0' && b[len] != '/');

    free(a);
    free(b);
    return ok || cn_fail(err, CN_ERR_USAGE, "%s holds the recording %s", target, source);
}

static bool check_target(struct analyze *a, struct cn_error *err)
{
    a->target = cn_args_value(a->args, "output");
    if (!a->target || a->target[0] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "-o is missing: where should the database go?");
    if (!cn_target_check(a->target, cn_format_find("hpctoolkit-v4"),
                         cn_args_has(a->args, "force"), err))
        return false;
    a->folder = folder_of(a->target);
    return true;
}

static const char *source_at(const struct analyze *a, size_t i)
{
    return cn_args_count(a->args) > 0 ? cn_args_operand(a->args, i)
                                      : cn_recording_path(a->args, NULL);
}

/* A recording, or the traces of a store. */
static bool open_source(const struct analyze *a, struct cn_recording_setup *setup,
                        const char *path, struct cn_error *err)
{
    const char *query = cn_args_value(a->args, "query");
    const struct cn_format *format;
    struct cn_recording *rec;

    if (!cn_format_probe(path, &format, err))
        return false;
    if (!format->open_traces) {
        if (query)
            return cn_fail(err, CN_ERR_USAGE, "%s is not a store: --query is for stores",
                           path);
        return cn_recording_setup_open(setup, a->args, path, err);
    }
    return format->open_traces(&rec, path, query ? query : "", err) &&
           cn_recording_setup_use(setup, a->args, rec, err);
}

static bool open_sources(struct analyze *a, struct cn_error *err)
{
    size_t operand_count = cn_args_count(a->args);
    size_t count = operand_count > 0 ? operand_count : 1;

    if (operand_count > 0 && cn_args_has(a->args, "data"))
        return cn_fail(err, CN_ERR_USAGE, "recordings given with -d and without");
    a->setups = cn_alloc(count, sizeof(*a->setups));
    a->queries = cn_alloc(count, sizeof(*a->queries));
    for (size_t i = 0; i < count; i++) {
        const char *path = source_at(a, i);

        if (strcmp(path, "-") == 0)
            return cn_fail(err, CN_ERR_USAGE,
                           "a recording is a directory, not standard input");
        a->count++;
        if (!check_apart(a->target, path, err) ||
            !open_source(a, &a->setups[i], path, err))
            return false;
        a->queries[i] = a->setups[i].query;
    }
    return true;
}

static bool parse_options(struct analyze *a, struct cn_error *err)
{
    const char *min_time = cn_args_value(a->args, "min-time");
    const char *statistics = cn_args_value(a->args, "statistics");
    uint64_t jobs;

    if (!cn_args_u64(a->args, "threads", 1, JOBS_MAX, cn_pool_default_workers(), &jobs,
                     err))
        return false;
    a->options = (struct cn_calls_options){
        .workers = (unsigned)jobs,
        .ranks = a->ranks,
        .title = cn_args_value(a->args, "title"),
        .is_collapsed = cn_args_has(a->args, "collapse-recursion"),
        .has_all_statistics = !statistics || strcmp(statistics, "all") == 0,
        .without_timelines = cn_args_has(a->args, "no-trace"),
        .places = &a->places.places,
        .progress = &a->bar.progress,
    };
    if (min_time && !cn_call_time_parse(min_time, &a->options.min_time_ns, err))
        return cn_fail_in(err, "--min-time");
    return true;
}

/* What was lost on the way; false when that is not allowed. */
static bool tell_damage(const struct analyze *a, const struct cn_calls_result *result,
                        struct cn_error *err)
{
    size_t damage_count = result->damage_count;

    for (size_t i = 0; i < result->damage_count; i++) {
        const struct cn_calls_damage *damage = &result->damages[i];
        const struct cn_recording *rec = a->queries[damage->query].rec;

        cn_cli_warn(a->args, "%s: task %" PRIu32 ": %s; what comes before is analysed",
                    rec->path, rec->tasks[damage->task].tid, damage->err.text);
    }
    for (size_t i = 0; i < a->count; i++)
        for (const struct cn_recording_warning *w = a->queries[i].rec->warnings; w;
             w = w->next)
            damage_count += w->is_damage;
    if (result->lost_count > 0)
        cn_cli_warn(a->args, "%" PRIu64 " records were lost while recording",
                    result->lost_count);
    if (damage_count > 0 && cn_args_has(a->args, "strict"))
        return cn_fail(err, CN_ERR_FORMAT, "%s is not written: --strict allows no damage",
                       a->target);
    return true;
}

static void tell_result(const struct analyze *a, const struct cn_database *db,
                        const struct cn_calls_result *result)
{
    struct cn_disk_usage usage = cn_disk_usage(a->target);
    uint64_t elapsed_ns = cn_clock_ns() - a->begin_ns;
    struct cn_text text = {0};

    cn_count_print_of(&text, result->context_count, "context");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, db->profile_count - 1, "thread");
    cn_text_str_add(&text, ", ");
    cn_size_print(&text, usage.bytes);
    cn_cli_say(a->args, "wrote %s: %s", a->target, cn_text_str(&text));
    cn_text_clear(&text);
    cn_count_print_of(&text, result->record_count, "record");
    cn_text_str_add(&text, " in ");
    cn_duration_print(&text, elapsed_ns);
    cn_cli_detail(a->args, "%s, %.1f million a second", cn_text_str(&text),
                  (double)result->record_count * 1e3 / (double)(elapsed_ns + 1));
    cn_text_done(&text);
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    const struct analyze *a = arg;

    cn_cli_warn(a->args, "not kept: %" PRIu64 " %s", count, what);
}

static bool write_database(struct analyze *a, struct cn_database *db,
                           struct cn_error *err)
{
    struct cn_write_options options = {
        .replace = cn_args_has(a->args, "force"),
        .workers = a->options.workers,
        .without_timelines = a->options.without_timelines,
        .progress = &a->bar.progress,
        .on_loss = on_loss,
        .on_loss_arg = a,
    };

    return cn_format_find("hpctoolkit-v4")->write_database(db, a->target, &options, err);
}

static bool analyse(struct analyze *a, struct cn_error *err)
{
    struct cn_calls_result result;
    struct cn_database *db = NULL;
    bool ok;

    a->options.folder = a->folder;
    a->begin_ns = cn_clock_ns();
    cn_bar_begin(&a->bar, a->args);
    ok = cn_calls_to_database(&db, a->queries, a->count, &a->options, &result, err);
    ok = ok && tell_damage(a, &result, err) && write_database(a, db, err);
    cn_bar_end(&a->bar);
    if (ok)
        tell_result(a, db, &result);
    if (db) {
        cn_calls_result_done(&result);
        cn_database_close(db);
    }
    return ok;
}

static bool run_recordings(const struct cn_args *args, struct cn_ranks *ranks,
                           struct cn_error *err)
{
    struct analyze a = {.args = args, .ranks = ranks};
    bool ok = parse_options(&a, err) && check_target(&a, err) &&
              cn_analyze_places_init(&a.places, args, err) && open_sources(&a, err);

    ok = cn_ranks_agree(ranks, ok, err) && analyse(&a, err);
    cn_analyze_places_done(&a.places);
    for (size_t i = 0; i < a.count; i++)
        cn_recording_setup_done(&a.setups[i]);
    free(a.setups);
    free(a.queries);
    free(a.folder);
    return ok;
}

static bool analyse_sources(const struct cn_args *args, struct cn_ranks *ranks,
                            struct cn_error *err)
{
    bool has_measurements = false, has_samples = false;
    bool ok =
        cn_analyze_finds_samples(args, &has_samples, err) &&
        (has_samples || cn_analyze_finds_measurements(args, &has_measurements, err));

    if (!cn_ranks_agree(ranks, ok, err))
        return false;
    if (has_samples)
        return cn_analyze_samples(args, ranks, err);
    return has_measurements ? cn_analyze_measurements(args, ranks, err)
                            : run_recordings(args, ranks, err);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_ranks *ranks;
    bool ok;

    /* A file that may not grow any more is an error like a full disk, not the end. */
    (void)signal(SIGXFSZ, SIG_IGN);
    ok = cn_cli_ranks_open(&ranks, args, err) && analyse_sources(args, ranks, err);
    return cn_cli_ranks_close(ranks, args, ok, err);
}

static const struct cn_option options[] = {
    {.name = "output",
     .letter = 'o',
     .value = "DB",
     .help = "the database to write; of measurements, by default as hpcprof names it"},
    {.name = "force", .letter = 'f', .help = "replace DB if it exists"},
    {.name = "threads",
     .letter = 'j',
     .value = "N",
     .help = "use N threads (default: one a processor); the result is the same"},
    {.name = "collapse-recursion",
     .help = "a function that calls itself, directly or not, is one context"},
    {.name = "min-time",
     .value = "TIME",
     .help = "leave out contexts that took less than this in all threads together; their "
             "time counts for the caller"},
    {.name = "query",
     .value = "QUERY",
     .help = "of a store, the traces that match; see cairn-store-search(1)"},
    {.name = "title", .value = "TEXT", .help = "the database's title"},
    {.name = "statistics",
     .value = "all|sum",
     .help = "over threads keep sum, count, squares, minimum and maximum (the default), "
             "or only the sum"},
    {.name = "no-trace", .help = "no timelines"},
    {.name = "no-source", .help = "do not copy source files"},
    {.name = "source-path",
     .value = "FROM=TO",
     .is_repeatable = true,
     .help = "look for source files below TO instead of FROM"},
    {.name = "strict", .help = "write nothing if any data is damaged"},
    CN_OPTION_NO_MPI,
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_MEASUREMENT_OPTIONS,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn analyze uftrace.data -o run.db", "a database for tree, top and hpcviewer"},
    {"cairn analyze rank*.data -o run.db --threads 8", "several processes together"},
    {"cairn analyze run.data -o small.db --no-trace --min-time 1ms",
     "only what matters, without timelines"},
    {"cairn analyze run.data -o run.db -F handle_request --collapse-recursion",
     "one function and what it calls"},
    {"cairn analyze hpctoolkit-app-measurements -o app.db -M stats",
     "what hpcprof does, with statistics over threads"},
    {"cairn analyze perf.data -o app.db", "samples of perf record -g"},
    {"mpirun -n 4 cairn analyze rank*.data -o run.db", "by four processes together"},
    {0},
};

const struct cn_command cn_cmd_analyze = {
    .name = "analyze",
    .section = CN_SECTION_RECORDING,
    .operands = "[DIR]...",
    .operand_max = CN_OPERANDS_MAX,
    .is_run_together = true,
    .summary = "turn recordings into a database of calling contexts",
    .description =
        "Adds up the calls of one or more recordings by calling context and thread: how "
        "often, how long, on a processor or not, and how durations are distributed. "
        "Writes an HPCToolkit v4.0 database, with a timeline for each thread, for "
        "cairn's views and hpcviewer.\n\n"
        "A store of request traces is taken like a recording: every trace, or those that "
        "match --query.\n\n"
        "Directories of measurements that hpcrun has made are converted as hpcprof does, "
        "with the same options.\n\n"
        "A file of samples that another tool has written (perf.data, the text of perf "
        "script, pprof, folded stacks, speedscope) becomes a database, too.\n\n"
        "Files and lines come from the recording and from debug information; source "
        "files "
        "that are found are copied into the database.\n\n"
        "DB appears when it is complete, and not at all when something fails. Damaged "
        "data is analysed up to the damage, with a warning; with --strict it is an "
        "error. The same recordings give the same bytes on any number of threads.\n\n"
        "Started by mpirun, the processes share the work: each reads some of the tasks "
        "or profiles, and all write parts of the same database, which is the same as "
        "that of one process. They need a file system that they share. One that fails "
        "ends all.",
    .examples = examples,
    .options = options,
    .run = run,
};
