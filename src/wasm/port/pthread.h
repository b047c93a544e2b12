/* Threads where there is one: a new thread runs to its end before pthread_create() returns,
 * so locks are free and conditions have been signalled when they are asked for.
 * Threads: one thread at a time.
 */
#ifndef CN_WASM_PORT_PTHREAD_H
#define CN_WASM_PORT_PTHREAD_H

#include <assert.h>
#include <time.h>

typedef int cn_port_thread, cn_port_lock, cn_port_condition, cn_port_attributes;
#define pthread_t          cn_port_thread
#define pthread_mutex_t    cn_port_lock
#define pthread_cond_t     cn_port_condition
#define pthread_condattr_t cn_port_attributes

static inline int pthread_create(pthread_t *thread, const void *attributes,
                                 void *(*run)(void *), void *arg)
{
    *thread = 0;
    (void)run(arg);
    return 0;
}

static inline int pthread_join(pthread_t thread, void **result)
{
    return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *lock, const void *attributes)
{
    *lock = 0;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *lock)
{
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *lock)
{
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *lock)
{
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *lock)
{
    return 0;
}

static inline int pthread_condattr_init(pthread_condattr_t *attributes)
{
    *attributes = 0;
    return 0;
}

static inline int pthread_condattr_setclock(pthread_condattr_t *attributes, clockid_t id)
{
    return 0;
}

static inline int pthread_condattr_destroy(pthread_condattr_t *attributes)
{
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *condition,
                                    const pthread_condattr_t *attributes)
{
    *condition = 0;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
    return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *condition)
{
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *condition)
{
    return 0;
}

static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    assert(!"no other thread can signal this condition");
    return 0;
}

static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock,
                                         const struct timespec *deadline)
{
    return pthread_cond_wait(condition, lock);
}

#endif
