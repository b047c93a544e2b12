/* A process that outlives the launcher when somebody kills it, and then sees to it that
 * what the program still records reaches the recording.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_KEEPER_H
#define CN_LAUNCHER_KEEPER_H

#include <sys/types.h>

#include "base/error.h"
#include "launcher/drain.h"

struct cn_keeper {
    pid_t pid; /* 0 when there is none */
    int fd;
};

/* Start it. It must be started before the program: it holds nothing the program needs. */
CN_CHECK bool cn_keeper_start(struct cn_keeper *keeper, struct cn_drain *drain,
                              struct cn_error *err);

/* All went well, it is not needed; safe when it was never started. */
void cn_keeper_dismiss(struct cn_keeper *keeper);

#endif
