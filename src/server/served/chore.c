#include "server/served/chore.h"

#include <errno.h>
#include <time.h>

#include "server/served/worker.h"

enum {
    WORKING_MAX = 4,   /* chores of a group at a time */
    MOMENT_MS = 250,   /* that a request waits before it says how far the work is */
    NOBODY_ASKS_S = 5, /* a chore that nobody asks about for so long is stopped */
    NS_PER_MS = 1000000,
};

static const uint64_t NS_PER_S = 1000000000;

void cn_moment_init(pthread_cond_t *changed)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

static struct timespec now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time;
}

static uint64_t now_ns(void)
{
    struct timespec time = now();

    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

struct timespec cn_moment_end(void)
{
    struct timespec end = now();

    end.tv_nsec += (long)MOMENT_MS * NS_PER_MS;
    if (end.tv_nsec >= (long)NS_PER_S) {
        end.tv_nsec -= (long)NS_PER_S;
        end.tv_sec++;
    }
    return end;
}

void cn_chore_group_init(struct cn_chore_group *group)
{
    *group = (struct cn_chore_group){0};
    (void)pthread_mutex_init(&group->lock, NULL);
    cn_moment_init(&group->changed);
}

void cn_chore_group_stop(struct cn_chore_group *group)
{
    (void)pthread_mutex_lock(&group->lock);
    group->is_stopping = true;
    (void)pthread_mutex_unlock(&group->lock);
}

void cn_chore_group_done(struct cn_chore_group *group)
{
    (void)pthread_cond_destroy(&group->changed);
    (void)pthread_mutex_destroy(&group->lock);
}

/* With the lock held. */
static bool goes_on(const struct cn_chore *chore)
{
    return !chore->group->is_stopping &&
           now_ns() - chore->asked_ns < NOBODY_ASKS_S * NS_PER_S;
}

static bool report(void *arg, const char *what, uint64_t done, uint64_t total,
                   const char *unit)
{
    struct cn_chore *chore = arg;
    bool result;

    (void)what;
    (void)unit;
    (void)pthread_mutex_lock(&chore->group->lock);
    if (total > 0)
        chore->share_done = (double)done / (double)total;
    result = goes_on(chore);
    (void)pthread_mutex_unlock(&chore->group->lock);
    return result;
}

static bool is_stopped(void *arg)
{
    struct cn_chore *chore = arg;
    bool result;

    (void)pthread_mutex_lock(&chore->group->lock);
    result = !goes_on(chore);
    (void)pthread_mutex_unlock(&chore->group->lock);
    return result;
}

static void *run(void *arg)
{
    struct cn_chore *chore = arg;
    struct cn_progress progress = {report, chore, is_stopped};
    struct cn_error err = {0};
    bool ok = chore->work(chore->arg, &progress, &err);

    (void)pthread_mutex_lock(&chore->group->lock);
    chore->state = ok ? CN_CHORE_DONE : CN_CHORE_FAILED;
    chore->failure = err;
    chore->group->working_count--;
    (void)pthread_cond_broadcast(&chore->group->changed);
    (void)pthread_mutex_unlock(&chore->group->lock);
    return NULL;
}

/* With the lock held: its thread has nothing left to do. */
static void join(struct cn_chore *chore)
{
    if (chore->has_thread)
        (void)pthread_join(chore->thread, NULL);
    chore->has_thread = false;
}

/* With the lock held. Too many others at work: it stays new, and the next one to ask tries
 * again. */
static bool start(struct cn_chore *chore, struct cn_error *err)
{
    if (chore->group->working_count == WORKING_MAX)
        return true;
    chore->share_done = 0;
    if (!cn_worker_start(&chore->thread, run, chore, err))
        return false;
    chore->has_thread = true;
    chore->state = CN_CHORE_WORKING;
    chore->group->working_count++;
    return true;
}

/* With the lock held. */
static bool finish(struct cn_chore *chore, struct cn_error *err)
{
    switch (chore->state) {
    case CN_CHORE_DONE:
        join(chore);
        return true;
    case CN_CHORE_FAILED:
        join(chore);
        chore->state = CN_CHORE_NEW;
        *err = chore->failure;
        return false;
    case CN_CHORE_NEW:
    case CN_CHORE_WORKING:
        break;
    }
    return cn_fail(err, CN_ERR_INTERRUPTED, "%s is being worked out: %.0f %% done",
                   chore->what, chore->share_done * 100);
}

bool cn_chore_wait(struct cn_chore *chore, struct cn_error *err)
{
    struct cn_chore_group *group = chore->group;
    struct timespec end = cn_moment_end();
    int result = 0;
    bool ok = true;

    (void)pthread_mutex_lock(&group->lock);
    chore->asked_ns = now_ns();
    if (chore->state == CN_CHORE_NEW)
        ok = start(chore, err);
    while (ok && chore->state == CN_CHORE_WORKING && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&group->changed, &group->lock, &end);
    ok = ok && finish(chore, err);
    (void)pthread_mutex_unlock(&group->lock);
    return ok;
}

bool cn_chore_is_working(struct cn_chore *chore)
{
    bool result;

    if (!chore->group)
        return false;
    (void)pthread_mutex_lock(&chore->group->lock);
    result = chore->state == CN_CHORE_WORKING;
    (void)pthread_mutex_unlock(&chore->group->lock);
    return result;
}

void cn_chore_end(struct cn_chore *chore)
{
    if (!chore->group)
        return;
    (void)pthread_mutex_lock(&chore->group->lock);
    while (chore->state == CN_CHORE_WORKING)
        (void)pthread_cond_wait(&chore->group->changed, &chore->group->lock);
    join(chore);
    chore->state = CN_CHORE_NEW;
    (void)pthread_mutex_unlock(&chore->group->lock);
}
