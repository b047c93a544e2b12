/* Calls of one track in the order of time, from sorted runs in memory or in a file.
 * Threads: each reader belongs to one thread.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALL_RUNS_H
#define CN_FORMATS_EXCHANGE_READ_CALL_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/files/spool.h"
#include "model/step.h"

struct cn_call_item {
    uint64_t time_ns;
    uint64_t duration_ns; /* CN_CALL_BEGIN: half a call */
    uint32_t name;        /* CN_NONE: the end of one */
    uint32_t order;       /* as read */
};

struct cn_call_run {
    uint64_t off; /* in the spool */
    uint64_t count;
};

/* All of a track: runs in the spool, and those that are still in memory. */
struct cn_call_runs {
    struct cn_call_run *list;
    size_t count, capacity;
    struct cn_call_item *items; /* sorted once the import is finished */
    size_t item_count, item_capacity;
};

void cn_call_items_sort(struct cn_call_item *items, size_t count);

struct cn_run_merge;

struct cn_run_merge *cn_run_merge_new(const struct cn_call_runs *runs,
                                      const struct cn_spool *spool);
void cn_run_merge_free(struct cn_run_merge *merge); /* NULL is fine */

/* The next item without taking it; CN_END when there is none. */
CN_CHECK enum cn_step cn_run_merge_peek(struct cn_run_merge *merge,
                                        const struct cn_call_item **out,
                                        struct cn_error *err);
void cn_run_merge_take(struct cn_run_merge *merge);

#endif
