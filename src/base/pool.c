#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/alloc.h"

struct shared {
    const struct cn_jobs *jobs;
    pthread_mutex_t lock;
    pthread_cond_t taken; /* next_take has moved on */
    size_t next_job, next_take;
};

struct worker {
    struct shared *shared;
    unsigned number;
    pthread_t thread;
};

static void take_in_turn(struct shared *shared, size_t job, unsigned number)
{
    (void)pthread_mutex_lock(&shared->lock);
    while (shared->next_take != job)
        (void)pthread_cond_wait(&shared->taken, &shared->lock);
    shared->jobs->take(shared->jobs->arg, job, number);
    shared->next_take++;
    (void)pthread_cond_broadcast(&shared->taken);
    (void)pthread_mutex_unlock(&shared->lock);
}

static size_t claim(struct shared *shared)
{
    size_t job;

    (void)pthread_mutex_lock(&shared->lock);
    job = shared->next_job++;
    (void)pthread_mutex_unlock(&shared->lock);
    return job;
}

static void *work(void *arg)
{
    struct worker *self = arg;
    const struct cn_jobs *jobs = self->shared->jobs;
    size_t job;

    while ((job = claim(self->shared)) < jobs->count) {
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
    struct shared shared = {.jobs = jobs};
    unsigned count = workers == 0 ? 1 : workers;
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
