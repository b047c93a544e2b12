/* cairn dump: what the files of a database or recording hold, one structure after
 * another. */

#include "cli/database/dump_database.h"
#include "cli/recording/dump_exchange.h"
#include "cli/recording/dump_recording.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "formats/formats.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *operand = cn_args_count(args) > 0 ? cn_args_operand(args, 0) : NULL;
    const char *path = cn_recording_path(args, operand);
    const struct cn_format *exchange = cn_dump_exchange_format(args);
    const struct cn_format *format;

    if (exchange)
        return cn_dump_exchange(args, path, exchange, err);
    if (!cn_dump_exchange_check(args, err) || !cn_format_probe(path, &format, err))
        return false;
    return format->open_recording || format->open_traces
               ? cn_dump_recording(args, path, err)
               : cn_dump_database(args, path, err);
}

static const struct cn_option options[] = {
    {.name = "format",
     .value = "text|json|csv|chrome|flame-graph|graphviz|mermaid",
     .help = "structures as text (the default), JSON or CSV; or a whole recording for "
             "other tools, as uftrace writes it"},
    {.name = "hex", .help = "of a recording, the bytes of each record too"},
    {.name = "file", .value = "NAME", .help = "only this file"},
    {.name = "record", .value = "NAME", .help = "only structures of this name"},
    {.name = "limit", .letter = 'n', .value = "N", .help = "stop after N structures"},
    {.name = "fields",
     .help = "one line a field: its offset, type, name, value and meaning"},
    CN_RECORDING_OPTIONS,
    {.name = "sample-time",
     .value = "TIME",
     .help = "of a flame graph, what counts as one sample (default: 1us)"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn dump run.db", "see every structure of every file"},
    {"cairn dump run.db --record metric --fields", "see what metrics are made of"},
    {"cairn dump --format chrome > trace.json", "look at a recording in Chrome"},
    {"cairn dump run.db --file trace.db -n 20", "see the beginning of one file"},
    {0},
};

const struct cn_command cn_cmd_dump = {
    .name = "dump",
    .section = CN_SECTION_FILES,
    .operands = "[PATH]",
    .operand_max = 1,
    .summary = "print every structure of a file, with offsets and field names",
    .description =
        "Prints a line for each structure of a database, made to be searched with "
        "grep:\n\n"
        "  FILE OFFSET RECORD[INDEX] FIELD=VALUE ... \"TEXT\"\n\n"
        "INDEX counts in the array the structure is part of; TEXT is the name it points "
        "at. Fields that hold offsets are shown like OFFSET. CSV has a row for each "
        "field, since structures do not all have the same.\n\n"
        "Of a recording it prints every record of every file as uftrace dump does; "
        "without a path, of the recording in cairn.data, else in uftrace.data.\n\n"
        "chrome, flame-graph, graphviz and mermaid write the calls of a recording, "
        "filtered as in replay, as uftrace does; cairn convert knows more formats, and "
        "keeps more in each.\n\n"
        "When a file is damaged, everything before the damage is printed.",
    .examples = examples,
    .options = options,
    .run = run,
};
