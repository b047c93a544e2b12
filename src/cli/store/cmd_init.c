/* cairn store init: create a store. */

#include <string.h>

#include "base/duration.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/write/writer.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *dialect = cn_args_value(args, "dialect");
    const char *rotate_time = cn_args_value(args, "rotate-time");
    struct cn_store_options options = {
        .dialect =
            dialect && strcmp(dialect, "java") == 0 ? CN_STORE_JAVA : CN_STORE_SPEC,
        .form = cn_compression_option(args),
    };

    if (rotate_time &&
        !cn_duration_parse(rotate_time, CN_BARE_REFUSED, &options.rotate_ns, err))
        return cn_fail_in(err, "--rotate-time");
    if (!cn_size_option(args, "rotate-size", &options.rotate_len, err) ||
        !cn_store_init(cn_args_operand(args, 0), &options, err))
        return false;
    cn_cli_detail(args, "created %s", cn_args_operand(args, 0));
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("dialect", 0, "spec|java",
              "format of the traces: as specified (default), or readable by the "
              "original Java tools"),
    CN_OPTION_COMPRESSION("spans by column (columns, default)"),
    CN_OPTION("rotate-size", 0, "SIZE",
              "start a new segment at this size, such as 256M (default)"),
    CN_OPTION("rotate-time", 0, "TIME",
              "start a new segment at this age, such as 1d (default: any age)"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store init traces", "create a store in a new directory"},
    {"cairn store init traces --rotate-time=1d", "segments of at most a day"},
    {0},
};

const struct cn_command cn_cmd_store_init = {
    .name = "store init",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "create an empty store",
    .description = "Creates the directory, with the settings in its config.props.",
    .examples = examples,
    .options = options,
    .run = run,
};
