/* The standby process: takes over when the launcher is killed, and drains what the program
 * records until it ends.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_STANDBY_H
#define CN_LAUNCHER_FILES_STANDBY_H

#include <sys/types.h>

#include "base/error.h"
#include "launcher/files/drain.h"

struct cn_standby {
    pid_t pid; /* 0 when not started */
    int fd;
};

/* Start it, before the program, so that it inherits none of the program's files. */
CN_CHECK bool cn_standby_start(struct cn_standby *standby, struct cn_drain *drain,
                               struct cn_error *err);

/* Stop it; safe when it was never started. */
void cn_standby_stop(struct cn_standby *standby);

#endif
