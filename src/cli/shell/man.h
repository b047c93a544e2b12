/* Manual pages in the macros of man(7), from the tables of the commands.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_MAN_H
#define CN_CLI_SHELL_MAN_H

struct cn_command;
struct cn_text;

/* Append the page cairn-NAME(1) of a command, or cairn(1) for &cn_program. */
void cn_man_print(struct cn_text *text, const struct cn_command *command);

/* Append `str` as plain text, at the start of a line or within one: it contains no requests
 * and no escapes. */
void cn_man_add_escaped(struct cn_text *text, const char *str);

#endif
