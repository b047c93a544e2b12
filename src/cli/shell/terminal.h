/* The size of a terminal.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_TERMINAL_H
#define CN_CLI_SHELL_TERMINAL_H

#include <stddef.h>

/* Columns of the terminal behind `fd`; 80 when it is none, at least 40. */
size_t cn_terminal_columns(int fd);

#endif
