/* The text of --help, from a command's tables.
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

/* Append the overview of `cairn`: every command under the heading of its section. */
void cn_help_print_overview(struct cn_text *text, const struct cn_help_style *style);

#endif
