/* A lock: the thread that locked it, or 0. Signals are blocked meanwhile.
 *
 * A lock whose owner does not exist is taken by another thread: it was forked away, or killed. The
 * owner is named by its memory image and its number. The image is that of the first process that
 * used this memory; fork clears it, so that a child has one of its own, while a process that
 * shares the memory (vfork, clone) has the same. An owner that exists is waited for, however
 * long it does not run.
 * Threads: any thread.
 */
#ifndef CN_RECORD_STATE_LOCK_H
#define CN_RECORD_STATE_LOCK_H

#include <time.h>

#include "record/process.h"
#include "record/syscalls.h"

enum {
    CN_REC_LOCK_YIELDS = 100, /* then sleep: its owner may have a lower priority */
    CN_REC_LOCK_LOOK = 20,    /* tries, then see whether its owner exists */
    CN_REC_LOCK_NAP_NS = 50000,
};

struct cn_rec_lock {
    _Atomic uint64_t owner;
};

/* The number of this memory. */
static inline uint32_t cn_rec_image(void)
{
    _Atomic uint32_t *image = cn_rec_process.image;
    uint32_t number = image ? atomic_load(image) : cn_rec_pid();

    if (number == 0) {
        number = cn_rec_pid();
        atomic_store(image, number);
    }
    return number;
}

static inline bool cn_rec_lock_is_left(uint64_t owner)
{
    return owner >> 32 != cn_rec_image() ||
           cn_rec_syscall3(SYS_tkill, (long)(uint32_t)owner, 0, 0) == -ESRCH;
}

/* Lock it if it is free, or if `looks` and its owner does not exist. */
static inline bool cn_rec_lock_try(struct cn_rec_lock *lock, bool looks)
{
    uint64_t self = (uint64_t)cn_rec_image() << 32 | cn_rec_tid(), owner = 0;

    return atomic_compare_exchange_strong(&lock->owner, &owner, self) ||
           (looks && cn_rec_lock_is_left(owner) &&
            atomic_compare_exchange_strong(&lock->owner, &owner, self));
}

static inline void cn_rec_lock(struct cn_rec_lock *lock)
{
    struct timespec nap = {.tv_nsec = CN_REC_LOCK_NAP_NS};

    for (uint32_t tries = 1; !cn_rec_lock_try(lock, tries % CN_REC_LOCK_LOOK == 0);
         tries++) {
        if (tries < CN_REC_LOCK_YIELDS)
            (void)cn_rec_syscall3(SYS_sched_yield, 0, 0, 0);
        else
            (void)cn_rec_syscall3(SYS_nanosleep, (long)&nap, 0, 0);
    }
}

static inline void cn_rec_unlock(struct cn_rec_lock *lock)
{
    atomic_store(&lock->owner, 0);
}

#endif
