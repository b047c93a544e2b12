#include "base/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

/* How often a worker looks whether it is its turn before it goes to sleep: about as
 * long as going to sleep and being woken takes. */
enum { LOOKS_MAX = 1000 };

/* Where the worker of a job waits for its turn. The jobs between claiming and taking are
 * consecutive and at most one per worker, so job % workers gives each a turn of its own: a
 * worker looks at a word that changes once, and is woken alone. */
struct turn {
    atomic_size_t job; /* that may be taken; SIZE_MAX: none yet */
    atomic_bool is_awaited;
    pthread_mutex_t lock;
    pthread_cond_t has_come;
};

struct shared {
    const struct cn_jobs *jobs;
    atomic_size_t next_job;
    unsigned looks; /* LOOKS_MAX, or 0 where workers outnumber processors */
    struct turn *turns;
    size_t turn_count;
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
    struct turn *turn = &shared->turns[job % shared->turn_count];

    for (unsigned i = 0; i < shared->looks; i++) {
        if (atomic_load(&turn->job) == job)
            return;
        pause_briefly();
    }
    (void)pthread_mutex_lock(&turn->lock);
    /* Announce first, then check: a thread that passes the turn on and sees no waiter did so
     * before this check. */
    atomic_store(&turn->is_awaited, true);
    while (atomic_load(&turn->job) != job)
        (void)pthread_cond_wait(&turn->has_come, &turn->lock);
    atomic_store(&turn->is_awaited, false);
    (void)pthread_mutex_unlock(&turn->lock);
}

static void take_in_turn(struct shared *shared, size_t job, unsigned number)
{
    struct turn *next = &shared->turns[(job + 1) % shared->turn_count];

    wait_for_turn(shared, job);
    shared->jobs->take(shared->jobs->arg, job, number);
    atomic_store(&next->job, job + 1);
    if (!atomic_load(&next->is_awaited))
        return;
    (void)pthread_mutex_lock(&next->lock);
    (void)pthread_cond_signal(&next->has_come);
    (void)pthread_mutex_unlock(&next->lock);
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

static struct turn *new_turns(size_t count)
{
    struct turn *turns = cn_alloc(count, sizeof(*turns));

    for (size_t i = 0; i < count; i++) {
        atomic_init(&turns[i].job, i == 0 ? 0 : SIZE_MAX);
        atomic_init(&turns[i].is_awaited, false);
        (void)pthread_mutex_init(&turns[i].lock, NULL);
        (void)pthread_cond_init(&turns[i].has_come, NULL);
    }
    return turns;
}

static void free_turns(struct turn *turns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)pthread_cond_destroy(&turns[i].has_come);
        (void)pthread_mutex_destroy(&turns[i].lock);
    }
    free(turns);
}

void cn_pool_run(const struct cn_jobs *jobs, unsigned workers)
{
    unsigned count = workers == 0 ? 1 : workers;
    struct shared shared = {
        .jobs = jobs,
        .looks = count <= cn_pool_default_workers() ? LOOKS_MAX : 0,
        .turns = new_turns(count),
        .turn_count = count,
    };
    struct worker *list = cn_alloc(count, sizeof(*list));
    unsigned started = 1;

    for (unsigned i = 0; i < count; i++)
        list[i] = (struct worker){.shared = &shared, .number = i};
    /* The calling thread is worker 0: where no thread can be started, it does it all. */
    while (started < count && started < jobs->count &&
           pthread_create(&list[started].thread, NULL, work, &list[started]) == 0)
        started++;
    (void)work(&list[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(list[i].thread, NULL);
    free_turns(shared.turns, count);
    free(list);
}

unsigned cn_pool_default_workers(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}
