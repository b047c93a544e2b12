/* Getting records out of the shared memory into the recording's files.
 *
 * cn_drain_step() writes what threads have recorded since; once a thread is gone it takes
 * the rest, whatever ended the thread. cn_drain_wait() sleeps until there is more.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_DRAIN_H
#define CN_LAUNCHER_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/packed_files.h"
#include "launcher/shared_memory.h"

struct cn_drain {
    struct cn_shared_memory *memory;
    const char *dir;
    bool is_packed;
    struct cn_packed_files packed; /* if it is packed */
    uint32_t open_count;           /* tracks in use when we last looked */
    uint64_t step_count;
    uint32_t bell; /* as it was before that */
};

/* Write out what there is. On failure recording stops; what is in the files stays. */
CN_CHECK bool cn_drain_step(struct cn_drain *drain, struct cn_error *err);

/* Write out what there is, and drop what threads record from now on: they notice later. */
CN_CHECK bool cn_drain_end(struct cn_drain *drain, struct cn_error *err);

/* Go on in place of the process that did this before and has died. */
CN_CHECK bool cn_drain_take_over(struct cn_drain *drain, struct cn_error *err);

/* Sleep until a thread rings, a signal arrives, or the time is over. */
void cn_drain_wait(struct cn_drain *drain, uint32_t timeout_ms);

/* Write the last blocks of packed files. */
CN_CHECK bool cn_drain_finish(struct cn_drain *drain, struct cn_error *err);

void cn_drain_done(struct cn_drain *drain);

#endif
