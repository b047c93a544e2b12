/* Jobs: work that may take long, done by a thread of its own. A request waits for a job
 * until a deadline (80 ms); after that it answers how far the job is, and the client
 * asks again. A job may have an estimate before it is done: requests that take it wait for
 * less (40 ms).
 *
 *     struct cn_job job = {.group = &group, .work = build, .arg = &result};
 *
 *     if (!cn_job_wait(&job, err)) ... err->kind is CN_ERR_BUSY while the job runs
 *     ... result ...
 *     cn_job_end(&job);
 *
 * A job is part of the object that receives its result; the owner ends it before it frees
 * that object. The result of a finished job stays until the job is ended or started
 * again.
 * Threads: any thread. Work receives no signals: those are for the main thread.
 */
#ifndef CN_BASE_RUN_JOB_H
#define CN_BASE_RUN_JOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/run/progress.h"

/* Jobs that share a lock and are cancelled together. */
struct cn_job_group {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned running_max, running_count;
    bool is_cancelled;
};

/* What a job does at the moment, as its work reported it. */
struct cn_job_step {
    char what[48], unit[16]; /* "reading samples", "records"; empty at first */
    uint64_t done, total;
};

/* Calls cn_progress_report() or cn_progress_check() often, and fails when these do. */
typedef bool (*cn_job_fn)(void *arg, const struct cn_progress *progress,
                          struct cn_error *err);

struct cn_job {
    /* Set before it is started. */
    struct cn_job_group *group;
    cn_job_fn work;
    void *arg;
    const char *what;   /* for messages: "computing the flat view" */
    bool stops_unasked; /* it is cancelled when no request has waited for it for 5 s */
    bool gives_way; /* no request waits for it: what they wait for is worked on first */

    /* Under the group's lock; zero at first. */
    enum { CN_JOB_NEW, CN_JOB_RUNNING, CN_JOB_DONE, CN_JOB_FAILED } state;
    double share_done; /* 0 to 1, of the step */
    struct cn_job_step step;
    bool has_estimate; /* since this run, see cn_job_estimated() */
    uint64_t asked_ns; /* when a request last waited for it */
    bool runs_again;   /* it was started while it was running */
    struct cn_error failure;
    bool is_reported; /* a request was answered with the failure */
    pthread_t thread;
    bool has_thread;
};

/* See each report of every job from now on, from the thread that reports: without threads
 * (src/wasm) there is none that could ask meanwhile. Called before jobs are started. */
void cn_jobs_watch(void (*seen)(const struct cn_job_step *step));

/* At most `running_max` jobs of the group run at a time. */
void cn_job_group_init(struct cn_job_group *group, unsigned running_max);

/* Cancel running jobs and start no new ones. Each job must still be ended. */
void cn_job_group_cancel(struct cn_job_group *group);
void cn_job_group_done(struct cn_job_group *group);

/* Start a job whatever its state: one that is running runs once more afterwards. Where
 * the group has no room for it, the job stays new. */
CN_CHECK bool cn_job_start(struct cn_job *job, struct cn_error *err);

/* Start a job that is new, where the group has room for it. */
CN_CHECK bool cn_job_prepare(struct cn_job *job, struct cn_error *err);

/* Wait until a job is done, and start it if it is new, if its failure was reported before, or
 * if it was cancelled because no request waited for it. Fails as the job did, or at the
 * deadline with CN_ERR_BUSY and the progress. */
CN_CHECK bool cn_job_wait(struct cn_job *job, struct cn_error *err);

/* The same, with the shorter deadline once the job has an estimate. */
CN_CHECK bool cn_job_wait_estimate(struct cn_job *job, struct cn_error *err);

/* The same without a deadline. */
CN_CHECK bool cn_job_finish(struct cn_job *job, struct cn_error *err);

/* The same without waiting or starting. */
CN_CHECK bool cn_job_check(struct cn_job *job, struct cn_error *err);

/* Called by the work of a job when an estimate of its result can be read. */
void cn_job_estimated(struct cn_job *job);

bool cn_job_is_running(struct cn_job *job);
double cn_job_share_done(struct cn_job *job);
struct cn_job_step cn_job_step(struct cn_job *job);

/* Wait until a job has ended, without cancelling it; then it is new. A zeroed job is
 * fine. */
void cn_job_end(struct cn_job *job);

#endif
