/* A lock for data that threads share, where each use is short.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_LOCK_H
#define CN_BASE_RUN_LOCK_H

#include <pthread.h>

struct cn_lock {
    pthread_mutex_t mutex;
};

static inline void cn_lock_init(struct cn_lock *lock)
{
    (void)pthread_mutex_init(&lock->mutex, NULL);
}

static inline void cn_lock_done(struct cn_lock *lock)
{
    (void)pthread_mutex_destroy(&lock->mutex);
}

static inline void cn_lock_take(struct cn_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

static inline void cn_lock_release(struct cn_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

#endif
