#include "base/run/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/memory.h"
#include "base/run/clock.h"

/* How often a worker looks whether its job was taken before it goes to sleep: about as
 * long as going to sleep and being woken takes. */
enum { LOOKS_MAX = 1000 };

/* How long a worker takes the jobs of others before it goes on with its own. */
enum { PATIENCE_NS = 100000 };

/* The job that an entry stands for, job % workers: jobs between claiming and taking are
 * consecutive and at most one per worker, so each has an entry of its own. */
enum pool_entry {
    ENTRY_RUNS,         /* or is not claimed yet */
    ENTRY_MAY_BE_TAKEN, /* before its run has ended: all earlier ones are taken */
    ENTRY_WAITS,        /* its run has ended; + the number of its worker */
};

enum news {
    NEWS_NONE,
    NEWS_TURN,  /* the job is the next to be taken, by its own worker */
    NEWS_TAKEN, /* another worker took the job */
};

struct pool_worker {
    struct pool_shared *shared;
    unsigned number;
    pthread_t thread;
    atomic_int news; /* of the job that waits */
    atomic_bool is_asleep;
    pthread_mutex_t lock;
    pthread_cond_t has_news;
};

struct pool_shared {
    const struct cn_jobs *jobs;
    atomic_size_t next_job;
    unsigned looks; /* LOOKS_MAX, or 0 where workers outnumber processors */
    struct pool_worker *workers;
    atomic_uint *entries;
    size_t count;           /* of workers, and of entries */
    bool is_scoped;         /* the caller survives when there is no memory: */
    atomic_bool has_failed; /* then no more is done, */
    atomic_bool has_broken; /* and this may be left behind */
};

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static enum news wait_for_news(struct pool_worker *self)
{
    int news;

    for (unsigned i = 0; i < self->shared->looks; i++) {
        news = atomic_load(&self->news);
        if (news != NEWS_NONE)
            return (enum news)news;
        pause_briefly();
    }
    (void)pthread_mutex_lock(&self->lock);
    /* Announce first, then check: a thread that brings news and sees no sleeper did so
     * before this check. */
    atomic_store(&self->is_asleep, true);
    while ((news = atomic_load(&self->news)) == NEWS_NONE)
        (void)pthread_cond_wait(&self->has_news, &self->lock);
    atomic_store(&self->is_asleep, false);
    (void)pthread_mutex_unlock(&self->lock);
    return (enum news)news;
}

static void tell(struct pool_worker *worker, enum news news)
{
    atomic_store(&worker->news, news);
    if (!atomic_load(&worker->is_asleep))
        return;
    (void)pthread_mutex_lock(&worker->lock);
    (void)pthread_cond_signal(&worker->has_news);
    (void)pthread_mutex_unlock(&worker->lock);
}

/* Do a step of a job, unless another one has run out of memory. */
static void do_step(struct pool_shared *shared,
                    void (*step)(void *arg, size_t job, unsigned worker), size_t job,
                    unsigned worker)
{
    struct cn_memory_scope scope;

    if (!shared->is_scoped) {
        step(shared->jobs->arg, job, worker);
        return;
    }
    if (atomic_load(&shared->has_failed))
        return;
    cn_memory_scope_begin(&scope);
    if (setjmp(scope.start) == 0)
        step(shared->jobs->arg, job, worker);
    cn_memory_scope_end(&scope);
    if (scope.has_failed)
        atomic_store(&shared->has_failed, true);
    if (scope.has_broken)
        atomic_store(&shared->has_broken, true);
}

/* Takes a job whose turn it is, then those after it that wait, so that order does not cost
 * a change of threads for each job; then leaves the turn to the next job. */
static void take_ready(struct pool_worker *self, size_t job)
{
    struct pool_shared *shared = self->shared;
    const struct cn_jobs *jobs = shared->jobs;
    uint64_t end = cn_clock_ns() + PATIENCE_NS;

    do_step(shared, jobs->take, job, self->number);
    while (++job < jobs->count) {
        atomic_uint *entry = &shared->entries[job % shared->count];
        unsigned state = ENTRY_RUNS;

        if (atomic_compare_exchange_strong(entry, &state, ENTRY_MAY_BE_TAKEN))
            return;
        struct pool_worker *owner = &shared->workers[state - ENTRY_WAITS];
        atomic_store(entry, ENTRY_RUNS);
        if (cn_clock_ns() > end) {
            tell(owner, NEWS_TURN);
            return;
        }
        do_step(shared, jobs->take, job, owner->number);
        tell(owner, NEWS_TAKEN);
    }
}

/* Returns when the job is taken. */
static void take_in_turn(struct pool_worker *self, size_t job)
{
    atomic_uint *entry = &self->shared->entries[job % self->shared->count];
    unsigned state = ENTRY_RUNS;

    atomic_store(&self->news, NEWS_NONE);
    if (!atomic_compare_exchange_strong(entry, &state, ENTRY_WAITS + self->number))
        atomic_store(entry, ENTRY_RUNS);
    else if (wait_for_news(self) == NEWS_TAKEN)
        return;
    take_ready(self, job);
}

static void *work(void *arg)
{
    struct pool_worker *self = arg;
    const struct cn_jobs *jobs = self->shared->jobs;
    size_t job;

    while ((job = atomic_fetch_add(&self->shared->next_job, 1)) < jobs->count) {
        do_step(self->shared, jobs->run, job, self->number);
        if (jobs->take)
            take_in_turn(self, job);
        if (jobs->finish)
            do_step(self->shared, jobs->finish, job, self->number);
    }
    return NULL;
}

static struct pool_worker *new_workers(struct pool_shared *shared)
{
    struct pool_worker *workers = cn_alloc(shared->count, sizeof(*workers));

    for (unsigned i = 0; i < shared->count; i++) {
        workers[i] = (struct pool_worker){.shared = shared, .number = i};
        (void)pthread_mutex_init(&workers[i].lock, NULL);
        (void)pthread_cond_init(&workers[i].has_news, NULL);
    }
    return workers;
}

static void free_workers(struct pool_worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        (void)pthread_cond_destroy(&workers[i].has_news);
        (void)pthread_mutex_destroy(&workers[i].lock);
    }
    free(workers);
}

static atomic_uint *new_entries(size_t count)
{
    atomic_uint *entries = cn_alloc(count, sizeof(*entries));

    for (size_t i = 0; i < count; i++)
        atomic_init(&entries[i], i == 0 ? ENTRY_MAY_BE_TAKEN : ENTRY_RUNS);
    return entries;
}

void cn_pool_run(const struct cn_jobs *jobs, unsigned workers)
{
    unsigned count = workers == 0 ? 1 : workers;
    struct pool_shared shared = {
        .jobs = jobs,
        .looks = count <= cn_pool_default_workers() ? LOOKS_MAX : 0,
        .entries = new_entries(count),
        .count = count,
        .is_scoped = cn_memory_is_scoped(),
    };
    struct pool_worker *list = new_workers(&shared);
    unsigned started = 1;

    shared.workers = list;
    /* The calling thread is worker 0: where no thread can be started, it does it all. */
    while (started < count && started < jobs->count &&
           pthread_create(&list[started].thread, NULL, work, &list[started]) == 0)
        started++;
    (void)work(&list[0]);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(list[i].thread, NULL);
    free_workers(list, count);
    free(shared.entries);
    if (shared.has_broken)
        cn_memory_note_broken();
    if (shared.has_failed)
        cn_memory_fail();
}

unsigned cn_pool_default_workers(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set) < 0)
        return 1;
    return (unsigned)CPU_COUNT(&set);
}
