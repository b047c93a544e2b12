/* cairn help: what --help shows, the manual pages, and the names of the commands. */

#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/man.h"

static void print_names(struct cn_text *text)
{
    for (size_t i = 0; cn_commands[i]; i++)
        cn_text_printf(text, "%s\n", cn_commands[i]->name);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_command *command = &cn_program;
    bool wants_list = cn_args_has(args, "list"), wants_man = cn_args_has(args, "man");
    struct cn_text text = {0};

    if (wants_list && (wants_man || cn_args_count(args) > 0))
        return cn_fail(err, CN_ERR_USAGE,
                       "--list goes neither with --man nor with a command");
    if (cn_args_count(args) > 0 &&
        !cn_command_choose(cn_args_operand(args, 0), &command, err))
        return false;
    if (wants_list)
        print_names(&text);
    else if (wants_man)
        cn_man_print(&text, command);
    else
        cn_cli_add_help(args, command, &text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    {.name = "man", .help = "print the manual page, in the macros of man(7)"},
    {.name = "list", .help = "print the names of the commands, one a line"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn help help", "describe the command help itself"},
    {"cairn help --man help | man -l -", "read the manual page without installing it"},
    {0},
};

const struct cn_command cn_cmd_help = {
    .name = "help",
    .section = CN_SECTION_CAIRN,
    .operands = "[COMMAND]",
    .operand_max = 1,
    .summary = "tell about cairn or one of its commands",
    .description = "Shows what cairn COMMAND --help shows. Without a COMMAND: the list "
                   "of commands, or with --man the manual page cairn(1).",
    .examples = examples,
    .options = options,
    .run = run,
};
