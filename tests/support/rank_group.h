/* Several ranks in one process, a thread each: what mpirun gives, without mpirun.
 *
 * Threads: cn_rank_group_run() returns when all ranks have ended.
 */
#ifndef TESTS_SUPPORT_RANK_GROUP_H
#define TESTS_SUPPORT_RANK_GROUP_H

#include "base/run/ranks.h"

typedef void (*cn_rank_fn)(struct cn_ranks *ranks, void *arg);

/* Call `run` once for each rank, all at the same time. */
void cn_rank_group_run(unsigned size, cn_rank_fn run, void *arg);

#endif
