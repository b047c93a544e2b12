/* Drains records from the shared memory into the files of the recording.
 *
 * cn_drain_step() writes new records, and the last ones of threads that have ended.
 * cn_drain_wait() sleeps until there are more.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_DRAIN_H
#define CN_LAUNCHER_FILES_DRAIN_H

#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "launcher/files/packed.h"
#include "launcher/files/shared_memory.h"

struct cn_drain {
    struct cn_shared_memory *memory;
    const char *dir;
    bool is_packed;
    bool looks_for_zombies; /* the program has ended: no parent may wait for others */
    struct cn_packed_files packed; /* used if is_packed */
    uint32_t open_count;           /* tracks in use at the last step */
    struct cn_text lines;          /* to add to task.txt */
    uint64_t step_count;
    uint64_t next_ns,
        next_dead_ns; /* when to look at all tracks again, and for dead threads */
    uint32_t bell;    /* its value before the last step */
};

/* Write new records. A failure stops the recording; the files are intact. */
CN_CHECK bool cn_drain_step(struct cn_drain *drain, struct cn_error *err);

/* Write all records, and drop those that threads add until they notice the end. */
CN_CHECK bool cn_drain_end(struct cn_drain *drain, struct cn_error *err);

/* Continue after the process that drained before has died. */
CN_CHECK bool cn_drain_take_over(struct cn_drain *drain, struct cn_error *err);

/* Sleep until a thread rings the bell, a signal arrives, or the time is up. */
void cn_drain_wait(struct cn_drain *drain, uint32_t timeout_ms);

/* Write the last blocks of packed files. */
CN_CHECK bool cn_drain_finish(struct cn_drain *drain, struct cn_error *err);

void cn_drain_done(struct cn_drain *drain);

#endif
