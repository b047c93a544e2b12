/* cairn info: what a database or a recording is, and what is in it. */

#include <string.h>

#include "cli/files/info.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/info_store.h"
#include "formats/formats.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_recording_path(args, cn_args_find_operand(args, 0));
    const struct cn_format *format;

    if (!cn_format_probe(path, &format, err))
        return false;
    if (strcmp(format->holds, "traces") == 0)
        return cn_info_store(args, path, err);
    return format->open_recording || format->open_traces
               ? cn_info_recording(args, path, err)
               : cn_info_database(args, format, path, err);
}

static const struct cn_option options[] = {
    CN_RECORDING_DATA_OPTION,
    {.name = "task", .help = "of a recording, its tasks instead of the run"},
    {.name = "symbols", .help = "of a recording, the functions of its modules instead"},
    CN_RECORDING_DEMANGLE_OPTION,
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn info run.db", "see what a database holds"},
    {"cairn info run.db --format json | jq .thread_count", "ask for one number"},
    {"cairn info hpctoolkit-app-measurements", "see what was measured"},
    {"cairn info uftrace.data --task", "list the tasks of a recording"},
    {0},
};

const struct cn_command cn_cmd_info = {
    .name = "info",
    .section = CN_SECTION_VIEW,
    .operands = "[PATH]",
    .operand_max = 1,
    .summary = "tell what a database or recording is and what it holds",
    .description =
        "Of a database: the files and their sizes, the threads by the kinds of ids that "
        "identify "
        "them, the metrics with their scopes and statistics, the columns that views show "
        "by default, the number of contexts, functions, files, modules and values, and "
        "the time that the timelines span.\n\n"
        "Only headers are read, so the answer is quick for a database of any size. "
        "Contexts are not counted: \"context ids\" is the declared number, which "
        "includes those that were left out when the database was written.\n\n"
        "Of a measurement directory: the same for the database that cairn analyze makes "
        "of it, the load modules that were sampled, and profiles that cannot be read.\n\n"
        "Of a recording: what is known about the machine, the command and the processes, "
        "as uftrace info shows it. Without a path it is the recording in cairn.data, "
        "else in uftrace.data.\n\n"
        "Of a trace store: its segments, traces, spans and records, the time they cover, "
        "and the bytes they take.",
    .examples = examples,
    .options = options,
    .run = run,
};
