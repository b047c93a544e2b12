/* cairn without a command: the overview and the version. */

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_text text = {0};

    if (cn_args_count(args) > 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "the options of a command follow its name: cairn %s [OPTION]...",
                       cn_args_operand(args, 0));
    if (cn_args_has(args, "version"))
        cn_text_str_add(&text, "cairn " CN_VERSION "\n");
    else
        cn_cli_add_help(args, &cn_program, &text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    {.name = "version", .letter = 'V', .help = "show the version of cairn"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn", "list the commands"},
    {"cairn help completion", "tell more about one of them"},
    {0},
};

const struct cn_command cn_program = {
    .name = "cairn",
    .operands = "COMMAND [OPTION]... [OPERAND]...",
    .operand_max = CN_OPERANDS_MAX,
    .summary = "a toolkit for call-path performance data",
    .description =
        "cairn opens, checks, converts and shows performance databases: calling contexts "
        "with their metrics, and timelines of the threads that ran through them.\n\n"
        "Results go to standard output, talk goes to standard error. On a terminal the "
        "results are shown in a pager; off a terminal there is no pager, no colour and "
        "no progress bar. Commands that print data print it as text, as JSON or as CSV.\n"
        "\n"
        "Databases are read where they lie and never changed. A number in a file is "
        "believed only after it was checked; what is wrong is said with the file, the "
        "record and the value.",
    .examples = examples,
    .options = options,
    .run = run,
};
