/* cairn report: time and calls per function of a recording. */

#include <stdlib.h>

#include "analyze/calls/report.h"
#include "analyze/calls/tasks.h"
#include "cli/recording/options.h"
#include "cli/report/print.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "model/calls/recording.h"

static bool report_tasks(struct cn_recording_setup *setup, struct cn_error *err)
{
    struct cn_call_tasks tasks;

    cn_call_tasks_build(&tasks, &setup->query, setup->workers);
    cn_recording_tell_base(setup, "cairn flat");
    bool ok = cn_report_print_tasks(setup, &tasks, err) &&
              cn_recording_setup_result(setup, &tasks.damages, err);
    cn_call_tasks_done(&tasks);
    return ok;
}

/* Compare with the same report of the recording `path`. */
static bool compare(struct cn_recording_setup *setup,
                    const struct cn_report_layout *layout,
                    const struct cn_call_report *base, const char *path,
                    struct cn_error *err)
{
    struct cn_recording_setup other;
    struct cn_call_report report = {0};
    bool ok =
        cn_recording_setup_open(&other, setup->args,
                                &(struct cn_recording_source){.path = path}, err) &&
        cn_call_report_build(&report, &other.query, other.workers, layout->needs, err) &&
        cn_report_print_diff(setup, layout, base, other.rec, &report, err) &&
        cn_recording_setup_result(&other, &report.damages, err);

    cn_call_report_done(&report);
    cn_recording_setup_done(&other);
    return ok;
}

bool cn_report_show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    const char *fields = arg ? arg : cn_recording_setup_default(setup, "output-fields");
    const char *other = cn_args_value(args, "diff");
    const char *histogram = cn_args_value(args, "histogram");
    struct cn_report_layout layout;
    struct cn_call_report report = {0};
    bool ok;

    if (cn_args_has(args, "task"))
        return report_tasks(setup, err);
    if (!cn_report_layout_parse(&layout, fields, cn_recording_setup_value(setup, "sort"),
                                cn_args_has(args, "avg-total"),
                                cn_args_has(args, "avg-self"), err))
        return false;
    layout.needs.with_histograms |= histogram != NULL;
    if (layout.needs.with_moments && other)
        return cn_fail(err, CN_ERR_USAGE, "--diff has no fields that end with -ts");
    if (layout.needs.with_processors && other)
        return cn_fail(err, CN_ERR_USAGE, "--diff has no fields that begin with cpu-");
    ok = cn_call_report_build(&report, &setup->query, setup->workers, layout.needs, err);
    if (ok && !histogram && !other)
        cn_recording_tell_base(setup, "cairn flat");
    if (ok && histogram) {
        ok = cn_report_print_histogram(args, &report, histogram, err);
    } else if (ok && other) {
        ok = compare(setup, &layout, &report, other, err);
    } else if (ok) {
        cn_report_sort(&layout, setup->rec, report.rows, report.row_count);
        cn_report_print(args, &layout, setup->rec, &report, cn_args_has(args, "srcline"));
    }
    if (ok && (histogram || other))
        cn_recording_tell_base(setup, "cairn flat");
    if (ok)
        cn_cli_warn_lost(args, report.lost_count);
    ok = ok && cn_recording_setup_result(setup, &report.damages, err);
    cn_call_report_done(&report);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *fields = cn_args_value(args, "output-fields");
    struct cn_recording_source source = {0};

    return cn_cli_fit(args, err) &&
           cn_data_path(args, cn_args_find_operand(args, 0), &source.path, err) &&
           cn_recording_show(args, &source, cn_report_show, (void *)(uintptr_t)fields,
                             err);
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_FIELDS_OPTION(
        "columns: total, total-avg, total-min, total-max, total-stdv, p50, p90, p99, "
        "p99.9, the same for self, call, size, all, none; +FIELD adds to the default "
        "(total,self,call). total-min-ts, total-max-ts, self-min-ts, self-max-ts: when "
        "the shortest and longest call began; all times are then as recorded. With "
        "--task: total, self, tid, func, and wall, running, blocked, pre-empted, "
        "no-data, outside"),
    CN_RECORDING_REPORT_OPTIONS,
    CN_OPTION("histogram", 0, "FUNC", "show the distribution of the total times of FUNC"),
    CN_OPTION("diff", 0, "DIR", "compare with the recording DIR"),
    CN_OPTION("diff-policy", 0, "POLICY,...",
              "abs or no-abs (sort by the absolute or the signed change), percent or "
              "no-percent, compact or full"),
    CN_OPTION("sort-column", 0, "N",
              "sort by the recording (0), by DIR (1) or by the change (2, the default)"),
    CN_RECORDING_SRCLINE_OPTION,
    CN_RECORDING_THREADS_OPTION,
    CN_OPTION_WIDTH,
    CN_OPTION("format", 0, "text|json|csv|html",
              "print as aligned text (the default), as JSON, as CSV, or as an HTML page"),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn report", "show where time is spent"},
    {"cairn report run.data -f +p50,p99 -s p99",
     "find functions that are sometimes slow"},
    {"cairn report run.data --histogram handle_request",
     "show the distribution of its times"},
    {"cairn report old.data --diff new.data", "find what became slower"},
    {"cairn report run.data --task -f tid,wall,running,blocked,outside",
     "show what each task waited"},
    {0},
};

const struct cn_command cn_cmd_report = {
    .name = "report",
    .operands = "[DIR]",
    .operand_max = 1,
    .scope = CN_FOR_CALLS,
    .summary = "show time and calls per function of a recording",
    .description =
        "Total is the time from entry to exit of a function, including everything it "
        "calls; self is the time in the function alone. The total of a recursive "
        "function counts the outermost call only. Calls that never returned end with the "
        "recording.\n\n"
        "Times are corrected for the cost of recording; --raw shows them as recorded. "
        "Deviations are standard errors of the mean, in percent of it. Percentiles come "
        "from logarithmic buckets and are accurate to 2.8 "
        "%.\n\n"
        "With --task, the wall time of the recording is what a task was running, blocked "
        "and pre-empted, inside calls or not, and no-data, the time before its first and "
        "after its last record. outside is waiting while no call was open, which no "
        "function has. They are unknown without scheduler "
        "events.\n\n" CN_RECORDING_THREADS_TEXT "\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
