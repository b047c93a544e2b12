/* The calls of several tasks in the order of time.
 *
 * Each step costs a comparison while one task goes on, and the logarithm of the
 * number of tasks when another one takes over.
 *
 * A damaged task ends where the damage is; cn_call_merge_next() goes on with the
 * others, and the damage is noted.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_MERGE_H
#define CN_ANALYZE_CALLS_CALL_MERGE_H

#include "analyze/calls/call_feed.h"
#include "model/calls/call_query.h"

/* Tasks whose records could not be read to the end. */
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

struct cn_merge_lane;

struct cn_call_merge {
    const struct cn_call_query *query;
    struct cn_merge_lane *lanes; /* by slot */
    uint32_t *heap;              /* of slots, the earliest first */
    uint32_t heap_count;
    bool has_first; /* the first call of the heap was handed out */
    struct cn_call_damages damages;
};

CN_CHECK bool cn_call_merge_open(struct cn_call_merge *merge,
                                 const struct cn_call_query *query, struct cn_error *err);
bool cn_call_merge_next(struct cn_call_merge *merge, struct cn_merged_call *out);
void cn_call_merge_close(struct cn_call_merge *merge);

/* When the recording starts as `elapsed` counts: the first time that a task is known
 * to run. 0 when nothing ever runs. */
uint64_t cn_call_query_start(const struct cn_call_query *query);

#endif
