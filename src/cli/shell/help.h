/* Text generated from the tables of the commands: --help, manual pages in the macros of
 * man(7), and completion scripts of shells.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_HELP_H
#define CN_CLI_SHELL_HELP_H

#include <stdbool.h>
#include <stddef.h>

struct cn_command;
struct cn_text;

struct cn_help_style {
    size_t columns; /* lines are wrapped to this width */
    bool has_color; /* headings in bold */
};

/* Append the help of one command. */
void cn_help_print(struct cn_text *text, const struct cn_command *command,
                   const struct cn_help_style *style);

/* Append what `cairn` alone prints: where to start. */
void cn_help_print_start(struct cn_text *text, const struct cn_help_style *style);

/* Append what `cairn help` prints: every command under the heading of its task. */
void cn_help_print_overview(struct cn_text *text, const struct cn_help_style *style);

/* Append the page cairn-NAME(1) of a command, or cairn(1) for &cn_program. */
void cn_man_print(struct cn_text *text, const struct cn_command *command);

/* Append `str` as plain text, at the start of a line or within one: it contains no requests
 * and no escapes. */
void cn_man_add_escaped(struct cn_text *text, const char *str);

/* Append a script that completes names of commands, options, the words an option accepts,
 * files and directories. */
void cn_completion_print_bash(struct cn_text *text);
void cn_completion_print_zsh(struct cn_text *text);
void cn_completion_print_fish(struct cn_text *text);

/* Wrapping of text into lines. */

/* Append the words of `str` in lines of at most `columns`, indented by `indent`; `used`
 * columns of the first line are taken. A longer word gets its own line. Ends with a newline. */
void cn_wrap_add(struct cn_text *text, const char *str, size_t used, size_t indent,
                 size_t columns);

/* Append paragraphs (separated by empty lines), each followed by an empty line. A paragraph
 * that begins with two blanks is copied, others are wrapped. */
void cn_wrap_add_paragraphs(struct cn_text *text, const char *str, size_t columns);

/* The length of the first paragraph of `str`, and where the next begins (NULL: none). */
const char *cn_paragraph_next(const char *str, size_t *len);

#endif
