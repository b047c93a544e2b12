/* The calls or readings of one track in the order of time, merged from sorted runs in memory and in a
 * spool.
 * Threads: a merge belongs to one thread.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_RUNS_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/files/spool.h"
#include "model/step.h"

struct cn_imported_call {
    uint64_t time_ns;
    union {
        uint64_t duration_ns; /* CN_CALL_BEGIN: the begin or the end of a call */
        double value;         /* of a reading */
    };
    uint32_t name;  /* CN_NONE: the end of a call; of a reading: its counter */
    uint32_t order; /* in the input */
};

struct cn_call_run {
    uint64_t off; /* in the spool */
    uint64_t count;
};

/* All calls or all readings of a track: runs in the spool, and items in memory. */
struct cn_call_runs {
    bool
        has_readings; /* instead of calls; those of one time are in the order of the input */
    struct cn_call_run *list;
    size_t count, capacity;
    struct cn_imported_call *items; /* sorted once the import is finished */
    size_t item_count, item_capacity;
};

void cn_call_runs_done(struct cn_call_runs *runs);

/* Sort the items in memory. */
void cn_call_runs_sort(struct cn_call_runs *runs);

struct cn_run_merge;

/* Borrows the runs and the spool. */
struct cn_run_merge *cn_run_merge_new(const struct cn_call_runs *runs,
                                      const struct cn_spool *spool);
void cn_run_merge_free(struct cn_run_merge *merge);

/* The next item, without taking it; CN_END if there is none. */
CN_CHECK enum cn_step cn_run_merge_peek(struct cn_run_merge *merge,
                                        const struct cn_imported_call **out,
                                        struct cn_error *err);
void cn_run_merge_take(struct cn_run_merge *merge);

#endif
