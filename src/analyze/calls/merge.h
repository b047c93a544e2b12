/* The calls of several tasks, in the order of their recorded times.
 *
 * Merging costs one comparison per call while the same task runs, and the logarithm of the
 * number of tasks when another one takes over.
 *
 * A damaged task ends at the damage, which is added to a list; the other tasks are read to
 * their end.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_MERGE_H
#define CN_ANALYZE_CALLS_MERGE_H

#include "analyze/calls/feed.h"
#include "model/calls/query.h"

/* Tasks that could not be read to their end. */
struct cn_call_damage {
    uint32_t task;
    struct cn_error err;
};
struct cn_call_damages {
    struct cn_call_damage *list;
    size_t count, capacity;
};

void cn_call_damages_add(struct cn_call_damages *damages, uint32_t task,
                         const struct cn_error *err);
void cn_call_damages_done(struct cn_call_damages *damages);

/* One call of the merged stream; the pointers are valid until the next step. */
struct cn_merged_call {
    const struct cn_call *call;
    const struct cn_call_batch *batch;
    uint32_t slot; /* its task is query->tasks[slot] */
};

struct cn_merge_input;

struct cn_call_merge {
    const struct cn_call_query *query;
    struct cn_merge_input *inputs; /* by slot */
    uint32_t *heap;                /* of slots, the earliest first */
    size_t heap_count;
    bool has_first; /* the first call of the heap was returned */
    struct cn_call_damages damages;
};

CN_CHECK bool cn_call_merge_open(struct cn_call_merge *merge,
                                 const struct cn_call_query *query, struct cn_error *err);
bool cn_call_merge_next(struct cn_call_merge *merge, struct cn_merged_call *out);
void cn_call_merge_close(struct cn_call_merge *merge);

/* The start of the recording, from which `elapsed` times count: the first time that a task
 * is known to run. 0 when no task ever runs. */
uint64_t cn_call_query_start(const struct cn_call_query *query);

#endif
