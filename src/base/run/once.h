/* Work that is done once, by the first thread that needs it.
 * Threads: any thread may run it; the others wait until it is done.
 */
#ifndef CN_BASE_RUN_ONCE_H
#define CN_BASE_RUN_ONCE_H

#include <pthread.h>
#include <stdbool.h>

struct cn_once {
    pthread_mutex_t lock;
    _Atomic(bool) is_done;
};

void cn_once_init(struct cn_once *once);
void cn_once_done(struct cn_once *once);

/* Call `work` unless it was called before. All threads see its changes afterwards. */
void cn_once_run(struct cn_once *once, void (*work)(void *arg), void *arg);

#endif
