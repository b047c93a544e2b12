/* A pager between stdout and the terminal.
 *
 * cn_pager_begin() puts it there, cn_pager_end() waits until the user leaves it. A
 * zeroed pager is one that was never begun.
 * Threads: one thread at a time; it changes the process's stdout.
 */
#ifndef CN_CLI_SHELL_PAGER_H
#define CN_CLI_SHELL_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct cn_pager {
    pid_t pid; /* 0 when none runs */
};

/* The command line that shows output: $CAIRN_PAGER, else $PAGER, else "less". NULL when
 * that is empty or "cat": no pager. Borrowed from the environment. */
const char *cn_pager_command(void);

/* Send stdout through the pager. Does nothing when one runs, when none is wanted and
 * when it cannot be started. */
void cn_pager_begin(struct cn_pager *pager);

/* Close stdout and wait for the pager. Does nothing when none runs. */
void cn_pager_end(struct cn_pager *pager);

#endif
