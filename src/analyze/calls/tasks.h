/* Calls and times of each task.
 * Threads: one thread at a time; starts `workers` threads of its own.
 */
#ifndef CN_ANALYZE_CALLS_TASKS_H
#define CN_ANALYZE_CALLS_TASKS_H

#include "analyze/calls/merge.h"

struct cn_task_cost {
    uint32_t task;
    uint64_t calls;             /* whether they returned or not, and waits */
    uint64_t total_ns;          /* in outermost calls */
    uint64_t self_ns;           /* of total_ns, without waiting */
    bool has_times;             /* it has records that count */
    uint64_t first_ns, last_ns; /* of these records */
    uint64_t slept_ns;          /* waiting while a call was open */
};

struct cn_call_tasks {
    struct cn_task_cost *list; /* in the order of the query */
    size_t count;
    struct cn_call_damages damages;
};

/* A call that never returned ends when its task exits, or with its last record. */
void cn_call_tasks_build(struct cn_call_tasks *tasks, const struct cn_call_query *query,
                         unsigned workers);
void cn_call_tasks_done(struct cn_call_tasks *tasks);

#endif
