/* cairn symbolize: put names of functions into a perf.data file. */

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "formats/exchange/perf/symbolize.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0), *target = cn_args_value(args, "output");
    struct cn_values folders = cn_args_values(args, "with");
    struct cn_perf_symbolized result;

    for (size_t i = 0; i < folders.count; i++)
        if (!cn_path_is_folder(folders.list[i]))
            return cn_fail(err, CN_ERR_USAGE, "--with: '%s' is not a folder",
                           folders.list[i]);
    if (!cn_perf_symbolize(path, target ? target : path, folders.list, folders.count,
                           &result, err))
        return false;
    cn_cli_say(args, "%s: names of %zu addresses, %zu of them with lines",
               target ? target : path, result.count, result.line_count);
    for (char *rest = result.hints, *line; (line = strsep(&rest, "\n"));)
        if (*line)
            cn_cli_say(args, "%s", line);
    free(result.hints);
    if (result.left_out > 0)
        cn_cli_warn(args, "names of %zu addresses are left out: there are too many",
                    result.left_out);
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION_LIST(
        "with", 0, "FOLDER",
        "look for programs and debug files in FOLDER and below it, by build-id, "
        "or by name if a program has no build-id"),
    CN_OPTION("output", 'o', "FILE", "write FILE (default: the file itself)"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn symbolize perf.data --with unstripped/",
     "name functions of stripped programs"},
    {"DEBUGINFOD_URLS=https://debuginfod.debian.net cairn symbolize perf.data",
     "ask a server for debug information"},
    {0},
};

const struct cn_command cn_cmd_symbolize = {
    .name = "symbolize",
    .operands = "FILE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "store names of functions in a perf.data file",
    .description =
        "Finds the functions, lines and inlined calls of all addresses in a perf.data "
        "file, of "
        "cairn sample or of perf, and stores them in it: machines without the programs "
        "show "
        "the same functions. Names that the file contains stay; names that are missing "
        "are "
        "looked for in the programs, in their debug files, in folders (--with) and on "
        "servers of debuginfod. perf reads the file as before.",
    .examples = examples,
    .options = options,
    .run = run,
};
