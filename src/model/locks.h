/* Locks that threads waited for, and at which waits: by the address of the word that the kernel was asked to
 * wait on (a futex).
 *
 * A zeroed one is empty. cn_locks_done() releases it.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_MODEL_LOCKS_H
#define CN_MODEL_LOCKS_H

#include <stddef.h>
#include <stdint.h>

struct cn_waited_lock {
    uint64_t address; /* in the process; not the same in every run */
    uint64_t process; /* its number */
    uint64_t offset;  /* in the variable */
    const char *
        variable; /* that it is a part of: "queue_lock", "prog+0x4040"; "": of none, as on the heap */
};

/* A thread began to wait for a lock. */
struct cn_lock_wait {
    uint64_t time_ns;
    uint32_t profile;
    uint32_t lock; /* in the list */
};

struct cn_locks {
    struct cn_waited_lock *list;
    struct cn_lock_wait *waits; /* in any order */
    size_t count, wait_count, capacity, wait_capacity;
};

void cn_locks_done(struct cn_locks *locks);

#endif
