#include "analyze/wakers/lock_calls.h"

#include <string.h>

#include "base/list.h"

/* What is recorded of the two kinds of functions that need more than their first argument. */
#define CALL(name, kind, action)                                       \
    {                                                                  \
        {name, CN_LOCK_##kind, CN_LOCK_##action}, name "@arg1/x", NULL \
    }
#define TRY(name, kind, action)                                                      \
    {                                                                                \
        {name, CN_LOCK_##kind, CN_LOCK_##action}, name "@arg1/x", name "@retval/i32" \
    }
#define SLEEP(name)                                                            \
    {                                                                          \
        {name, CN_LOCK_CONDITION, CN_LOCK_SLEEPS}, name "@arg1/x,arg2/x", NULL \
    }

static const struct {
    struct cn_lock_call call;
    const char *argument, *result;
} known[] = {
    CALL("pthread_mutex_lock", MUTEX, TAKES),
    CALL("pthread_mutex_timedlock", MUTEX, TAKES),
    CALL("pthread_mutex_clocklock", MUTEX, TAKES),
    CALL("pthread_spin_lock", MUTEX, TAKES),
    CALL("mtx_lock", MUTEX, TAKES),
    TRY("pthread_mutex_trylock", MUTEX, TRIES),
    TRY("pthread_spin_trylock", MUTEX, TRIES),
    TRY("mtx_trylock", MUTEX, TRIES),
    CALL("pthread_mutex_unlock", MUTEX, GIVES),
    CALL("pthread_spin_unlock", MUTEX, GIVES),
    CALL("mtx_unlock", MUTEX, GIVES),
    CALL("pthread_rwlock_wrlock", RWLOCK, TAKES),
    CALL("pthread_rwlock_timedwrlock", RWLOCK, TAKES),
    CALL("pthread_rwlock_clockwrlock", RWLOCK, TAKES),
    CALL("pthread_rwlock_rdlock", RWLOCK, TAKES_SHARED),
    CALL("pthread_rwlock_timedrdlock", RWLOCK, TAKES_SHARED),
    CALL("pthread_rwlock_clockrdlock", RWLOCK, TAKES_SHARED),
    TRY("pthread_rwlock_trywrlock", RWLOCK, TRIES),
    TRY("pthread_rwlock_tryrdlock", RWLOCK, TRIES_SHARED),
    CALL("pthread_rwlock_unlock", RWLOCK, GIVES),
    SLEEP("pthread_cond_wait"),
    SLEEP("pthread_cond_timedwait"),
    SLEEP("pthread_cond_clockwait"),
    SLEEP("cnd_wait"),
    SLEEP("cnd_timedwait"),
    CALL("pthread_cond_signal", CONDITION, WAKES),
    CALL("pthread_cond_broadcast", CONDITION, WAKES),
    CALL("cnd_signal", CONDITION, WAKES),
    CALL("cnd_broadcast", CONDITION, WAKES),
    CALL("std::condition_variable::wait", CONDITION, AWAITS),
    CALL("std::condition_variable::notify_one", CONDITION, WAKES),
    CALL("std::condition_variable::notify_all", CONDITION, WAKES),
    CALL("sem_wait", SEMAPHORE, AWAITS),
    CALL("sem_timedwait", SEMAPHORE, AWAITS),
    CALL("sem_clockwait", SEMAPHORE, AWAITS),
    CALL("sem_post", SEMAPHORE, WAKES),
    CALL("pthread_barrier_wait", BARRIER, MEETS),
};

/* "std::condition_variable::wait(std::unique_lock<std::mutex>&)" is that without its parameters. */
const struct cn_lock_call *cn_lock_call_find(const char *function)
{
    size_t len = strcspn(function, "(");

    for (size_t i = 0; i < CN_COUNT_OF(known); i++)
        if (strncmp(known[i].call.function, function, len) == 0 &&
            known[i].call.function[len] == '\0')
            return &known[i].call;
    return NULL;
}

bool cn_lock_call_options(size_t at, const char **argument, const char **result)
{
    if (at >= CN_COUNT_OF(known))
        return false;
    *argument = known[at].argument;
    *result = known[at].result;
    return true;
}
