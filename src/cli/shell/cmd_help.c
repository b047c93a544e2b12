/* cairn help: the text of --help, the manual pages, and the names of the commands. */

#include <string.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/help.h"

/* The command with this man page, "store-search"; NULL: none. */
static const struct cn_command *find_page(const char *name)
{
    const struct cn_command *command;

    for (size_t i = 0; (command = cn_command_at(i)); i++) {
        struct cn_text page = {0};

        cn_command_page_add(&page, command);
        bool is_it = strcmp(cn_text_str(&page), name) == 0;
        cn_text_done(&page);
        if (is_it)
            return command;
    }
    return NULL;
}

static bool choose(const struct cn_args *args, const struct cn_command **out,
                   struct cn_error *err)
{
    const struct cn_command *page = find_page(cn_args_operand(args, 0));

    *out = page;
    if (page && cn_args_count(args) == 1)
        return true;
    if (!cn_command_follow(cn_commands, args->operands, args->operand_count, out, err))
        return false;
    return cn_args_count(args) == 1 || cn_command_part_name(*out) != (*out)->name ||
           cn_fail(err, CN_ERR_USAGE, "'%s' has no subcommands", (*out)->name);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const struct cn_command *command = &cn_program, *listed;
    bool wants_list = cn_args_has(args, "list"), wants_man = cn_args_has(args, "man");
    struct cn_text text = {0};

    if (wants_list && (wants_man || cn_args_count(args) > 0))
        return cn_fail(err, CN_ERR_USAGE,
                       "--list cannot be combined with --man or a command");
    if (cn_args_count(args) > 0 && !choose(args, &command, err))
        return false;
    for (size_t i = 0; wants_list && (listed = cn_command_at(i)); i++) {
        cn_command_page_add(&text, listed);
        cn_text_char(&text, '\n');
    }
    if (!wants_list && wants_man)
        cn_man_print(&text, command);
    else if (!wants_list)
        cn_cli_add_help(args, command, &text);
    cn_cli_print(args, &text);
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("man", 0, NULL, "print the manual page, in the macros of man(7)"),
    CN_OPTION("list", 0, NULL, "print the names of the commands, one per line"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn help tree", "describe the command tree"},
    {"cairn help --man tree | man -l -", "read the manual page without installing it"},
    {0},
};

const struct cn_command cn_cmd_help = {
    .name = "help",
    .operands = "[COMMAND]...",
    .operand_max = 2,
    .summary = "describe cairn or one of its commands",
    .description =
        "Prints the same as cairn COMMAND --help. A subcommand is named by two "
        "words: cairn help store search. Without a COMMAND: the list of "
        "commands, or with --man the manual page cairn(1).",
    .examples = examples,
    .options = options,
    .run = run,
};
