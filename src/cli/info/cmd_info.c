/* cairn info: summary of a database, recording or store. */

#include "cli/info/info.h"
#include "cli/recording/options.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_opened opened;
    const char *path;

    if (cn_args_has(args, "system")) {
        cn_info_machine(args);
        return true;
    }
    if (!cn_data_path(args, cn_args_find_operand(args, 0), &path, err) ||
        !cn_recording_find(&opened, args, path, err))
        return false;
    bool ok = cn_cli_check_kinds(args, &opened, err) &&
              (opened.contains & CN_TRACES  ? cn_info_store(args, path, err)
               : opened.contains & CN_CALLS ? cn_info_recording(args, &opened, err)
                                            : cn_info_database(args, &opened, err));
    cn_opened_close(&opened);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORDING_DATA_OPTION,
    CN_OPTION_FOR(CN_FOR_RECORDINGS, "task", 0, NULL, "list the tasks"),
    CN_OPTION_FOR(CN_FOR_RECORDINGS, "symbols", 0, NULL,
                  "list the functions of each module"),
    CN_OPTION("system", 0, NULL, "describe this machine; no PATH is read"),
    CN_RECORDING_DEMANGLE_OPTION,
    CN_OPTION_FORMAT,
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn info run.db", "summarise a database"},
    {"cairn info run.db --format json | jq .thread_count", "print one number"},
    {"cairn info hpctoolkit-app-measurements", "summarise measurements"},
    {"cairn info uftrace.data --task", "list the tasks of a recording"},
    {0},
};

const struct cn_command cn_cmd_info = {
    .name = "info",
    .operands = "[PATH]",
    .operand_max = 1,
    .scope = CN_FOR_DATA,
    .summary = "summarise a database, recording or store",
    .description =
        "Databases: files and their sizes, threads by the kinds of their identifiers, "
        "metrics with their scopes and statistics, the default columns of views, the "
        "number of contexts, functions, files, modules and values, and the time that the "
        "timelines span.\n\n"
        "Only headers are read, so this is fast for a database of any size. \"context "
        "ids\" is the declared number, which includes contexts that were dropped when "
        "the "
        "database was written.\n\n"
        "Measurement directories: the same for the database that cairn analyze writes, "
        "the load modules, and profiles that cannot be read.\n\n"
        "Recordings: the machine, the command and the processes, as uftrace info. "
        "Without "
        "a path: cairn.data, else uftrace.data. Of long tasks only the last MiB of "
        "records "
        "is read to find damage; cairn verify reads all.\n\n"
        "Stores: segments, traces, spans and records, the time they cover, and their "
        "size.",
    .examples = examples,
    .options = options,
    .run = run,
};
