#include "cli/shell/help.h"

#include "base/text.h"
#include "cli/shell/command.h"

/* The script before and after the tables. bash splits --name=value at the '=' if that is
 * one of its word breaks, so the option may be two words back. */
static const char head[] =
    "# Completion of cairn for bash, written by `cairn completion bash`.\n"
    "\n"
    "_cairn()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} option='' command='' part='' ended='' i\n"
    "    local commands='' options='' operand=other value='' words=''\n"
    "\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == '=' ]]; then\n"
    "        cur=''\n"
    "        option=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    elif [[ ${COMP_WORDS[COMP_CWORD-1]} == '=' ]]; then\n"
    "        option=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    else\n"
    "        option=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    fi\n"
    "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "        if [[ ${COMP_WORDS[i]} == '--' ]]; then\n"
    "            ended=yes\n"
    "        elif [[ -z $command && ${COMP_WORDS[i]} != -* ]]; then\n"
    "            command=${COMP_WORDS[i]}\n"
    "        elif [[ -z $part && ${COMP_WORDS[i]} != -* ]]; then\n"
    "            part=${COMP_WORDS[i]}\n"
    "        fi\n"
    "    done\n";

static const char tail[] =
    "    [[ -n $ended ]] && value=''\n"
    "    if [[ -z $value && -z $ended && $cur == -* ]]; then\n"
    "        words=$options\n"
    "    else\n"
    "        case ${value:-$operand} in\n"
    "        file)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "            return ;;\n"
    "        dir)\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
    "            return ;;\n"
    "        command) words=$commands ;;\n"
    "        other) return ;;\n"
    "        *) words=${value:-$operand} ;;\n"
    "        esac\n"
    "    fi\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
    "    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then\n"
    "        compopt -o nospace 2>/dev/null\n"
    "    fi\n"
    "}\n"
    "\n"
    "complete -F _cairn cairn\n";

/* Append the words of a choice, or the name of what to complete. */
static void add_kind(struct cn_text *text, const char *placeholder)
{
    switch (placeholder ? cn_placeholder_kind(placeholder) : CN_PLACEHOLDER_OTHER) {
    case CN_PLACEHOLDER_OTHER:
        cn_text_str_add(text, "other");
        break;
    case CN_PLACEHOLDER_FILE:
        cn_text_str_add(text, "file");
        break;
    case CN_PLACEHOLDER_DIR:
        cn_text_str_add(text, "dir");
        break;
    case CN_PLACEHOLDER_COMMAND:
        cn_text_str_add(text, "command");
        break;
    case CN_PLACEHOLDER_CHOICE:
        cn_choices_add(text, placeholder);
        break;
    }
}

static void add_options(struct cn_text *text, const struct cn_command *command)
{
    const struct cn_option *option;

    cn_text_str_add(text, "        options='");
    for (size_t i = 0; (option = cn_command_option(command, i)); i++)
        cn_text_printf(text, "%s--%s%s", i ? " " : "", option->name,
                       option->value ? "=" : "");
    cn_text_str_add(text, "'\n        case $option in\n");
    for (size_t i = 0; (option = cn_command_option(command, i)); i++) {
        if (!option->value)
            continue;
        cn_text_str_add(text, "        ");
        if (option->letter)
            cn_text_printf(text, "-%c | ", option->letter);
        cn_text_printf(text, "--%s) value='", option->name);
        add_kind(text, option->value);
        cn_text_str_add(text, "' ;;\n");
    }
    cn_text_str_add(text, "        esac\n");
}

static void add_case(struct cn_text *text, const char *pattern,
                     const struct cn_command *command)
{
    cn_text_printf(text, "    %s)\n", pattern);
    cn_text_str_add(text, "        operand='");
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        cn_text_printf(text, "%s%s", i ? " " : "",
                       cn_command_part_name(command->parts[i]));
    if (!command->parts)
        add_kind(text, cn_operand_at(command->operands, 0));
    cn_text_str_add(text, "'\n");
    add_options(text, command);
    cn_text_str_add(text, "        ;;\n");
}

void cn_completion_print_bash(struct cn_text *text)
{
    const struct cn_command *command;

    cn_text_str_add(text, head);
    cn_text_str_add(text, "    commands='");
    for (size_t i = 0; cn_commands[i]; i++)
        cn_text_printf(text, "%s%s", i ? " " : "", cn_commands[i]->name);
    cn_text_str_add(text, "'\n");
    /* The second word is part of the name of a command that has parts. */
    cn_text_str_add(text, "    case $command in\n");
    for (size_t i = 0; cn_commands[i]; i++) {
        if (cn_commands[i]->parts)
            cn_text_printf(text,
                           "    %s) [[ -n $part ]] && command=\"$command $part\" ;;\n",
                           cn_commands[i]->name);
    }
    cn_text_str_add(text, "    esac\n    case $command in\n");
    add_case(text, "''", &cn_program);
    for (size_t i = 0; (command = cn_command_at(i)); i++) {
        struct cn_text pattern = {0};

        cn_text_printf(&pattern, "'%s'", command->name);
        add_case(text, cn_text_str(&pattern), command);
        cn_text_done(&pattern);
    }
    cn_text_str_add(text, "    esac\n");
    cn_text_str_add(text, tail);
}
