#include "cli/shell/help.h"

#include <string.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"

/* Append text of a specification of _arguments, inside single quotes: brackets, colons and
 * backslashes are special. */
static void add_escaped(struct cn_text *text, const char *str)
{
    for (; *str; str++) {
        if (*str == '\'')
            cn_text_str_add(text, "'\\''");
        else if (strchr("[]:\\", *str))
            cn_text_printf(text, "\\%c", *str);
        else
            cn_text_char(text, *str);
    }
}

/* Append ":message:action" for a value or an operand. */
static void add_action(struct cn_text *text, const char *placeholder)
{
    switch (cn_placeholder_kind(placeholder)) {
    case CN_PLACEHOLDER_OTHER:
        cn_text_char(text, ':');
        for (; *placeholder && !strchr(" .]", *placeholder); placeholder++)
            cn_text_char(text, *placeholder);
        cn_text_str_add(text, ": ");
        break;
    case CN_PLACEHOLDER_CHOICE:
        cn_text_str_add(text, ":choice:(");
        cn_choices_add(text, placeholder);
        cn_text_char(text, ')');
        break;
    case CN_PLACEHOLDER_FILE:
        cn_text_str_add(text, ":file:_files");
        break;
    case CN_PLACEHOLDER_DIR:
        cn_text_str_add(text, ":directory:_files -/");
        break;
    case CN_PLACEHOLDER_COMMAND:
        cn_text_str_add(text, ":command:_cairn_commands");
        break;
    }
}

static void add_spec(struct cn_text *text, const struct cn_command *command,
                     const struct cn_option *option, const char *dashes, const char *name,
                     const char *attached)
{
    struct cn_text help = {0};

    cn_option_help_add(&help, command, option);
    cn_text_str_add(text, " \\\n            '");
    cn_text_str_add(text, option->is_repeatable ? "*" : "");
    cn_text_printf(text, "%s%s%s[", dashes, name, option->value ? attached : "");
    add_escaped(text, cn_text_str(&help));
    cn_text_done(&help);
    cn_text_char(text, ']');
    if (option->value)
        add_action(text, option->value);
    cn_text_char(text, '\'');
}

static void add_options(struct cn_text *text, const struct cn_command *command)
{
    const struct cn_option *option;

    for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
        const char letter[2] = {option->letter, '\0'};

        add_spec(text, command, option, "--", option->name, "=");
        if (option->letter)
            add_spec(text, command, option, "-", letter, "+");
    }
}

static void add_operands(struct cn_text *text, const struct cn_command *command)
{
    const char *placeholder;

    if (command->operand_max == CN_OPERANDS_MAX) {
        cn_text_str_add(text, " \\\n            '*");
        add_action(text, cn_operand_at(command->operands, 0));
        cn_text_char(text, '\'');
        return;
    }
    for (unsigned i = 0; i < command->operand_max; i++) {
        placeholder = cn_operand_at(command->operands, i);
        if (!placeholder)
            return;
        cn_text_printf(text, " \\\n            '%u%s", i + 1,
                       i < command->operand_min ? "" : ":");
        add_action(text, placeholder);
        cn_text_char(text, '\'');
    }
}

static void add_command_names(struct cn_text *text, const char *suffix,
                              const struct cn_command *const *list)
{
    cn_text_printf(text, "_cairn_commands%s()\n{\n    local -a commands=(\n", suffix);
    for (size_t i = 0; list[i]; i++) {
        cn_text_printf(text, "        '%s:", cn_command_part_name(list[i]));
        add_escaped(text, list[i]->summary);
        cn_text_str_add(text, "'\n");
    }
    cn_text_str_add(text, "    )\n    _describe -t commands command commands\n}\n\n");
}

static void add_case(struct cn_text *text, const struct cn_command *command)
{
    cn_text_printf(text, "    %s)\n        _arguments -s -S",
                   cn_command_part_name(command));
    add_options(text, command);
    add_operands(text, command);
    cn_text_str_add(text, "\n        ;;\n");
}

/* Append the function of a command that has parts. */
static void add_family(struct cn_text *text, const struct cn_command *whole)
{
    struct cn_text suffix = {0};

    cn_text_printf(&suffix, "_%s", whole->name);
    add_command_names(text, cn_text_str(&suffix), whole->parts);
    cn_text_done(&suffix);
    cn_text_printf(text,
                   "_cairn_%s()\n{\n"
                   "    local curcontext=$curcontext state line\n"
                   "    local -A opt_args\n\n"
                   "    _arguments -C",
                   whole->name);
    add_options(text, whole);
    cn_text_printf(text,
                   " \\\n            '1:command:_cairn_commands_%s' \\\n"
                   "            '*::argument:->argument' && return\n"
                   "    [[ $state == argument ]] || return\n"
                   "    case $words[1] in\n",
                   whole->name);
    for (size_t i = 0; whole->parts[i]; i++)
        add_case(text, whole->parts[i]);
    cn_text_str_add(text, "    esac\n}\n\n");
}

void cn_completion_print_zsh(struct cn_text *text)
{
    cn_text_str_add(text, "#compdef cairn\n"
                          "# Completion of cairn for zsh, written by "
                          "`cairn completion zsh`.\n\n");
    add_command_names(text, "", cn_commands);
    for (size_t i = 0; cn_commands[i]; i++) {
        if (cn_commands[i]->parts)
            add_family(text, cn_commands[i]);
    }
    cn_text_str_add(text, "_cairn()\n{\n"
                          "    local curcontext=$curcontext state line\n"
                          "    local -A opt_args\n\n"
                          "    _arguments -C");
    add_options(text, &cn_program);
    cn_text_str_add(text, " \\\n            '1:command:_cairn_commands' \\\n"
                          "            '*::argument:->argument' && return\n"
                          "    [[ $state == argument ]] || return\n"
                          "    case $words[1] in\n");
    for (size_t i = 0; cn_commands[i]; i++) {
        if (cn_commands[i]->parts)
            cn_text_printf(text, "    %s)\n        _cairn_%s\n        ;;\n",
                           cn_commands[i]->name, cn_commands[i]->name);
        else
            add_case(text, cn_commands[i]);
    }
    cn_text_str_add(text, "    esac\n}\n\n"
                          "if [[ $funcstack[1] == _cairn ]]; then\n"
                          "    _cairn \"$@\"\nelse\n    compdef _cairn cairn\nfi\n");
}
