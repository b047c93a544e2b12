/* cairn convert: a database or recording in another format. */

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/files/outdir.h"
#include "base/files/sink.h"
#include "base/host/disk_usage.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/convert/diff.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/shell/progress.h"
#include "cli/views/lens.h"
#include "formats/exchange/exchange.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/formats.h"
#include "open/host/target.h"

enum { JOBS_MAX = 1024 };

struct conversion {
    const struct cn_args *args;
    const char *source, *target;
    const struct cn_format *format;
    struct cn_write_options options;
    struct cn_lens lens;
    struct cn_opened opened;
    struct cn_database *db; /* of `opened`; this, the recording or traces are written */
    struct cn_recording *rec;
    bool has_traces; /* traces are written as they are */
    struct cn_bar bar;
    struct cn_text losses;  /* one line each */
    struct cn_error damage; /* of the recording */
};

static bool find_target_format(const char *name, const struct cn_format **out,
                               struct cn_error *err)
{
    const struct cn_format *format = name ? cn_format_find(name) : NULL;
    struct cn_text list = {0};

    if (format && cn_format_writes(format)) {
        *out = format;
        return true;
    }
    for (size_t i = 0; cn_formats[i]; i++) {
        if (cn_format_writes(cn_formats[i]))
            cn_text_printf(&list, "%s%s", list.len > 0 ? ", " : "", cn_formats[i]->name);
    }
    if (!name)
        (void)cn_fail(err, CN_ERR_USAGE, "--to is missing; cairn can write: %s",
                      cn_text_str(&list));
    else
        (void)cn_fail(err, CN_ERR_USAGE, "cannot write format '%s'; cairn can write: %s",
                      name, cn_text_str(&list));
    cn_text_done(&list);
    return false;
}

static bool check_target(const struct conversion *c, struct cn_error *err)
{
    /* The folder, of a file in one; an analysis is elsewhere. */
    const char *path = c->db && !c->opened.folder.path ? c->db->path
                       : c->rec                        ? c->rec->path
                                                       : c->source;

    if (!c->format->is_file && cn_sink_is_stdout(c->target))
        return cn_fail(err, CN_ERR_USAGE,
                       "%s is a folder; standard output needs a format of one file",
                       c->format->name);
    if (cn_sink_is_stdout(c->target))
        return !c->options.is_strict ||
               cn_fail(err, CN_ERR_USAGE,
                       "--strict needs a file: losses are known only at the end");
    return cn_target_check_source(c->target, path[0] ? path : c->source, false, err) &&
           cn_target_check(c->target, c->format, c->options.replace, err);
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    struct conversion *c = arg;

    cn_loss_print(&c->losses, count, what);
    cn_text_char(&c->losses, '\n');
}

/* Count values or tasks, for the message at the end. */
static bool count_items(struct conversion *c, uint64_t *out, struct cn_error *err)
{
    *out = c->rec && !c->db ? c->rec->task_count : 0;
    for (uint32_t i = 0; c->db && i < c->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(c->db, i, &profile, err))
            return false;
        *out += profile.value_count;
    }
    return true;
}

static void tell_result(const struct conversion *c, uint64_t item_count,
                        uint64_t elapsed_ns)
{
    struct cn_disk_usage usage = cn_disk_usage(c->target);
    struct cn_text text = {0};

    cn_size_print(&text, usage.bytes);
    cn_text_str_add(&text, " in ");
    cn_count_print_of(&text, usage.file_count, "file");
    cn_cli_say(c->args, "wrote %s: %s, %s", c->target, c->format->name,
               cn_text_str(&text));
    if (c->has_traces) {
        cn_text_done(&text);
        return;
    }
    cn_text_clear(&text);
    cn_count_print_of(&text, item_count, c->db ? "value" : "task");
    cn_text_str_add(&text, " in ");
    cn_duration_print(&text, elapsed_ns);
    if (c->db)
        cn_text_printf(&text, ", %.1f million a second",
                       (double)item_count * 1e3 / (double)(elapsed_ns + 1));
    cn_cli_detail(c->args, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

static bool write_to(struct conversion *c, const char *path, struct cn_error *err)
{
    bool ok;

    cn_bar_begin(&c->bar, c->args);
    c->options.progress = &c->bar.progress;
    if (c->db)
        ok = cn_format_write_database(c->format, c->db, path, &c->options, err) ||
             cn_args_misnamed(c->args, "metric", err);
    else if (c->has_traces)
        ok = cn_export_traces(c->format, c->opened.format, c->opened.source, path,
                              &c->options, err);
    else
        ok = cn_format_write_recording(c->format, c->rec, c->opened.options.is_raw, path,
                                       &c->options, err);
    cn_bar_end(&c->bar);
    cn_cli_warn_lines(c->args, cn_text_str(&c->losses));
    /* Errors of writing name the file; other errors are about the source. */
    if (!ok && err->kind != CN_ERR_IO && err->kind != CN_ERR_INTERRUPTED)
        (void)cn_fail_in(err, "%s", c->source);
    return ok;
}

/* Losses are known only at the end: write a temporary folder first. */
static bool write_strictly(struct conversion *c, struct cn_error *err)
{
    struct cn_outdir dir = {0};
    bool ok = cn_outdir_begin(&dir, c->target, c->options.replace, err);

    c->options.replace = true; /* the new folder */
    ok = ok && write_to(c, dir.path, err);
    if (ok && c->losses.len > 0)
        ok = cn_fail(err, CN_ERR_IO,
                     "%s is not written: data would be lost and --strict was given",
                     c->target);
    ok = ok && cn_outdir_commit(&dir, err);
    cn_outdir_abandon(&dir);
    return ok;
}

static bool write_target(struct conversion *c, struct cn_error *err)
{
    uint64_t begin_ns = cn_clock_ns(), item_count;

    if (!count_items(c, &item_count, err))
        return cn_fail_in(err, "%s", c->source);
    if (!(c->options.is_strict && !c->format->is_file ? write_strictly(c, err)
                                                      : write_to(c, c->target, err)))
        return false;
    if (!cn_sink_is_stdout(c->target))
        tell_result(c, item_count, cn_clock_ns() - begin_ns);
    if (c->db && cn_opened_is_damaged(&c->opened))
        return cn_fail(err, CN_ERR_FORMAT, "%s is damaged: %s is incomplete", c->source,
                       c->target);
    return c->damage.kind == CN_ERR_NONE ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%s is damaged and was written up to the damage: %s", c->source,
                   c->damage.text);
}

/* Open what the format can write. */
static bool load(struct conversion *c, unsigned wants, struct cn_error *err)
{
    if (!cn_cli_load(&c->opened, c->args, wants, err))
        return false;
    c->db = c->opened.db;
    c->rec = c->opened.rec;
    cn_cli_warn_opened(c->args, &c->opened);
    if (c->opened.whole)
        cn_view_lens_tell(c->args, &c->lens, c->opened.db);
    for (const struct cn_warning *w = c->rec ? c->rec->warnings : NULL; w; w = w->next)
        if (w->is_damage && c->damage.kind == CN_ERR_NONE)
            (void)cn_fail(&c->damage, CN_ERR_FORMAT, "%s", w->text);
    return true;
}

/* True if single calls lack what was recorded, and the format has room for it. */
static bool needs_memory(const struct conversion *c)
{
    return c->rec->has_heap && c->format->keeps_metrics && !c->options.counts_waits;
}

static bool open_source(struct conversion *c, struct cn_error *err)
{
    unsigned writes = cn_format_writes(c->format);
    bool has_lens = c->lens.count > 0, has_metric = c->options.metric != NULL;
    struct cn_open_options options = {.is_raw = cn_args_has(c->args, "raw"),
                                      .lens = &c->lens};

    c->lens.is_written = true;
    if (!cn_cli_open(&c->opened, c->args, c->source, 0, &options, err) ||
        !cn_cli_check_kinds(c->args, &c->opened, err))
        return false;
    bool has_calls = c->opened.contains & CN_CALLS;
    /* Calls that are made of samples do not stand for those that were recorded. */
    bool needs_costs = (has_lens || has_metric) && !c->format->keeps_states;
    if ((needs_costs || !has_calls) && (writes & CN_CONTEXTS))
        return load(c, CN_CONTEXTS, err);
    if (has_lens || has_metric)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s has single calls; --%s is for formats of costs, as folded and "
                       "pprof",
                       c->format->name,
                       cn_args_has(c->args, "my-code") ? "my-code"
                       : has_lens ? cn_lens_action_name(c->lens.rules[0].action)
                                  : "metric");
    c->has_traces = c->opened.format->walk_traces && (writes & CN_TRACES);
    if (c->has_traces)
        return true;
    if (has_calls && (writes & CN_CALLS))
        return load(c, CN_CALLS, err) && (!needs_memory(c) || load(c, CN_CONTEXTS, err));
    if (has_calls && c->format->write_database)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s contains calls, and %s is a format of databases; run 'cairn "
                       "analyze %s -o DB' first",
                       c->source, c->format->name, c->source);
    return cn_fail(err, CN_ERR_USAGE, "%s (%s) cannot be written as %s", c->source,
                   c->opened.format->holds, c->format->name);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    bool is_diff = cn_args_has(args, "diff");
    struct conversion c = {
        .args = args,
        .source = cn_args_operand(args, 0),
        .target = cn_args_operand(args, 1),
        .options = {.replace = cn_args_has(args, "force"),
                    .without_timelines = cn_args_has(args, "no-traces"),
                    .without_sources = cn_args_has(args, "no-sources"),
                    .is_strict = cn_args_has(args, "strict"),
                    .metric = cn_args_value(args, "metric"),
                    .counts_waits = cn_args_has(args, "waits"),
                    .on_loss = on_loss,
                    .on_loss_arg = &c,
                    .damage = &c.damage},
    };
    uint64_t jobs;

    if (!cn_args_exclusive(args, "waits", "metric", err) ||
        !find_target_format(cn_args_value(args, "to"), &c.format, err) ||
        !cn_args_u64(args, "jobs", 1, JOBS_MAX, 0, &jobs, err))
        return false;
    if (cn_args_count(args) != (is_diff ? 3 : 2))
        return cn_fail(err, CN_ERR_USAGE, "expected %s",
                       is_diff ? "--diff A B DST" : "SRC DST");
    if (is_diff)
        return cn_convert_diff(args, c.format, err);
    c.options.workers = (unsigned)jobs;
    bool ok = cn_view_lens_parse(&c.lens, args, err) && open_source(&c, err) &&
              check_target(&c, err) && write_target(&c, err);
    cn_opened_close(&c.opened);
    cn_lens_done(&c.lens);
    cn_text_done(&c.losses);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("to", 0, "NAME", "the format of DST; see cairn formats"),
    CN_OPTION("force", 'f', NULL, "replace DST if it exists"),
    CN_OPTION("metric", 0, "NAME",
              "the metric to write if the format has only one (default: the first; of "
              "time, running time); with --diff, the one to compare"),
    CN_OPTION("waits", 0, NULL,
              "formats that add up times: count waiting (blocked, pre-empted) for the "
              "call that waits, instead of running time alone"),
    CN_OPTION("diff", 0, NULL,
              "write the comparison of A and B as folded stacks with two values, or as a "
              "pprof profile with A as its base"),
    CN_OPTION_FOR(CN_FOR_COSTS, "no-traces", 0, NULL, "write no timelines"),
    CN_OPTION_FOR(CN_FOR_COSTS, "no-sources", 0, NULL, "do not copy source files"),
    CN_RECORDING_RAW_OPTION,
    CN_VIEW_LENS_OPTIONS,
    CN_OPTION("strict", 0, NULL, "write nothing if anything would be lost"),
    CN_OPTION("jobs", 'j', "N", "use N threads (default: one per processor)"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn convert old.db new.db --to hpctoolkit-v4", "rewrite a database"},
    {"cairn convert run.db small.db --to hpctoolkit-v4 --no-traces --no-sources",
     "drop timelines and source files"},
    {"cairn convert uftrace.data small.data --to uftrace-packed",
     "pack a recording to a tenth of its size"},
    {"cairn convert uftrace.data trace.json.gz --to chrome",
     "open a recording in Perfetto"},
    {"cairn convert run.db - --to folded | less", "print the stacks of a database"},
    {"cairn convert --diff old.data new.data - --to folded | flamegraph.pl >diff.svg",
     "draw a differential flame graph"},
    {"cairn convert --diff old.data new.data diff.pprof --to pprof",
     "open a comparison in pprof"},
    {0},
};

const struct cn_command cn_cmd_convert = {
    .name = "convert",
    .operands = "SRC... DST",
    .operand_min = 2,
    .operand_max = 3,
    .scope = CN_FOR_DATA,
    .summary = "convert a database or recording to another format",
    .description =
        "Reads the database or recording SRC and writes DST in the format of --to. "
        "Measurements are analysed first. Traces of a store or of a file of spans keep "
        "their ids in formats of spans (otlp, otlp-json, zipkin). If the format is one "
        "file, DST may be - for "
        "standard output, and is compressed if its name ends in .gz or .zst. DST is "
        "created when it is complete; after a failure there is no DST. What the format "
        "cannot represent is listed on standard error; with --strict it is an error. A "
        "damaged source is written up to the damage; the exit status is then 3.\n\n"
        "Of a recording, the times that formats add up (folded, pprof, callgrind, "
        "flame graphs, speedscope, total_ns and self_ns of tables) are corrected for the "
        "cost of recording, as in report; --raw writes recorded ones. The times that "
        "place "
        "calls (chrome, perfetto, firefox, otlp, zipkin, begin_ns and end_ns of tables) "
        "are recorded times.\n\n"
        "Formats of stacks with costs (folded, pprof, callgrind, flame graphs, graphs) "
        "count running time, or with --waits all time. Formats that place calls show "
        "waiting where it happened, as a call of linux:schedule. Of a recording "
        "with --memory, a pprof profile has all metrics; with --waits or --metric only "
        "time or that one.\n\n"
        "With --diff, A and B are compared as by cairn diff, and written as folded "
        "stacks "
        "with the costs of A and B on each line, or as a pprof profile in which samples "
        "of "
        "A are negative and have the label pprof::base.",
    .examples = examples,
    .options = options,
    .run = run,
};
