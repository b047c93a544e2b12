#include "cli/shell/help.h"

#include <string.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"

static void add_quoted(struct cn_text *text, const char *str)
{
    cn_text_char(text, '\'');
    for (; *str; str++) {
        if (*str == '\'' || *str == '\\')
            cn_text_char(text, '\\');
        cn_text_char(text, *str);
    }
    cn_text_char(text, '\'');
}

/* Append the arguments of `complete` for a placeholder. */
static void add_action(struct cn_text *text, const char *placeholder)
{
    switch (cn_placeholder_kind(placeholder)) {
    case CN_PLACEHOLDER_OTHER:
        cn_text_str_add(text, " -f");
        break;
    case CN_PLACEHOLDER_CHOICE:
        cn_text_str_add(text, " -f -a '");
        cn_choices_add(text, placeholder);
        cn_text_char(text, '\'');
        break;
    case CN_PLACEHOLDER_FILE:
        cn_text_str_add(text, " -F");
        break;
    case CN_PLACEHOLDER_DIR:
        cn_text_str_add(text, " -f -a '(__fish_complete_directories)'");
        break;
    case CN_PLACEHOLDER_COMMAND:
        cn_text_str_add(text, " -f -a '(cairn help --list)'");
        break;
    }
}

/* "verify" in `cairn store verify` is not the command of that name. */
static const char not_in_whole[] = "; and not __fish_seen_subcommand_from store";

static bool is_part_of_another(const char *name)
{
    const struct cn_command *command;

    for (size_t i = 0; (command = cn_command_at(i)); i++) {
        if (cn_command_part_name(command) != command->name &&
            strcmp(cn_command_part_name(command), name) == 0)
            return true;
    }
    return false;
}

static void add_condition(struct cn_text *text, const struct cn_command *command)
{
    const char *part = cn_command_part_name(command);

    if (command == &cn_program)
        cn_text_str_add(text, "complete -c cairn -n __fish_use_subcommand");
    else if (part == command->name)
        cn_text_printf(text, "complete -c cairn -n '__fish_seen_subcommand_from %s%s'",
                       command->name, is_part_of_another(part) ? not_in_whole : "");
    else
        cn_text_printf(text,
                       "complete -c cairn -n '__fish_seen_subcommand_from %.*s; and "
                       "__fish_seen_subcommand_from %s'",
                       (int)(part - command->name - 1), command->name, part);
}

static void add_options(struct cn_text *text, const struct cn_command *command)
{
    const struct cn_option *option;

    for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
        struct cn_text help = {0};

        add_condition(text, command);
        cn_text_printf(text, " -l %s", option->name);
        if (option->letter)
            cn_text_printf(text, " -s %c", option->letter);
        if (option->value) {
            cn_text_str_add(text, " -r");
            add_action(text, option->value);
        }
        cn_text_str_add(text, " -d ");
        cn_option_help_add(&help, command, option);
        add_quoted(text, cn_text_str(&help));
        cn_text_char(text, '\n');
        cn_text_done(&help);
    }
}

static void add_command(struct cn_text *text, const struct cn_command *whole,
                        const struct cn_command *command)
{
    const char *operand = cn_operand_at(command->operands, 0);

    add_condition(text, whole);
    cn_text_printf(text, " -f -a %s -d ", cn_command_part_name(command));
    add_quoted(text, command->summary);
    cn_text_char(text, '\n');
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        add_command(text, command, command->parts[i]);
    if (!command->parts) {
        add_condition(text, command);
        add_action(text, operand ? operand : "");
        cn_text_char(text, '\n');
    }
    add_options(text, command);
}

void cn_completion_print_fish(struct cn_text *text)
{
    cn_text_str_add(text, "# Completion of cairn for fish, written by "
                          "`cairn completion fish`.\n\n");
    add_options(text, &cn_program);
    for (size_t i = 0; cn_commands[i]; i++)
        add_command(text, &cn_program, cn_commands[i]);
}
