/* The parts of the tasks of a recording, short enough to reach any record within
 * milliseconds. Those of a task are found when a request first asks for it, and cached.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_CALL_PARTS_H
#define CN_SERVER_SERVED_CALL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/calls/recording.h"

struct cn_task_parts {
    struct cn_call_part *list; /* NULL: the task is one part */
    uint32_t count;            /* at least 1 */
    bool is_known;
    /* By part: the least depth of its calls + 1, 0 until it was read. A part whose calls are all
     * deeper than one that is open does not end it. */
    _Atomic uint32_t *depths;
};

/* The least depth of the calls of a part; 0 if it was not read yet. */
static inline uint32_t cn_task_parts_depth(const struct cn_task_parts *parts,
                                           uint32_t part)
{
    uint32_t depth = atomic_load_explicit(&parts->depths[part], memory_order_relaxed);

    return depth > 0 ? depth - 1 : 0;
}

/* After all of a part was read. */
static inline void cn_task_parts_set_depth(const struct cn_task_parts *parts,
                                           uint32_t part, uint32_t depth)
{
    atomic_store_explicit(&parts->depths[part], depth + 1, memory_order_relaxed);
}

struct cn_call_parts {
    pthread_mutex_t lock;
    struct cn_task_parts *tasks; /* NULL: not asked for yet */
    uint32_t task_count;
};

void cn_call_parts_init(struct cn_call_parts *parts);
void cn_call_parts_done(struct cn_call_parts *parts);

/* The parts of a task, valid until cn_call_parts_done(). `rec` is always the same one. */
const struct cn_task_parts *cn_call_parts_of(struct cn_call_parts *parts,
                                             const struct cn_recording *rec,
                                             uint32_t task);

#endif
