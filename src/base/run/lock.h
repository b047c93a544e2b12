/* A lock for data that threads share, where each use is short.
 *
 * If a thread runs out of memory while it holds the lock (base/memory.h), the lock is broken:
 * taking it fails as an allocation does, so that data which may be half changed is not used.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_LOCK_H
#define CN_BASE_RUN_LOCK_H

#include <pthread.h>

#include "base/memory.h"

struct cn_lock {
    struct cn_held held; /* first: released by it */
    pthread_mutex_t mutex;
    bool is_broken;
};

static inline void cn_lock_init(struct cn_lock *lock)
{
    *lock = (struct cn_lock){.is_broken = false};
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

static inline void cn_lock_done(struct cn_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

static inline void cn_lock_break(struct cn_held *held)
{
    struct cn_lock *lock = (struct cn_lock *)held;

    lock->is_broken = true;
    cn_memory_note_broken();
    (void)pthread_mutex_unlock(&lock->mutex);
}

static inline void cn_lock_release(struct cn_lock *lock)
{
    cn_memory_drop(&lock->held);
    (void)pthread_mutex_unlock(&lock->mutex);
}

static inline void cn_lock_take(struct cn_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
    if (lock->is_broken) {
        (void)pthread_mutex_unlock(&lock->mutex);
        cn_memory_fail();
    }
    cn_memory_hold(&lock->held, cn_lock_break);
}

#endif
