/* The single calls of a recording that took longest beyond what is usual for their function, found
 * by a job that reads all calls once. Durations are those of `cairn report`: corrected unless raw;
 * a call begins where it was recorded, as in the list of calls.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_SLOWEST_CALLS_H
#define CN_SERVER_SERVED_SLOWEST_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/run/job.h"

struct cn_recording;

enum { CN_SLOWEST_MAX = 8 };

/* The slowest call of a function. */
struct cn_slow_call {
    const char *function;
    uint64_t begin_ns, duration_ns;
    uint64_t mean_ns; /* of all its calls */
    uint64_t calls;
    uint32_t task;
};

struct cn_slowest_calls {
    const struct cn_recording *rec;
    bool is_raw;
    struct cn_job job; /* finds the list; wait for it with cn_job_wait() */
    struct cn_slow_call list[CN_SLOWEST_MAX];
    size_t count;
    struct cn_arena arena;
};

/* The group and the recording outlive it. */
void cn_slowest_calls_init(struct cn_slowest_calls *slowest,
                           const struct cn_recording *rec, bool is_raw,
                           struct cn_job_group *group);

void cn_slowest_calls_done(struct cn_slowest_calls *slowest);

#endif
