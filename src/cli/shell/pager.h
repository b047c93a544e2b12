/* A pager between stdout and the terminal.
 *
 * cn_pager_begin() starts it, cn_pager_end() waits until the user leaves it. A zeroed pager
 * was never started.
 * Threads: one thread at a time; it changes the process's stdout.
 */
#ifndef CN_CLI_SHELL_PAGER_H
#define CN_CLI_SHELL_PAGER_H

#include <sys/types.h>

struct cn_pager {
    pid_t pid; /* 0: none runs */
};

/* The pager's command line: $CAIRN_PAGER, else $PAGER, else "less". NULL (no pager) if that
 * is empty or "cat". Borrowed from the environment. */
const char *cn_pager_command(void);

/* Send stdout through the pager. Does nothing if one runs, none is wanted, or it cannot be
 * started. */
void cn_pager_begin(struct cn_pager *pager);

/* Close stdout and wait for the pager. Does nothing if none runs. */
void cn_pager_end(struct cn_pager *pager);

#endif
