/* The rank of this process among those that mpirun, srun or aprun started together.
 * Threads: one thread at a time; it reads the environment.
 */
#ifndef CN_LAUNCHER_FILES_RANK_H
#define CN_LAUNCHER_FILES_RANK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/files/rank_entries.h"
#include "base/text.h"

#define CN_RANKS_FILE "ranks" /* in a folder of recordings: the job that they belong to */

struct cn_launch_rank {
    uint64_t number;
    struct cn_text job; /* identifies the job, as far as the environment does */
};

/* False if the process runs alone. Release the result with cn_text_done(&rank.job). */
bool cn_launch_rank_find(struct cn_launch_rank *out);

#endif
