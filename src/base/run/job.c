#include "base/run/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/run/clock.h"

static const uint64_t ns_per_s = 1000000000;
static const uint64_t wait_ns = 80000000;      /* deadline of a request */
static const uint64_t estimate_ns = 40000000;  /* of one that takes an estimate */
static const uint64_t unasked_ns = 5000000000; /* after that, see stops_unasked */

static void (*watching)(const struct cn_job_step *step);

void cn_jobs_watch(void (*seen)(const struct cn_job_step *step))
{
    watching = seen;
}

void cn_job_group_init(struct cn_job_group *group, unsigned running_max)
{
    pthread_condattr_t attributes;

    *group = (struct cn_job_group){.running_max = running_max};
    (void)pthread_mutex_init(&group->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC); /* as cn_clock_ns() */
    (void)pthread_cond_init(&group->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void cn_job_group_cancel(struct cn_job_group *group)
{
    (void)pthread_mutex_lock(&group->lock);
    group->is_cancelled = true;
    (void)pthread_cond_broadcast(&group->changed);
    (void)pthread_mutex_unlock(&group->lock);
}

void cn_job_group_done(struct cn_job_group *group)
{
    (void)pthread_cond_destroy(&group->changed);
    (void)pthread_mutex_destroy(&group->lock);
}

static bool is_stopped(void *arg)
{
    struct cn_job *job = arg;

    (void)pthread_mutex_lock(&job->group->lock);
    bool result = job->group->is_cancelled ||
                  (job->stops_unasked && cn_clock_ns() - job->asked_ns > unasked_ns);
    (void)pthread_mutex_unlock(&job->group->lock);
    return result;
}

static bool report(void *arg, const char *what, uint64_t done, uint64_t total,
                   const char *unit)
{
    struct cn_job *job = arg;

    (void)pthread_mutex_lock(&job->group->lock);
    if (total > 0)
        job->share_done = (double)done / (double)total;
    (void)snprintf(job->step.what, sizeof(job->step.what), "%s", what);
    (void)snprintf(job->step.unit, sizeof(job->step.unit), "%s", unit);
    job->step.done = done;
    job->step.total = total;
    (void)pthread_mutex_unlock(&job->group->lock);
    if (watching)
        watching(&job->step); /* only this thread changes it */
    return !is_stopped(job);
}

static void *run(void *arg)
{
    enum { GIVES_WAY = 10 }; /* a tenth of the processor while others want it */
    struct cn_job *job = arg;
    struct cn_job_group *group = job->group;
    struct cn_progress progress = {report, job, is_stopped};

    if (job->gives_way)
        (void)setpriority(PRIO_PROCESS, 0, GIVES_WAY); /* of this thread alone */
    (void)pthread_mutex_lock(&group->lock);
    do {
        struct cn_error err = {0};

        job->runs_again = false;
        job->share_done = 0;
        job->step = (struct cn_job_step){0};
        job->has_estimate = false;
        (void)pthread_mutex_unlock(&group->lock);
        bool ok = job->work(job->arg, &progress, &err);
        (void)pthread_mutex_lock(&group->lock);
        job->failure = err;
        if (ok)
            job->share_done = 1;
        if (!job->runs_again)
            job->state = ok ? CN_JOB_DONE : CN_JOB_FAILED;
    } while (job->state == CN_JOB_RUNNING);
    group->running_count--;
    (void)pthread_cond_broadcast(&group->changed);
    (void)pthread_mutex_unlock(&group->lock);
    return NULL;
}

/* With the lock held: the thread has nothing left to do. */
static void join(struct cn_job *job)
{
    if (job->has_thread)
        (void)pthread_join(job->thread, NULL);
    job->has_thread = false;
}

/* With the lock held. The job stays new while its group has no room for it. */
static bool start(struct cn_job *job, struct cn_error *err)
{
    sigset_t all, before;

    if (job->group->is_cancelled)
        return cn_fail(err, CN_ERR_INTERRUPTED, "cancelled while %s", job->what);
    join(job);
    job->state = CN_JOB_NEW;
    if (job->group->running_count == job->group->running_max)
        return true;
    /* The job may have ended when pthread_create() returns: without threads (src/wasm) it
     * runs there. */
    job->has_thread = true;
    job->is_reported = false;
    job->state = CN_JOB_RUNNING;
    job->group->running_count++;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&job->thread, NULL, run, job);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failure == 0)
        return true;
    job->has_thread = false;
    job->state = CN_JOB_NEW;
    job->group->running_count--;
    return cn_fail(err, CN_ERR_IO, "cannot start a thread (error %d)", failure);
}

bool cn_job_start(struct cn_job *job, struct cn_error *err)
{
    bool ok = true;

    (void)pthread_mutex_lock(&job->group->lock);
    if (job->state == CN_JOB_RUNNING)
        job->runs_again = true;
    else
        ok = start(job, err);
    (void)pthread_mutex_unlock(&job->group->lock);
    return ok;
}

bool cn_job_prepare(struct cn_job *job, struct cn_error *err)
{
    (void)pthread_mutex_lock(&job->group->lock);
    bool ok = job->state != CN_JOB_NEW || start(job, err);
    (void)pthread_mutex_unlock(&job->group->lock);
    return ok;
}

/* With the lock held. */
static bool result_of(const struct cn_job *job, struct cn_error *err)
{
    if (job->state == CN_JOB_DONE)
        return true;
    if (job->state == CN_JOB_FAILED)
        *err = job->failure;
    else
        (void)cn_fail(err, CN_ERR_BUSY, "%s: %.0f %% done", job->what,
                      job->share_done * 100);
    return false;
}

/* With the lock held: wait until something changes; false if that takes too long. */
static bool wait_for_change(struct cn_job_group *group, uint64_t deadline_ns)
{
    struct timespec deadline = {.tv_sec = (time_t)(deadline_ns / ns_per_s),
                                .tv_nsec = (long)(deadline_ns % ns_per_s)};

    if (deadline_ns != UINT64_MAX)
        return pthread_cond_timedwait(&group->changed, &group->lock, &deadline) !=
               ETIMEDOUT;
    (void)pthread_cond_wait(&group->changed, &group->lock);
    return true;
}

/* Wait until a deadline, or until an earlier one where the job has an estimate. */
static bool wait_until(struct cn_job *job, uint64_t deadline_ns, uint64_t estimated_ns,
                       struct cn_error *err)
{
    struct cn_job_group *group = job->group;
    bool ok, is_late = false;

    (void)pthread_mutex_lock(&group->lock);
    job->asked_ns = cn_clock_ns();
    /* A job that no request waited for for too long is asked for again. */
    if (job->state == CN_JOB_FAILED &&
        (job->is_reported || (job->failure.kind == CN_ERR_INTERRUPTED &&
                              job->stops_unasked && !group->is_cancelled)))
        job->state = CN_JOB_NEW;
    for (;;) {
        ok = job->state != CN_JOB_NEW || start(job, err);
        if (!ok || job->state == CN_JOB_DONE || job->state == CN_JOB_FAILED || is_late)
            break;
        is_late = !wait_for_change(group, job->has_estimate ? estimated_ns : deadline_ns);
    }
    ok = ok && result_of(job, err);
    job->is_reported = job->state == CN_JOB_FAILED;
    (void)pthread_mutex_unlock(&group->lock);
    return ok;
}

bool cn_job_wait(struct cn_job *job, struct cn_error *err)
{
    uint64_t deadline_ns = cn_clock_ns() + wait_ns;

    return wait_until(job, deadline_ns, deadline_ns, err);
}

bool cn_job_finish(struct cn_job *job, struct cn_error *err)
{
    return wait_until(job, UINT64_MAX, UINT64_MAX, err);
}

bool cn_job_wait_estimate(struct cn_job *job, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns();

    return wait_until(job, now_ns + wait_ns, now_ns + estimate_ns, err);
}

void cn_job_estimated(struct cn_job *job)
{
    (void)pthread_mutex_lock(&job->group->lock);
    job->has_estimate = true;
    (void)pthread_cond_broadcast(&job->group->changed);
    (void)pthread_mutex_unlock(&job->group->lock);
}

bool cn_job_check(struct cn_job *job, struct cn_error *err)
{
    (void)pthread_mutex_lock(&job->group->lock);
    bool ok = result_of(job, err);
    (void)pthread_mutex_unlock(&job->group->lock);
    return ok;
}

bool cn_job_is_running(struct cn_job *job)
{
    if (!job->group)
        return false;
    (void)pthread_mutex_lock(&job->group->lock);
    bool result = job->state == CN_JOB_RUNNING;
    (void)pthread_mutex_unlock(&job->group->lock);
    return result;
}

double cn_job_share_done(struct cn_job *job)
{
    (void)pthread_mutex_lock(&job->group->lock);
    double result = job->share_done;
    (void)pthread_mutex_unlock(&job->group->lock);
    return result;
}

struct cn_job_step cn_job_step(struct cn_job *job)
{
    (void)pthread_mutex_lock(&job->group->lock);
    struct cn_job_step result = job->step;
    (void)pthread_mutex_unlock(&job->group->lock);
    return result;
}

void cn_job_end(struct cn_job *job)
{
    if (!job->group)
        return;
    (void)pthread_mutex_lock(&job->group->lock);
    while (job->state == CN_JOB_RUNNING)
        (void)pthread_cond_wait(&job->group->changed, &job->group->lock);
    join(job);
    job->state = CN_JOB_NEW;
    (void)pthread_mutex_unlock(&job->group->lock);
}
