/* Parallel work: independent jobs on a few threads, their results taken in order.
 *
 * Jobs are claimed in index order. `run` and `finish` execute on one worker; between
 * them, `take` is called for one job at a time, in index order, so that whatever it
 * does (assign an offset, merge a tree) does not depend on scheduling. Another thread may
 * call it, with the number of the worker that ran the job, which waits meanwhile. At most
 * one job per worker is between claiming and finishing, so memory is bounded by the workers.
 * If a worker runs out of memory where the caller survives that (base/memory.h), no further
 * steps begin, and cn_pool_run() fails as an allocation of the caller.
 * Threads: cn_pool_run() returns when all workers have ended.
 */
#ifndef CN_BASE_RUN_POOL_H
#define CN_BASE_RUN_POOL_H

#include <stddef.h>

struct cn_jobs {
    size_t count;
    void *arg;
    void (*run)(void *arg, size_t job, unsigned worker);
    void (*take)(void *arg, size_t job, unsigned worker);   /* NULL: nothing to do */
    void (*finish)(void *arg, size_t job, unsigned worker); /* NULL: nothing to do */
};

/* Workers are numbered from 0; per-worker memory can be indexed by that number. */
void cn_pool_run(const struct cn_jobs *jobs, unsigned workers);

/* The processors this process may use: the default number of workers. */
unsigned cn_pool_default_workers(void);

#endif
