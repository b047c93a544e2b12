#include "cli/shell/help.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/print/terminal.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"

enum {
    OPTION_INDENT = 28, /* column of an option's description */
    EXAMPLE_INDENT = 6,
    FIRST_EXAMPLES = 2, /* at the beginning */
};

static void add_heading(struct cn_text *text, const char *heading,
                        const struct cn_help_style *style)
{
    enum cn_color color = style->has_color ? CN_COLOR_BOLD : CN_COLOR_NONE;

    cn_text_printf(text, "%s%s:%s\n", cn_color_start(color), heading,
                   cn_color_stop(color));
}

static void add_option(struct cn_text *text, const struct cn_option *option,
                       const struct cn_help_style *style)
{
    size_t begin = text->len, used;

    if (option->letter)
        cn_text_printf(text, "  -%c, --%s", option->letter, option->name);
    else
        cn_text_printf(text, "      --%s", option->name);
    if (option->value)
        cn_text_printf(text, "=%s", option->value);
    used = text->len - begin;
    if (used + 2 > OPTION_INDENT) {
        cn_text_char(text, '\n');
        used = 0;
    }
    char *help = cn_strprintf("%s%s", option->help,
                              option->is_repeatable ? " (may be repeated)" : "");
    cn_wrap_add(text, help, used, OPTION_INDENT, style->columns);
    free(help);
}

/* Append the options of a command, grouped by what they are for. */
static void add_options(struct cn_text *text, const struct cn_command *command,
                        const struct cn_help_style *style)
{
    unsigned scope;

    for (size_t i = 0; cn_command_scope_at(command, i, &scope); i++) {
        struct cn_text heading = {0};

        cn_text_str_add(&heading, scope ? "Options for " : "Options");
        cn_kinds_add(&heading, scope);
        add_heading(text, cn_text_str(&heading), style);
        cn_text_done(&heading);
        for (const struct cn_option *option = command->options; option->name; option++)
            if (cn_option_scope(command, option) == scope)
                add_option(text, option, style);
        cn_text_char(text, '\n');
    }
    add_heading(text, "Options of every command", style);
    for (const struct cn_option *option = cn_shared_options; option->name; option++)
        add_option(text, option, style);
    cn_text_char(text, '\n');
}

/* Append `count` examples, and return the ones that follow. */
static const struct cn_example *add_examples(struct cn_text *text,
                                             const struct cn_example *examples,
                                             size_t count,
                                             const struct cn_help_style *style)
{
    for (; examples && examples->command && count-- > 0; examples++) {
        cn_text_printf(text, "  %s\n", examples->command);
        cn_wrap_add(text, examples->meaning, 0, EXAMPLE_INDENT, style->columns);
    }
    cn_text_char(text, '\n');
    return examples;
}

/* Append the commands of a list that are for this task, or all (NULL), aligned. */
static void add_commands(struct cn_text *text, const struct cn_command *const *list,
                         const char *task, const struct cn_help_style *style)
{
    size_t longest = 0;

    for (size_t i = 0; list[i]; i++) {
        size_t len = strlen(cn_command_part_name(list[i]));

        longest = len > longest ? len : longest;
    }
    add_heading(text, task ? task : "Commands", style);
    for (size_t i = 0; list[i]; i++) {
        const char *name = cn_command_part_name(list[i]);

        if (task && cn_command_task(list[i]) != task)
            continue;
        cn_text_printf(text, "  %s", name);
        cn_wrap_add(text, list[i]->summary, strlen(name) + 2, longest + 4,
                    style->columns);
    }
    cn_text_char(text, '\n');
}

void cn_help_print(struct cn_text *text, const struct cn_command *command,
                   const struct cn_help_style *style)
{
    enum cn_color color = style->has_color ? CN_COLOR_BOLD : CN_COLOR_NONE;

    add_heading(text, "Examples", style);
    const struct cn_example *others =
        add_examples(text, command->examples, FIRST_EXAMPLES, style);
    cn_text_printf(text, "%sUsage:%s cairn %s [OPTION]...%s%s\n\n", cn_color_start(color),
                   cn_color_stop(color), command->name, command->operands ? " " : "",
                   command->operands ? command->operands : "");
    char *summary = cn_strprintf("%c%s.", toupper((unsigned char)command->summary[0]),
                                 command->summary + 1);
    cn_wrap_add(text, summary, 0, 0, style->columns);
    free(summary);
    cn_text_char(text, '\n');
    if (command->description)
        cn_wrap_add_paragraphs(text, command->description, style->columns);
    if (command->parts)
        add_commands(text, command->parts, NULL, style);
    add_options(text, command, style);
    if (others && others->command) {
        add_heading(text, "More examples", style);
        (void)add_examples(text, others, SIZE_MAX, style);
    }
    cn_text_str_add(text, "The manual page is cairn-");
    cn_command_page_add(text, command);
    cn_text_str_add(text, "(1).\n");
}

static void add_summary(struct cn_text *text, const struct cn_help_style *style)
{
    cn_text_str_add(text, "cairn: ");
    cn_wrap_add(text, cn_program.summary, strlen("cairn: "), 0, style->columns);
    cn_text_char(text, '\n');
}

void cn_help_print_start(struct cn_text *text, const struct cn_help_style *style)
{
    add_summary(text, style);
    (void)add_examples(text, cn_program.examples, SIZE_MAX, style);
    cn_text_str_add(text, "cairn help lists all commands,\n"
                          "cairn help COMMAND describes one of them.\n");
}

void cn_help_print_overview(struct cn_text *text, const struct cn_help_style *style)
{
    const char *task = NULL;

    add_summary(text, style);
    cn_text_str_add(text, "Usage: cairn COMMAND [OPTION]... [OPERAND]...\n\n");
    for (size_t i = 0; cn_commands[i]; i++) {
        if (cn_command_task(cn_commands[i]) == task)
            continue;
        task = cn_command_task(cn_commands[i]);
        add_commands(text, cn_commands, task, style);
    }
    cn_text_str_add(text, "cairn help COMMAND describes a command,\n"
                          "cairn --version prints the version.\n");
}
