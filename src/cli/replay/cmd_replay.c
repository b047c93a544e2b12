/* cairn replay: the calls of a recording in the order of time. */

#include <unistd.h>

#include "analyze/calls/clock.h"
#include "analyze/calls/replay.h"
#include "cli/recording/options.h"
#include "cli/replay/print.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "model/calls/recording.h"

enum { COLUMN_OFFSET = 8, COLUMN_OFFSET_MAX = 1000 };

static bool set_up_printer(struct cn_replay_printer *printer,
                           struct cn_recording_setup *setup, const char *fields,
                           struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    const struct cn_time_range *range = &setup->query.range;
    uint64_t offset;

    *printer = (struct cn_replay_printer){
        .query = &setup->query,
        .first_field = CN_FIELD_COUNT,
        .is_flat = cn_args_has(args, "flat"),
        .has_srcline = cn_args_has(args, "srcline"),
        .without_comments = cn_args_has(args, "no-comment"),
        .without_sites = cn_args_has(args, "no-callsite"),
        .has_libnames = cn_args_has(args, "libname"),
        .has_task_lines = cn_args_has(args, "task-newline"),
        .has_columns = cn_args_has(args, "column-view"),
        .has_color = cn_cli_has_color(args),
    };
    if (!cn_replay_fields_parse(printer, fields, err) ||
        !cn_args_u64(args, "column-offset", 0, COLUMN_OFFSET_MAX, COLUMN_OFFSET, &offset,
                     err))
        return false;
    printer->column_offset = (uint32_t)offset;
    /* With --time-range, show the time as it was given. */
    if (range->first_ns > 0 || range->last_ns < UINT64_MAX)
        printer->first_field = setup->is_range_elapsed ? CN_FIELD_ELAPSED : CN_FIELD_TIME;
    if (printer->has_field[CN_FIELD_ELAPSED] || setup->is_range_elapsed)
        setup->start_ns = cn_call_query_start(&setup->query);
    printer->start_ns = setup->start_ns;
    return true;
}

bool cn_replay_show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    const char *fields = arg ? arg : cn_recording_setup_default(setup, "output-fields");
    struct cn_replay_printer printer;
    struct cn_call_replay result;
    struct cn_replay_options options = {
        .is_flat = cn_args_has(args, "flat"),
        .without_merge = cn_args_has(args, "no-merge") || cn_args_has(args, "flat"),
        .without_arguments = cn_args_has(args, "no-args"),
    };
    bool ok;

    if (!set_up_printer(&printer, setup, fields, err))
        return false;
    if (isatty(STDERR_FILENO) && cn_call_clock_is_needed(setup->rec))
        cn_cli_say(args, "times are as recorded; report and graph subtract the cost of "
                         "recording");
    cn_cli_page(args);
    cn_replay_print_begin(&printer);
    ok = cn_call_replay_run(&result, &setup->query, &options, cn_replay_print_line,
                            &printer, err);
    cn_replay_print_end(&printer, &result);
    ok = ok && cn_recording_setup_result(setup, &result.damages, err);
    cn_call_replay_done(&result);
    cn_replay_print_done(&printer);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *fields = cn_args_value(args, "output-fields");
    struct cn_recording_source source = {.is_raw = true};

    return cn_data_path(args, cn_args_find_operand(args, 0), &source.path, err) &&
           cn_recording_show(args, &source, cn_replay_show, (void *)(uintptr_t)fields,
                             err);
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_FIELDS_OPTION(
        "columns: duration, tid, addr, time, delta, elapsed, task, module, all, none; "
        "+FIELD adds to the default (duration,tid)"),
    CN_RECORDING_REPLAY_OPTIONS,
    CN_RECORDING_SRCLINE_OPTION,
    CN_RECORDING_HTML_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn replay", "show the last recording in this folder"},
    {"cairn replay run.data -F main -D 3 -t 10us", "show the outline of main"},
    {"cairn replay run.data -r 100us~2ms -f +delta", "show a time range"},
    {"cairn replay run.data -T malloc@if:arg1>4096,backtrace",
     "find the callers of large allocations"},
    {0},
};

const struct cn_command cn_cmd_replay = {
    .name = "replay",
    .operands = "[DIR]",
    .operand_max = 1,
    .scope = CN_FOR_CALLS,
    .summary = "show the calls of a recording in order of time",
    .description =
        "Prints entries, exits and events of all tasks, indented by depth, with the "
        "recorded duration of each call. Options, names and layout are those of uftrace "
        "replay.\n\n"
        "A pattern is a regular expression, or with --match=glob a shell pattern; a "
        "pattern without special characters is the name of a function.\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
