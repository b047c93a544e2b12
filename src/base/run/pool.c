#include "base/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"

/* How often a worker looks whether it is its turn before it goes to sleep: about as
 * long as going to sleep and being woken takes. */
enum { LOOKS_MAX = 1000 };

struct shared {
    const struct cn_jobs *jobs;
    atomic_size_t next_job, next_take;
    unsigned looks; /* LOOKS_MAX, or 0 where workers outnumber processors */
    atomic_uint sleeper_count;
    pthread_mutex_t lock;
    pthread_cond_t taken; /* next_take has moved on, for those who sleep */
};

struct worker {
    struct shared *shared;
    unsigned number;
    pthread_t thread;
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void wait_for_turn(struct shared *shared, size_t job)
{
    for (unsigned i = 0; i < shared->looks; i++) {
        if (atomic_load(&shared->next_take) == job)
            return;
        pause_briefly();
    }
    (void)pthread_mutex_lock(&shared->lock);
    /* Count first, then check: a thread that increments next_take and sees no sleeper did so
     * before this check. */
    atomic_fetch_add(&shared->sleeper_count, 1);
    while (atomic_load(&shared->next_take) != job)
        (void)pthread_cond_wait(&shared->taken, &shared->lock);
    atomic_fetch_sub(&shared->sleeper_count, 1);
    (void)pthread_mutex_unlock(&shared->lock);
}

static void take_in_turn(struct shared *shared, size_t job, unsigned number)
{
    wait_for_turn(shared, job);
    shared->jobs->take(shared->jobs->arg, job, number);
    atomic_store(&shared->next_take, job + 1);
    if (atomic_load(&shared->sleeper_count) == 0)
        return;
    (void)pthread_mutex_lock(&shared->lock);
    (void)pthread_cond_broadcast(&shared->taken);
    (void)pthread_mutex_unlock(&shared->lock);
}

static void *work(void *arg)
{
    struct worker *self = arg;
    const struct cn_jobs *jobs = self->shared->jobs;
    size_t job;

    while ((job = atomic_fetch_add(&self->shared->next_job, 1)) < jobs->count) {
        jobs->run(jobs->arg, job, self->number);
        if (jobs->take)
            take_in_turn(self->shared, job, self->number);
        if (jobs->finish)
            jobs->finish(jobs->arg, job, self->number);
    }
    return NULL;
}

void cn_pool_run(const struct cn_jobs *jobs, unsigned workers)
{
    unsigned count = workers == 0 ? 1 : workers;
    struct shared shared = {
        .jobs = jobs,
        .looks = count <= cn_pool_default_workers() ? LOOKS_MAX : 0,
    };
    struct worker *list = cn_alloc(count, sizeof(*list));
    unsigned started = 1;

    (void)pthread_mutex_init(&shared.lock, NULL);
    (void)pthread_cond_init(&shared.taken, NULL);
    for (unsigned i = 0; i < count; i++)
        list[i] = (struct worker){.shared = &shared, .number = i};
    /* The calling thread is worker 0: where no thread can be started, it does it all. */
    while (started < count && started < jobs->count &&
           pthread_create(&list[started].thread, NULL, work, &list[started]) == 0)
        started++;
    (void)work(&list[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(list[i].thread, NULL);
    (void)pthread_cond_destroy(&shared.taken);
    (void)pthread_mutex_destroy(&shared.lock);
    free(list);
}

unsigned cn_pool_default_workers(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}
