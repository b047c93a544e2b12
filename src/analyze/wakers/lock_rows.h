/* Locks that threads waited for, and who kept them waiting: a row for each lock and place where it was given
 * back. A lock without a waiter has none.
 *
 *     cn_lock_rows_build(&rows, &study, is_chosen, begin_ns, end_ns, err)
 *     ... rows.list[i], rows.total_ns ...
 *     cn_lock_rows_done(&rows);
 *
 * The times of all rows add up to total_ns. How long a lock was kept is known of threads that had waited for
 * it themselves while others did: in between they cannot have given it back.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WAKERS_LOCK_ROWS_H
#define CN_ANALYZE_WAKERS_LOCK_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cn_wait_study;

/* NULL stands for unknown. */
struct cn_lock_row {
    const char *lock;   /* with its kind: "mutex queue_lock" */
    const char *waits;  /* where the longest wait was */
    const char *thread; /* that had it, or woke the one that waits; "end of worker" */
    const char *released_in, *taken_in;
    const char *taken_path; /* the whole call path */
    const char *meanwhile;  /* what took most of the time until then */
    uint64_t meanwhile_ns;  /* of seen_ns, of the longest waits */
    uint64_t seen_ns;
    uint64_t address, process; /* of the lock */
    uint64_t lock_ns;          /* of all rows of the lock */
    uint64_t time_ns, count, longest_ns, longest_at_ns;
    uint64_t kept_ns, kept_count, longest_kept_ns; /* where it is known */
    uint32_t waiter_count;                         /* threads */
    uint32_t context, waker_context;               /* of the longest wait; 0: unknown */
    bool is_variable;                              /* else the address tells it apart */
};

struct cn_lock_rows {
    struct cn_lock_row *list; /* locks with the most time first */
    size_t count, capacity;
    uint64_t total_ns;
    struct cn_arena arena;
};

/* Of the waits that chosen threads (by profile; NULL: all) have in a range of time. Released also after a
 * failure. */
CN_CHECK bool cn_lock_rows_build(struct cn_lock_rows *rows,
                                 const struct cn_wait_study *study, const bool *is_chosen,
                                 uint64_t begin_ns, uint64_t end_ns,
                                 struct cn_error *err);

/* Add up the rows of each lock, and put them in order. */
void cn_lock_rows_finish(struct cn_lock_rows *rows);
void cn_lock_rows_done(struct cn_lock_rows *rows);

#endif
