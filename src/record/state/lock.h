/* A lock that gives up after a while: in the child of a fork, the thread that locked may not
 * exist. Signals are blocked meanwhile.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STATE_LOCK_H
#define CN_RECORD_STATE_LOCK_H

#include "record/syscalls.h"

enum { CN_REC_LOCK_TRIES = 100000 };

static inline void cn_rec_lock(_Atomic uint32_t *lock)
{
    for (int i = 0; i < CN_REC_LOCK_TRIES && atomic_exchange(lock, 1); i++)
        (void)cn_rec_syscall3(SYS_sched_yield, 0, 0, 0);
}

static inline void cn_rec_unlock(_Atomic uint32_t *lock)
{
    atomic_store(lock, 0);
}

#endif
