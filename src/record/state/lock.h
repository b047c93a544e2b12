/* A lock: the thread that locked it, or 0. In the child of a fork that thread may not exist: then
 * another takes the lock. One that exists is waited for, however long it does not run. Signals
 * are blocked meanwhile.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STATE_LOCK_H
#define CN_RECORD_STATE_LOCK_H

#include "record/process.h"
#include "record/syscalls.h"

enum {
    CN_REC_LOCK_TRIES = 100000, /* where it cannot be known whether the owner exists */
    CN_REC_LOCK_LOOK = 1000,    /* tries, then see whether it does */
};

/* True if the owner does not exist. A process that does not have its own number yet is the
 * child of a fork, or shares the memory of its parent. */
static inline bool cn_rec_lock_is_left(uint32_t owner, uint32_t tries)
{
    uint32_t pid = cn_rec_pid();

    if (cn_rec_is_sandboxed || pid != atomic_load(&cn_rec_process.pid))
        return tries >= CN_REC_LOCK_TRIES;
    return cn_rec_syscall3(SYS_tgkill, (long)pid, (long)owner, 0) == -ESRCH;
}

static inline void cn_rec_lock(_Atomic uint32_t *lock)
{
    uint32_t self = cn_rec_tid();

    for (uint32_t tries = 1;; tries++) {
        uint32_t owner = 0;

        if (atomic_compare_exchange_strong(lock, &owner, self))
            return;
        if (tries % CN_REC_LOCK_LOOK == 0 &&
            (owner == self || cn_rec_lock_is_left(owner, tries)) &&
            atomic_compare_exchange_strong(lock, &owner, self))
            return;
        (void)cn_rec_syscall3(SYS_sched_yield, 0, 0, 0);
    }
}

static inline void cn_rec_unlock(_Atomic uint32_t *lock)
{
    atomic_store(lock, 0);
}

#endif
