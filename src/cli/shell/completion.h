/* Completion scripts for shells, generated from the tables of the commands: names of
 * commands, options, the words an option accepts, files and directories.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_COMPLETION_H
#define CN_CLI_SHELL_COMPLETION_H

struct cn_text;

/* Append the script for a shell. */
void cn_completion_print_bash(struct cn_text *text);
void cn_completion_print_zsh(struct cn_text *text);
void cn_completion_print_fish(struct cn_text *text);

#endif
