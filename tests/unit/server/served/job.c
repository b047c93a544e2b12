/* Jobs: requests wait until a deadline; a job reports progress, fails, runs again, is
 * cancelled. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/served/job.h"

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

static void begin(struct cn_job_group *group, struct cn_job *job, struct work *self)
{
    *self = (struct work){0};
    (void)sem_init(&self->has_begun, 0, 0);
    (void)sem_init(&self->may_end, 0, 0);
    cn_job_group_init(group, 1);
    *job = (struct cn_job){
        .group = group, .work = work, .arg = self, .what = "computing the answer"};
}

static void reports_progress_at_the_deadline(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    assert_false(cn_job_check(&job, &err));
    assert_false(cn_job_is_running(&job));
    assert_true(cn_job_start(&job, &err));
    (void)sem_wait(&self.has_begun);
    assert_false(cn_job_wait(&job, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_string_equal(err.text, "computing the answer: 25 % done");
    assert_true(cn_job_is_running(&job));
    (void)sem_post(&self.may_end);
    assert_true(cn_job_finish(&job, &err));
    assert_true(cn_job_wait(&job, &err));
    assert_true(cn_job_check(&job, &err));
    assert_int_equal(self.run_count, 1);
    cn_job_end(&job);
    cn_job_group_done(&group);
}

static void has_an_estimate_until_it_is_done(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    self.estimated = &job;
    assert_false(job.has_estimate);
    assert_true(cn_job_start(&job, &err));
    (void)sem_wait(&self.has_begun);
    assert_false(cn_job_wait_estimate(&job, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_true(job.has_estimate);
    (void)sem_post(&self.may_end);
    assert_true(cn_job_finish(&job, &err));
    assert_true(cn_job_wait_estimate(&job, &err));
    cn_job_end(&job);
    cn_job_group_done(&group);
}

static void starts_again_after_its_failure_was_told(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    self.fails = true;
    (void)sem_post(&self.may_end);
    assert_false(cn_job_finish(&job, &err));
    assert_string_equal(err.text, "it is broken");
    assert_false(cn_job_check(&job, &err));
    assert_string_equal(err.text, "it is broken");
    self.fails = false;
    (void)sem_post(&self.may_end);
    assert_true(cn_job_finish(&job, &err));
    assert_int_equal(self.run_count, 2);
    cn_job_end(&job);
    cn_job_group_done(&group);
}

static void runs_once_more_when_started_while_running(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    assert_false(cn_job_wait(&job, &err)); /* its work has begun */
    assert_true(cn_job_start(&job, &err));
    assert_true(cn_job_start(&job, &err));
    (void)sem_post(&self.may_end);
    (void)sem_post(&self.may_end);
    assert_true(cn_job_finish(&job, &err));
    assert_int_equal(self.run_count, 2);
    (void)sem_post(&self.may_end);
    assert_true(cn_job_start(&job, &err));
    cn_job_end(&job);
    assert_int_equal(self.run_count, 3);
    cn_job_group_done(&group);
}

static void waits_for_room_in_its_group(void **state)
{
    struct cn_job_group group, unused;
    struct cn_job job, other;
    struct work self, other_self;
    struct cn_error err = {0};

    (void)state;
    begin(&unused, &other, &other_self);
    begin(&group, &job, &self);
    other.group = &group;
    assert_true(cn_job_start(&other, &err));
    (void)sem_post(&self.may_end);
    assert_false(cn_job_wait(&job, &err));
    assert_string_equal(err.text, "computing the answer: 0 % done");
    (void)sem_post(&other_self.may_end);
    assert_true(cn_job_finish(&job, &err));
    cn_job_end(&other);
    cn_job_end(&job);
    cn_job_group_done(&group);
    cn_job_group_done(&unused);
}

static void is_cancelled_with_its_group(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    job.work = run_until_cancelled;
    assert_false(cn_job_wait(&job, &err));
    cn_job_group_cancel(&group);
    cn_job_end(&job);
    assert_false(cn_job_is_running(&job));
    assert_false(cn_job_finish(&job, &err));
    assert_string_equal(err.text, "cancelled while computing the answer");
    cn_job_group_done(&group);
}

static void stops_when_no_request_waits_for_it(void **state)
{
    struct cn_job_group group;
    struct cn_job job;
    struct work self;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &job, &self);
    job.work = run_until_cancelled;
    job.stops_unasked = true;
    assert_false(cn_job_wait(&job, &err));
    cn_job_end(&job); /* 5 s later */
    cn_job_group_done(&group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_progress_at_the_deadline),
        cmocka_unit_test(has_an_estimate_until_it_is_done),
        cmocka_unit_test(starts_again_after_its_failure_was_told),
        cmocka_unit_test(runs_once_more_when_started_while_running),
        cmocka_unit_test(waits_for_room_in_its_group),
        cmocka_unit_test(is_cancelled_with_its_group),
        cmocka_unit_test(stops_when_no_request_waits_for_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
