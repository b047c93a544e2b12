/* cairn without a command: where to start, and the version. */

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
        cn_cli_add_help(args, NULL, &text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("version", 'V', NULL, "print the version of cairn"),
    {0},
};

/* What newcomers need, also printed by `cairn` alone. */
static const struct cn_example examples[] = {
    {"cairn sample -- ./program", "sample any program: where does it spend its time?"},
    {"cairn view", "look at what was recorded last in the browser"},
    {"cairn tree", "look at it here: callers, callees and their times"},
    {"cairn record -- ./program", "record every call of a program built with -pg"},
    {"cairn diff old.data new.data", "find what made the new run slower"},
    {"cairn store search shop 'duration > 1s'", "search stored request traces"},
    {0},
};

const struct cn_command cn_program = {
    .name = "cairn",
    .operands = "COMMAND [OPTION]... [OPERAND]...",
    .operand_max = CN_OPERANDS_MAX,
    .program = "",
    .summary = "a toolkit for call-path performance data",
    .description =
        "cairn records, analyses, stores, converts and shows performance data: "
        "recordings "
        "of calls, databases of calling contexts with metrics and timelines, and stores "
        "of request traces.\n\n"
        "Results are printed on standard output, messages on standard error. On a "
        "terminal, results are shown in a pager; elsewhere there is no pager, no colour "
        "and no progress bar. Commands that print data print it as text, JSON or CSV.\n"
        "\n"
        "In every view, total is the cost of a function with everything it calls, self "
        "is the cost of the function alone.\n\n"
        "Input is never changed. Every number in a file is checked before it is used; an "
        "error names the file, the record and the value.",
    .examples = examples,
    .options = options,
    .run = run,
};
