/* Jobs: requests wait until a deadline; a job reports progress, fails, runs again, is
 * cancelled.
 * Label: threads. */
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/run/job.h"

struct work {
    sem_t has_begun, may_end;
    struct cn_job *estimated; /* it has an estimate as soon as it runs; NULL: none */
    bool fails;
    int run_count;
};

static bool work(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct work *self = arg;

    if (!cn_progress_report(progress, "working", 1, 4, "steps", err))
        return false;
    if (self->estimated)
        cn_job_estimated(self->estimated);
    (void)sem_post(&self->has_begun);
    (void)sem_wait(&self->may_end);
    self->run_count++;
    return !self->fails || cn_fail(err, CN_ERR_FORMAT, "it is broken");
}

static bool run_until_cancelled(void *arg, const struct cn_progress *progress,
                                struct cn_error *err)
{
    (void)arg;
    while (cn_progress_check(progress, "working", err)) {
    }
    return false;
}

/* One job in a group of its own that runs one job at a time. */
struct trial {
    struct cn_job_group group;
    struct cn_job job;
    struct work work;
    struct cn_error err;
};

static void add_job(struct trial *trial, struct cn_job *job, struct work *self)
{
    *self = (struct work){0};
    (void)sem_init(&self->has_begun, 0, 0);
    (void)sem_init(&self->may_end, 0, 0);
    *job = (struct cn_job){.group = &trial->group,
                           .work = work,
                           .arg = self,
                           .what = "computing the answer"};
}

static int begin(void **state)
{
    static struct trial trial;

    trial = (struct trial){0};
    cn_job_group_init(&trial.group, 1);
    add_job(&trial, &trial.job, &trial.work);
    *state = &trial;
    return 0;
}

static int end(void **state)
{
    struct trial *trial = *state;

    cn_job_end(&trial->job);
    cn_job_group_done(&trial->group);
    return 0;
}

static void reports_progress_at_the_deadline(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;
    struct cn_error *err = &trial->err;

    assert_false(cn_job_check(job, err));
    assert_false(cn_job_is_running(job));
    assert_true(cn_job_start(job, err));
    (void)sem_wait(&trial->work.has_begun);
    assert_false(cn_job_wait(job, err));
    assert_int_equal(err->kind, CN_ERR_BUSY);
    assert_string_equal(err->text, "computing the answer: 25 % done");
    assert_true(cn_job_is_running(job));
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(job, err));
    assert_true(cn_job_wait(job, err));
    assert_true(cn_job_check(job, err));
    assert_int_equal(trial->work.run_count, 1);
}

static struct cn_job_step seen_step;

static void see_step(const struct cn_job_step *step)
{
    seen_step = *step;
}

static void reports_are_seen_where_they_are_watched(void **state)
{
    struct trial *trial = *state;

    cn_jobs_watch(see_step);
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(&trial->job, &trial->err));
    cn_jobs_watch(NULL);
    assert_string_equal(seen_step.what, "working");
    assert_string_equal(seen_step.unit, "steps");
    assert_int_equal(seen_step.done, 1);
    assert_int_equal(seen_step.total, 4);
}

static void has_an_estimate_until_it_is_done(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    trial->work.estimated = job;
    assert_false(job->has_estimate);
    assert_true(cn_job_start(job, &trial->err));
    (void)sem_wait(&trial->work.has_begun);
    assert_false(cn_job_wait_estimate(job, &trial->err));
    assert_int_equal(trial->err.kind, CN_ERR_BUSY);
    assert_true(job->has_estimate);
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(job, &trial->err));
    assert_true(cn_job_wait_estimate(job, &trial->err));
}

static void starts_again_after_its_failure_was_reported(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    trial->work.fails = true;
    (void)sem_post(&trial->work.may_end);
    assert_false(cn_job_finish(job, &trial->err));
    assert_string_equal(trial->err.text, "it is broken");
    assert_false(cn_job_check(job, &trial->err));
    assert_string_equal(trial->err.text, "it is broken");
    trial->work.fails = false;
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(job, &trial->err));
    assert_int_equal(trial->work.run_count, 2);
}

static void runs_once_more_when_started_while_running(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    assert_true(cn_job_start(job, &trial->err));
    (void)sem_wait(&trial->work.has_begun);
    assert_true(cn_job_start(job, &trial->err));
    assert_true(cn_job_start(job, &trial->err));
    (void)sem_post(&trial->work.may_end);
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(job, &trial->err));
    assert_int_equal(trial->work.run_count, 2);
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_start(job, &trial->err));
    cn_job_end(job);
    assert_int_equal(trial->work.run_count, 3);
}

static void runs_once_however_often_it_is_prepared(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    job->gives_way = true;
    assert_true(cn_job_prepare(job, &trial->err));
    (void)sem_wait(&trial->work.has_begun);
    assert_true(cn_job_prepare(job, &trial->err));
    (void)sem_post(&trial->work.may_end);
    assert_true(cn_job_finish(job, &trial->err));
    assert_true(cn_job_prepare(job, &trial->err));
    assert_false(cn_job_is_running(job));
    assert_int_equal(trial->work.run_count, 1);
}

static void waits_for_room_in_its_group(void **state)
{
    struct trial *trial = *state;
    struct cn_job other;
    struct work other_work;

    add_job(trial, &other, &other_work);
    assert_true(cn_job_start(&other, &trial->err));
    (void)sem_post(&trial->work.may_end);
    assert_false(cn_job_wait(&trial->job, &trial->err));
    assert_string_equal(trial->err.text, "computing the answer: 0 % done");
    (void)sem_post(&other_work.may_end);
    assert_true(cn_job_finish(&trial->job, &trial->err));
    cn_job_end(&other);
}

static void is_cancelled_with_its_group(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    job->work = run_until_cancelled;
    assert_false(cn_job_wait(job, &trial->err));
    cn_job_group_cancel(&trial->group);
    cn_job_end(job);
    assert_false(cn_job_is_running(job));
    assert_false(cn_job_finish(job, &trial->err));
    assert_string_equal(trial->err.text, "cancelled while computing the answer");
}

static void stops_when_no_request_waits_for_it(void **state)
{
    struct trial *trial = *state;
    struct cn_job *job = &trial->job;

    job->work = run_until_cancelled;
    job->stops_unasked = true;
    assert_false(cn_job_wait(job, &trial->err));
    (void)pthread_mutex_lock(&trial->group.lock);
    job->asked_ns -= UINT64_C(5000000000); /* a request waited 5 s ago */
    (void)pthread_mutex_unlock(&trial->group.lock);
    while (cn_job_is_running(job))
        (void)sched_yield();
    /* The next request does not see that: the job starts again. */
    assert_false(cn_job_wait(job, &trial->err));
    assert_int_equal(trial->err.kind, CN_ERR_BUSY);
    assert_true(cn_job_is_running(job));
    cn_job_group_cancel(&trial->group);
    cn_job_end(job);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reports_progress_at_the_deadline),
        TEST(reports_are_seen_where_they_are_watched),
        TEST(has_an_estimate_until_it_is_done),
        TEST(starts_again_after_its_failure_was_reported),
        TEST(runs_once_more_when_started_while_running),
        TEST(runs_once_however_often_it_is_prepared),
        TEST(waits_for_room_in_its_group),
        TEST(is_cancelled_with_its_group),
        TEST(stops_when_no_request_waits_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
