#include "analyze/cct/cct_long_tasks.h"

#include <stdlib.h>

#include "analyze/cct/cct_part.h"
#include "base/alloc.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

/* A piece of a task. */
struct job {
    struct cn_cct_task *task;
    struct cn_call_part part;
    bool is_first;
    struct cn_cct_task piece; /* counted on its own unless it is the first */
};

struct long_tasks {
    struct job *jobs;
    size_t count, capacity;
    const struct cn_progress *progress;
    struct cn_failures failures;
};

static uint64_t length(const struct cn_cct_member *member)
{
    const struct cn_cct_task_options *options = &member->task.options;

    return options->query->rec->tasks[options->task].data_len;
}

/* A task is too long when workers would wait for it at the end: three alike are for two
 * workers, four are not. */
static bool is_long(const struct cn_cct_member *member, uint64_t all_len,
                    unsigned workers)
{
    return workers > 1 && length(member) > all_len / workers / 8 * 5 &&
           cn_cct_task_is_divisible(&member->task.options);
}

static void add_jobs(struct long_tasks *l, struct cn_cct_task *task)
{
    struct cn_call_part *parts;
    size_t count = cn_recording_parts(task->options.query->rec, task->options.task,
                                      CN_CALL_PART_LEN, &parts);

    for (size_t i = 0; i < count; i++) {
        l->jobs = cn_grow(l->jobs, l->count, &l->capacity, sizeof(*l->jobs));
        l->jobs[l->count++] =
            (struct job){.task = task, .part = parts[i], .is_first = i == 0};
    }
    free(parts);
}

static void count_run(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    struct job *job = &l->jobs[number];
    struct cn_cct_task *task = job->is_first ? job->task : &job->piece;
    struct cn_call_span span = {&job->part, 0, UINT64_MAX};

    if (cn_failures_stopped(&l->failures, worker))
        return;
    if (!job->is_first)
        cn_cct_guess_init(task, &job->task->options);
    if (!cn_cct_task_count(task, &span, l->progress, false,
                           cn_failures_error(&l->failures, worker)))
        cn_failures_note(&l->failures, worker, number);
}

/* Behind damage nothing is read. */
static bool join(struct job *job, const struct cn_progress *progress,
                 struct cn_error *err)
{
    struct cn_call_span before = {&job->part, 0, 0}, rest = {&job->part, 0, UINT64_MAX};

    if (job->task->is_damaged && !job->is_first)
        return true;
    if (job->is_first) {
        /* It is counted already: the start of a task is nothing to remember. */
        job->task->starts = cn_alloc(1, sizeof(*job->task->starts));
        job->task->parts = cn_alloc(1, sizeof(*job->task->parts));
        job->task->parts[0] = job->part;
        job->task->part_count = 1;
        return true;
    }
    cn_cct_task_mark(job->task, &job->part);
    before.end = rest.first = job->piece.guess->left_out;
    return cn_cct_task_count(job->task, &before, progress, false, err) &&
           (cn_cct_task_join(job->task, &job->piece) ||
            cn_cct_task_count(job->task, &rest, progress, false, err));
}

static void join_take(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;
    struct job *job = &l->jobs[number];
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (!cn_failures_share(&l->failures, worker))
        return;
    if (!join(job, l->progress, err) ||
        !cn_progress_report(l->progress, "reading calls", number + 1, l->count, "pieces",
                            err))
        cn_failures_note(&l->failures, worker, number);
}

static void release_finish(void *arg, size_t number, unsigned worker)
{
    struct long_tasks *l = arg;

    (void)worker;
    if (!l->jobs[number].is_first)
        cn_cct_task_done(&l->jobs[number].piece);
}

bool cn_cct_long_tasks_count(struct cn_cct_member *members, size_t count,
                             unsigned workers, const struct cn_progress *progress,
                             struct cn_error *err)
{
    struct long_tasks l = {.progress = progress};
    struct cn_jobs jobs = {0, &l, count_run, join_take, release_finish};
    uint64_t all_len = 0;
    bool ok;

    for (size_t i = 0; i < count; i++)
        all_len += length(&members[i]);
    for (size_t i = 0; i < count; i++)
        if (is_long(&members[i], all_len, workers))
            add_jobs(&l, &members[i].task);
    jobs.count = l.count;
    cn_failures_init(&l.failures, workers);
    cn_pool_run(&jobs, workers);
    ok = cn_failures_result(&l.failures, err);
    cn_failures_done(&l.failures);
    free(l.jobs);
    return ok;
}
