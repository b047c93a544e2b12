/* Work that is done once, by the first thread that needs it.
 * Threads: any thread may run it; the others wait until it is done.
 */
#ifndef CN_BASE_RUN_ONCE_H
#define CN_BASE_RUN_ONCE_H

#include <stdbool.h>

#include "base/run/lock.h"

struct cn_once {
    struct cn_lock lock;
    _Atomic(bool) is_done;
};
#define CN_ONCE_NEW                                   \
    {                                                 \
        .lock = {.mutex = PTHREAD_MUTEX_INITIALIZER } \
    }

void cn_once_init(struct cn_once *once);
void cn_once_done(struct cn_once *once);

/* Call `work` unless it was called before. All threads see its changes afterwards. Work that
 * runs out of memory is not called again: everyone fails as it did. */
void cn_once_run(struct cn_once *once, void (*work)(void *arg), void *arg);

#endif
