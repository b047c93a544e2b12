/* The directory of a recording.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_FILES_RECORDING_DIR_H
#define CN_LAUNCHER_FILES_RECORDING_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/files/ranks.h"
#include "base/text.h"

struct cn_launch_rank;

/* Create the directory, empty but for a mark. An earlier recording of that name that has the
 * mark is renamed to NAME.old, which replaces an older one; fails if the name is taken by
 * anything else, or by a recording that is being made. With a rank, the directory is one of several inside NAME.
 * Returns the absolute path, to be released with free(), and a file that locks it until it
 * is closed. */
CN_CHECK bool cn_recording_dir_create(const char *name, const struct cn_launch_rank *rank,
                                      char **out, int *lock, struct cn_error *err);

/* Mark a directory as a recording that may be replaced. */
CN_CHECK bool cn_recording_dir_mark(const char *dir, struct cn_error *err);

/* Rename a recording, to a name that is made free in the same way. */
CN_CHECK bool cn_recording_dir_place(const char *from, const char *name,
                                     struct cn_error *err);

/* If all processes of a recording have ended, but it is not complete yet, as after
 * --keep-pid: wait until it is, for a few seconds at most. */
void cn_recording_dir_wait(const char *dir);

/* Open a file of the directory to append to; -1 on failure. */
int cn_recording_dir_append(const char *dir, const char *name, struct cn_error *err);

/* Append to a file of the directory, which is opened if `*file` is negative. */
CN_CHECK bool cn_recording_dir_add(const char *dir, const char *name, int *file,
                                   const uint8_t *data, size_t len, struct cn_error *err);

/* Remove a recording. */
CN_CHECK bool cn_recording_dir_remove(const char *dir, struct cn_error *err);

/* The rank of this process among those that mpirun, srun or aprun started together.
 * Threads: one thread at a time; it reads the environment.
 */

#define CN_RANKS_FILE "ranks" /* in a folder of recordings: the job that they belong to */

struct cn_launch_rank {
    uint64_t number;
    struct cn_text job; /* identifies the job, as far as the environment does */
};

/* False if the process runs alone. Release the result with cn_text_done(&rank.job). */
bool cn_launch_rank_find(struct cn_launch_rank *out);

#endif
