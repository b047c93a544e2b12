/* cairn dump: every structure in the files of a database or recording. */

#include <inttypes.h>
#include <string.h>

#include "base/duration.h"
#include "base/text.h"
#include "cli/dump/dump.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "formats/exchange/exchange.h"

static void on_loss(void *arg, const char *what, uint64_t count)
{
    struct cn_text text = {0};

    cn_loss_print(&text, count, what);
    cn_cli_detail(arg, "%s", cn_text_str(&text));
    cn_text_done(&text);
}

/* Write the calls of a recording in a format of another tool; `arg` is the format. */
static bool dump_calls(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const struct cn_format *format = arg;
    const char *sample = cn_args_value(setup->args, "sample-time");
    struct cn_write_options options = {
        .workers = setup->workers,
        .without_values = cn_args_has(setup->args, "no-args"),
        .on_loss = on_loss,
        .on_loss_arg = (void *)(uintptr_t)setup->args,
    };

    if (sample && !cn_duration_parse(sample, CN_BARE_NS, &options.unit_ns, err))
        return cn_fail_in(err, "--sample-time");
    cn_cli_page(setup->args);
    return cn_export_calls(format, &setup->query, "-", &options, err) ||
           cn_fail_in(err, "%s", setup->rec->path);
}

/* The format of another tool that --format names; NULL for text, JSON and CSV. */
static const struct cn_format *find_foreign(const struct cn_args *args)
{
    const char *name = cn_args_value(args, "format");

    for (size_t i = 0; name && cn_dump_formats[i]; i++)
        if (strcmp(cn_dump_formats[i]->name, name) == 0)
            return cn_dump_formats[i];
    return NULL;
}

/* Some options are for structures only. */
static bool check_options(const struct cn_args *args, const struct cn_format *foreign,
                          struct cn_error *err)
{
    static const char *const of_structures[] = {"hex", "file", "record", "limit",
                                                "fields"};

    for (size_t i = 0; foreign && i < sizeof(of_structures) / sizeof(*of_structures); i++)
        if (cn_args_has(args, of_structures[i]))
            return cn_fail(err, CN_ERR_USAGE, "--%s cannot be combined with --format %s",
                           of_structures[i], foreign->name);
    return foreign || !cn_args_has(args, "sample-time") ||
           cn_fail(err, CN_ERR_USAGE, "--sample-time needs --format flame-graph");
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_format *foreign = find_foreign(args);
    struct cn_recording_source source = {.is_raw = !foreign};
    struct cn_opened opened;

    if (!check_options(args, foreign, err) ||
        !cn_data_path(args, cn_args_find_operand(args, 0), &source.path, err))
        return false;
    if (foreign)
        return cn_recording_show(args, &source, dump_calls, (void *)(uintptr_t)foreign,
                                 err);
    if (!cn_recording_find(&opened, args, source.path, err))
        return false;
    if ((opened.contains & CN_CALLS) && cn_args_find_filter(args))
        return cn_recording_show_found(args, &source, &opened, cn_dump_calls, NULL, err);
    bool ok = cn_cli_check_kinds(args, &opened, err) &&
              (opened.contains & CN_CALLS ? cn_dump_recording(args, &opened, err)
                                          : cn_dump_database(args, &opened, err));
    cn_opened_close(&opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("format", 0, "text|json|csv|chrome|flame-graph|graphviz|mermaid",
              "print structures as text (the default), those of a database also as JSON "
              "or CSV, or a recording for another tool, as uftrace dump does"),
    CN_OPTION_FOR(CN_FOR_CALLS, "hex", 0, NULL, "also print the bytes of each record"),
    CN_OPTION("file", 0, "NAME", "print only this file"),
    CN_OPTION("record", 0, "NAME", "print only structures of this name"),
    CN_OPTION("limit", 'n', "N", "stop after N structures"),
    CN_OPTION("fields", 0, NULL,
              "print one line per field: offset, type, name, value and meaning"),
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_OPTION_FOR(CN_FOR_CALLS, "no-args", 0, NULL, "no arguments and return values"),
    CN_OPTION_FOR(CN_FOR_CALLS, "sample-time", 0, "TIME",
                  "with --format flame-graph: the time of one sample (default: 1us)"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn dump run.db", "print every structure of every file"},
    {"cairn dump run.db --record metric --fields", "print the fields of metrics"},
    {"cairn dump --format chrome > trace.json", "open a recording in Chrome or Perfetto"},
    {"cairn dump run.db --file trace.db -n 20", "print the beginning of one file"},
    {0},
};

const struct cn_command cn_cmd_dump = {
    .name = "dump",
    .operands = "[PATH]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "print every structure of a file, with offsets and field names",
    .description =
        "Prints a line per structure of a database, to be searched with grep:\n\n"
        "  FILE OFFSET RECORD[INDEX] FIELD=VALUE ... \"TEXT\"\n\n"
        "INDEX is the index in an array, TEXT the name that the structure points to. "
        "Fields that are offsets are printed like OFFSET. CSV has a row per field, since "
        "structures differ in their fields.\n\n"
        "For a recording, it prints every record of every file, as uftrace dump does; "
        "without a path, for cairn.data, else uftrace.data. With filters, it prints the "
        "records of the calls that replay shows.\n\n"
        "chrome, flame-graph, graphviz and mermaid write the calls of a recording, "
        "filtered as in replay, as uftrace does; chrome at recorded times, the others "
        "add up "
        "corrected ones. cairn convert has more formats and "
        "writes more data.\n\n"
        "Of a damaged file, everything before the damage is printed.",
    .examples = examples,
    .options = options,
    .run = run,
};
