#include "base/host/lending_lock.h"

#include "base/run/lock.h"

void cn_lending_lock_init(struct cn_lock *lock)
{
    pthread_mutexattr_t attributes;

    *lock = (struct cn_lock){.is_broken = false};
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void)pthread_mutex_init(&lock->mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}
