/* A thread that empties the rings of the kernel when one of them is half full.
 *
 * The sampler reads them several times a second. It takes longer where it builds the tables of a
 * large library, or where the sampled program has all processors: what comes meanwhile waits in
 * memory instead of being lost. The thread asks for a high priority, since it only copies.
 * Threads: started and stopped by the thread that reads the rings.
 */
#ifndef CN_SAMPLER_RING_WATCH_H
#define CN_SAMPLER_RING_WATCH_H

#include <poll.h>
#include <stddef.h>

#include "base/run/job.h"

struct cn_rings;

struct cn_ring_watch {
    struct cn_rings *rings;
    struct pollfd *polled; /* the first one says when to end */
    size_t count;
    const _Atomic int *every_ms;
    struct cn_job_group group;
    struct cn_job job;
};

/* `also` becomes readable as a ring does; -1: there is none. Rings are emptied at least every
 * `*every_ms`, which may change; NULL: when one is half full. Without a thread, they are only emptied when they are
 * read. */
void cn_ring_watch_start(struct cn_ring_watch *watch, struct cn_rings *rings, int also,
                         const _Atomic int *every_ms);
void cn_ring_watch_stop(struct cn_ring_watch *watch); /* a zeroed one is fine */

#endif
