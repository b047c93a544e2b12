#include "base/run/lock.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"

struct cn_lock {
    pthread_mutex_t mutex;
};

struct cn_lock *cn_lock_new(void)
{
    struct cn_lock *lock = cn_alloc(1, sizeof(*lock));

    (void)pthread_mutex_init(&lock->mutex, NULL);
    return lock;
}

void cn_lock_free(struct cn_lock *lock)
{
    if (!lock)
        return;
    (void)pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void cn_lock_acquire(struct cn_lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

void cn_lock_release(struct cn_lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}
