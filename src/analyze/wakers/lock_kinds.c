#include "analyze/wakers/lock_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/list.h"

const char *const cn_lock_kind_names[CN_LOCK_KINDS] = {
    [CN_LOCK_FUTEX] = "futex",     [CN_LOCK_MUTEX] = "mutex",
    [CN_LOCK_RWLOCK] = "rwlock",   [CN_LOCK_CONDITION] = "condition",
    [CN_LOCK_BARRIER] = "barrier", [CN_LOCK_SEMAPHORE] = "semaphore",
    [CN_LOCK_ONCE] = "once",       [CN_LOCK_JOIN] = "thread",
};

/* Parts of names, of the C library, the standard libraries of C++ and Rust, and Go's run-time. */
static const struct {
    const char *part;
    enum cn_lock_kind kind;
} parts[] = {
    {"mutex_lock", CN_LOCK_MUTEX},         {"mutex_timedlock", CN_LOCK_MUTEX},
    {"mutex_clocklock", CN_LOCK_MUTEX},    {"mutex_cond_lock", CN_LOCK_MUTEX},
    {"lll_lock_wait", CN_LOCK_MUTEX},      {"utex::lock_contended", CN_LOCK_MUTEX},
    {"runtime.lock2", CN_LOCK_MUTEX},      {"mtx_lock", CN_LOCK_MUTEX},
    {"rwlock_", CN_LOCK_RWLOCK},           {"RwLock::", CN_LOCK_RWLOCK},
    {"cond_wait", CN_LOCK_CONDITION},      {"cond_timedwait", CN_LOCK_CONDITION},
    {"cond_clockwait", CN_LOCK_CONDITION}, {"cnd_wait", CN_LOCK_CONDITION},
    {"Condvar::wait", CN_LOCK_CONDITION},  {"sem_wait", CN_LOCK_SEMAPHORE},
    {"sem_timedwait", CN_LOCK_SEMAPHORE},  {"sem_clockwait", CN_LOCK_SEMAPHORE},
    {"barrier_wait", CN_LOCK_BARRIER},     {"pthread_once", CN_LOCK_ONCE},
    {"Once::call", CN_LOCK_ONCE},          {"pthread_clockjoin", CN_LOCK_JOIN},
    {"pthread_timedjoin", CN_LOCK_JOIN},   {"pthread_join", CN_LOCK_JOIN},
    {"thrd_join", CN_LOCK_JOIN},
};

enum cn_lock_kind cn_lock_kind_of(const char *function)
{
    for (size_t i = 0; i < CN_COUNT_OF(parts); i++)
        if (strstr(function, parts[i].part))
            return parts[i].kind;
    return CN_LOCK_FUTEX;
}

uint8_t *cn_lock_kinds(const struct cn_frames *frames)
{
    uint8_t *of_place = cn_alloc(frames->names.count + 1, sizeof(*of_place));
    uint8_t *kinds = cn_alloc(frames->count + 1, sizeof(*kinds));

    for (size_t i = 0; i < frames->names.count; i++)
        of_place[i] = (uint8_t)cn_lock_kind_of(frames->names.list[i]);
    for (size_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];

        kinds[i] = frame->place < frames->names.count ? of_place[frame->place]
                                                      : (uint8_t)CN_LOCK_FUTEX;
        if (kinds[i] == CN_LOCK_FUTEX && frame->parent < i)
            kinds[i] = kinds[frame->parent];
    }
    free(of_place);
    return kinds;
}
