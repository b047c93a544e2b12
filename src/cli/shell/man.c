#include "cli/shell/help.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"

static void add_char(struct cn_text *text, char c)
{
    switch (c) {
    case '\\':
        cn_text_str_add(text, "\\e");
        break;
    case '-':
        cn_text_str_add(text, "\\-");
        break;
    case '\'':
        cn_text_str_add(text, "\\(aq");
        break;
    case '`':
        cn_text_str_add(text, "\\(ga");
        break;
    case '^':
        cn_text_str_add(text, "\\(ha");
        break;
    case '~':
        cn_text_str_add(text, "\\(ti");
        break;
    default:
        cn_text_char(text, c);
    }
}

static void add_escaped(struct cn_text *text, const char *str, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool begins_line = text->len == 0 || text->chars[text->len - 1] == '\n';

        /* A dot or a quote in the first column would be a request. */
        if (begins_line && (str[i] == '.' || str[i] == '\''))
            cn_text_str_add(text, "\\&");
        add_char(text, str[i]);
    }
}

void cn_man_add_escaped(struct cn_text *text, const char *str)
{
    add_escaped(text, str, strlen(str));
}

static void add_bold(struct cn_text *text, const char *str)
{
    cn_text_str_add(text, "\\fB");
    cn_man_add_escaped(text, str);
    cn_text_str_add(text, "\\fR");
}

/* Append an indented block that is not wrapped. */
static void add_verbatim(struct cn_text *text, const char *str, size_t len)
{
    cn_text_str_add(text, ".PP\n.RS 4\n.nf\n");
    while (len > 0) {
        size_t line_len = strcspn(str, "\n");

        line_len = line_len > len ? len : line_len;
        while (line_len > 0 && *str == ' ') {
            str++;
            len--;
            line_len--;
        }
        add_escaped(text, str, line_len);
        cn_text_char(text, '\n');
        str += line_len;
        len -= line_len;
        if (len > 0) {
            str++;
            len--;
        }
    }
    cn_text_str_add(text, ".fi\n.RE\n");
}

static void add_paragraphs(struct cn_text *text, const char *str)
{
    bool is_first = true;

    while (str) {
        size_t len;
        const char *next = cn_paragraph_next(str, &len);

        if (strncmp(str, "  ", 2) == 0) {
            add_verbatim(text, str, len);
        } else {
            cn_text_str_add(text, is_first ? "" : ".PP\n");
            add_escaped(text, str, len);
            cn_text_char(text, '\n');
        }
        is_first = false;
        str = next;
    }
}

static void add_option(struct cn_text *text, const struct cn_option *option)
{
    cn_text_str_add(text, ".TP\n");
    if (option->letter)
        cn_text_printf(text, "\\fB\\-%c\\fR, ", option->letter);
    cn_text_str_add(text, "\\fB\\-\\-");
    cn_man_add_escaped(text, option->name);
    cn_text_str_add(text, "\\fR");
    if (option->value) {
        cn_text_str_add(text, "=\\fI");
        cn_man_add_escaped(text, option->value);
        cn_text_str_add(text, "\\fR");
    }
    cn_text_char(text, '\n');
    cn_man_add_escaped(text, option->help);
    cn_text_str_add(text, option->is_repeatable ? " (may be repeated)\n" : "\n");
}

/* Append the options of a command, grouped by what they are for, and then the shared ones. */
static void add_options(struct cn_text *text, const struct cn_command *command)
{
    unsigned scope;

    cn_text_str_add(text, ".SH OPTIONS\n");
    for (size_t i = 0; cn_command_scope_at(command, i, &scope); i++) {
        if (scope) {
            cn_text_str_add(text, ".SS For ");
            cn_kinds_add(text, scope);
            cn_text_char(text, '\n');
        }
        for (const struct cn_option *option = command->options; option->name; option++)
            if (cn_option_scope(command, option) == scope)
                add_option(text, option);
    }
    cn_text_str_add(text, ".SS Of every command\n");
    for (const struct cn_option *option = cn_shared_options; option->name; option++)
        add_option(text, option);
}

static void add_examples(struct cn_text *text, const struct cn_command *command)
{
    const struct cn_example *example = command->examples;

    if (!example || !example->command)
        return;
    cn_text_str_add(text, ".SH EXAMPLES\n");
    for (; example->command; example++) {
        cn_text_str_add(text, ".TP\n");
        add_bold(text, example->command);
        cn_text_char(text, '\n');
        cn_man_add_escaped(text, example->meaning);
        cn_text_char(text, '\n');
    }
}

/* Append the name of a command's page, "\-store\-search"; nothing for the program. */
static void add_page(struct cn_text *text, const struct cn_command *command,
                     bool is_upper)
{
    struct cn_text page = {0};

    if (command == &cn_program)
        return;
    cn_text_str_add(text, "\\-");
    cn_command_page_add(&page, command);
    for (char *c = page.chars; is_upper && *c; c++)
        *c = (char)toupper((unsigned char)*c);
    cn_man_add_escaped(text, cn_text_str(&page));
    cn_text_done(&page);
}

static void add_name(struct cn_text *text, const struct cn_command *command)
{
    cn_text_str_add(text, ".TH CAIRN");
    add_page(text, command, true);
    cn_text_str_add(text, " 1 \"\" \"cairn " CN_VERSION "\" \"cairn manual\"\n"
                          ".SH NAME\ncairn");
    add_page(text, command, false);
    cn_text_str_add(text, " \\- ");
    cn_man_add_escaped(text, command->summary);
    cn_text_char(text, '\n');
}

static void add_synopsis(struct cn_text *text, const struct cn_command *command)
{
    cn_text_str_add(text, ".SH SYNOPSIS\n\\fBcairn\\fR");
    if (command != &cn_program) {
        cn_text_char(text, ' ');
        add_bold(text, command->name);
        cn_text_str_add(text, " [\\fIOPTION\\fR]...");
    }
    if (command->operands) {
        cn_text_str_add(text, " \\fI");
        cn_man_add_escaped(text, command->operands);
        cn_text_str_add(text, "\\fR");
    }
    cn_text_char(text, '\n');
}

static void add_command_list(struct cn_text *text, const struct cn_command *const *list)
{
    cn_text_str_add(text, ".SH COMMANDS\n");
    for (size_t i = 0; list[i]; i++) {
        cn_text_str_add(text, ".TP\n\\fBcairn");
        add_page(text, list[i], false);
        cn_text_str_add(text, "\\fR(1)\n");
        cn_man_add_escaped(text, list[i]->summary);
        cn_text_char(text, '\n');
    }
}

/* Append what is the same on every page. */
static void add_behaviour(struct cn_text *text)
{
    cn_text_str_add(text,
                    ".SH \"EXIT STATUS\"\n"
                    ".TP\n0\nsuccess\n"
                    ".TP\n1\na file could not be found, read or written\n"
                    ".TP\n2\nthe command line was wrong\n"
                    ".TP\n3\nan input is damaged, has a newer version of its format\n"
                    "than this program knows, or exceeds a limit\n"
                    ".TP\n4\na rule of \\fBcairn gate\\fR does not hold\n"
                    ".SH ENVIRONMENT\n"
                    ".TP\n\\fBCAIRN_PAGER\\fR, \\fBPAGER\\fR\n"
                    "the pager for output on a terminal; the first one that is set\n"
                    "counts, \\fBless\\fR if neither is; no pager if it is empty or\n"
                    "\\fBcat\\fR\n"
                    ".TP\n\\fBNO_COLOR\\fR\n"
                    "if set and not empty, no colour unless\n"
                    "\\fB\\-\\-color=always\\fR is given\n");
}

/* Commands for the same task, and the parts of a command; for the program, all commands
 * without their parts. */
static bool is_related(const struct cn_command *command, const struct cn_command *other)
{
    const char *task = cn_command_task(command), *others = cn_command_task(other);

    if (command == &cn_program)
        return cn_command_part_name(other) == other->name;
    return task && (task == others || strcmp(task, other->name) == 0 ||
                    strcmp(others, command->name) == 0);
}

static void add_see_also(struct cn_text *text, const struct cn_command *command)
{
    const struct cn_command *other;
    const char *separator = "";

    cn_text_str_add(text, ".SH \"SEE ALSO\"\n");
    if (command != &cn_program) {
        cn_text_str_add(text, "\\fBcairn\\fR(1)");
        separator = ",\n";
    }
    for (size_t i = 0; (other = cn_command_at(i)); i++) {
        if (other == command || !is_related(command, other))
            continue;
        cn_text_printf(text, "%s\\fBcairn", separator);
        add_page(text, other, false);
        cn_text_str_add(text, "\\fR(1)");
        separator = ",\n";
    }
    cn_text_char(text, '\n');
}

void cn_man_print(struct cn_text *text, const struct cn_command *command)
{
    add_name(text, command);
    add_synopsis(text, command);
    cn_text_str_add(text, ".SH DESCRIPTION\n");
    add_paragraphs(text, command->description ? command->description : command->summary);
    if (command == &cn_program)
        add_command_list(text, cn_commands);
    if (command->parts)
        add_command_list(text, command->parts);
    add_options(text, command);
    add_examples(text, command);
    add_behaviour(text);
    add_see_also(text, command);
}
