/* Names for the locks that threads waited for, the same in every run: the variable that the lock is in, else
 * the function that waits for it most.
 *
 *     cn_lock_names_build(&names, &graph, db, &frames, &sites);
 *     if (wait->lock != 0) ... names.list[wait->lock - 1] ...
 *     cn_lock_names_done(&names);
 *
 * Several words of memory are one lock if they are in one variable that is not larger than a lock, or close to
 * each other in a condition variable or the like.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_WAKERS_LOCK_NAMES_H
#define CN_ANALYZE_WAKERS_LOCK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/lock_kinds.h"
#include "base/arena.h"

struct cn_database;
struct cn_frames;
struct cn_wait_graph;
struct cn_wait_sites;

struct cn_named_lock {
    const char *name; /* with its kind: "mutex queue_lock", "mutex of take_job" */
    enum cn_lock_kind kind;
    bool is_variable;          /* else several have the same name */
    uint64_t address, process; /* of the first word; number of the process */
};

struct cn_lock_names {
    struct cn_named_lock *list;
    size_t count, capacity;
    struct cn_arena arena;
};

/* `graph`: its waits have numbers of locks of the database, plus one; then of this list. */
void cn_lock_names_build(struct cn_lock_names *names, struct cn_wait_graph *graph,
                         const struct cn_database *db, const struct cn_frames *frames,
                         const struct cn_wait_sites *sites);
void cn_lock_names_done(struct cn_lock_names *names); /* a zeroed one is fine */

#endif
