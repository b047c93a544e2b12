/* Work that an answer needs and that may take long: done by a thread of its own, while whoever
 * asks waits a moment and then says how far it is, to be asked again.
 *
 * A zeroed chore has not been started. Chores of one group share a lock; a chore that nobody has
 * asked about for a while is stopped.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_CHORE_H
#define CN_SERVER_SERVED_CHORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/progress.h"

struct cn_chore_group {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned working_count;
    bool is_stopping;
};

typedef bool (*cn_chore_fn)(void *arg, const struct cn_progress *progress,
                            struct cn_error *err);

struct cn_chore {
    /* Set before it is started. */
    struct cn_chore_group *group;
    cn_chore_fn work;
    void *arg;
    const char *what; /* "the flat view" */

    /* Under the lock of the group. */
    enum { CN_CHORE_NEW, CN_CHORE_WORKING, CN_CHORE_DONE, CN_CHORE_FAILED } state;
    double share_done;
    uint64_t asked_ns;
    struct cn_error failure;
    pthread_t thread;
    bool has_thread;
};

void cn_chore_group_init(struct cn_chore_group *group);

/* Ask all chores to stop; each must still be ended before the group is. */
void cn_chore_group_stop(struct cn_chore_group *group);
void cn_chore_group_done(struct cn_chore_group *group);

/* Wait until a chore is done, which is started when it is new. Fails as the chore did, which can
 * then be started again, or after a moment with CN_ERR_INTERRUPTED while it still works. */
CN_CHECK bool cn_chore_wait(struct cn_chore *chore, struct cn_error *err);

bool cn_chore_is_working(struct cn_chore *chore);

/* Wait until it has ended, and make it new. A chore that was never set is fine. */
void cn_chore_end(struct cn_chore *chore);

/* A condition to wait at until a moment, and the moment until which requests wait. */
void cn_moment_init(pthread_cond_t *changed);
struct timespec cn_moment_end(void);

#endif
