/* Drains records from the shared memory into the files of the recording.
 *
 * cn_drain_step() writes new records, and the last ones of threads that have ended.
 * cn_drain_wait() sleeps until there are more.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_DRAIN_H
#define CN_LAUNCHER_FILES_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"
#include "launcher/files/shared_memory.h"

/* Packs records while they are recorded: TID.zts instead of TID.dat. */

/* The packed files of a recording in `dir`. */
struct cn_packed_files {
    const char *dir;
    struct cn_shared_memory *memory;
    struct cn_packed_file *list;
    size_t count, capacity;
    uint64_t stored_len; /* bytes written */
};

/* Pack the new records of a track. */
CN_CHECK bool cn_packed_files_write(struct cn_packed_files *files,
                                    struct cn_rec_track *track, const uint8_t *ring,
                                    struct cn_error *err);

/* Continue with a track whose packing process has died. */
CN_CHECK bool cn_packed_files_resume(struct cn_packed_files *files,
                                     struct cn_rec_track *track, struct cn_error *err);

/* Close the files. */
CN_CHECK bool cn_packed_files_finish(struct cn_packed_files *files, struct cn_error *err);
void cn_packed_files_done(struct cn_packed_files *files);

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

/* Write all records of memory of a process whose threads are stopped. False also if one of them was about
 * to write its own. */
CN_CHECK bool cn_drain_memory(struct cn_drain *drain, uint32_t pid, struct cn_error *err);

/* Continue after the process that drained before has died. */
CN_CHECK bool cn_drain_take_over(struct cn_drain *drain, struct cn_error *err);

/* Look for dead threads in the next step, however long that takes. */
void cn_drain_look_now(struct cn_drain *drain);

/* Sleep until a thread rings the bell, a signal arrives, or the time is up. */
void cn_drain_wait(struct cn_drain *drain, uint32_t timeout_ms);

/* Write the last blocks of packed files. */
CN_CHECK bool cn_drain_finish(struct cn_drain *drain, struct cn_error *err);

void cn_drain_done(struct cn_drain *drain);

#endif
