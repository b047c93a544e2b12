/* Work behind answers: it is waited for a moment, tells how far it is, fails and begins again. */
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "server/served/chore.h"

struct job {
    sem_t may_end;
    bool fails;
    int run_count;
};

static bool work(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct job *job = arg;

    if (!cn_progress_report(progress, "working", 1, 4, "steps", err))
        return false;
    (void)sem_wait(&job->may_end);
    job->run_count++;
    return !job->fails || cn_fail(err, CN_ERR_FORMAT, "it is broken");
}

static bool run_until_stopped(void *arg, const struct cn_progress *progress,
                              struct cn_error *err)
{
    (void)arg;
    while (cn_progress_check(progress, "working", err)) {
    }
    return false;
}

static void begin(struct cn_chore_group *group, struct cn_chore *chore, struct job *job)
{
    *job = (struct job){0};
    (void)sem_init(&job->may_end, 0, 0);
    cn_chore_group_init(group);
    *chore =
        (struct cn_chore){.group = group, .work = work, .arg = job, .what = "the answer"};
}

static void tells_how_far_it_is(void **state)
{
    struct cn_chore_group group;
    struct cn_chore chore;
    struct job job;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &chore, &job);
    assert_false(cn_chore_wait(&chore, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_string_equal(err.text, "the answer is being worked out: 25 % done");
    assert_true(cn_chore_is_working(&chore));
    (void)sem_post(&job.may_end);
    assert_true(cn_chore_wait(&chore, &err));
    assert_true(cn_chore_wait(&chore, &err));
    assert_int_equal(job.run_count, 1);
    cn_chore_end(&chore);
    cn_chore_group_done(&group);
}

static void a_failure_is_told_once_and_tried_again(void **state)
{
    struct cn_chore_group group;
    struct cn_chore chore;
    struct job job;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &chore, &job);
    job.fails = true;
    (void)sem_post(&job.may_end);
    assert_false(cn_chore_wait(&chore, &err));
    assert_string_equal(err.text, "it is broken");
    job.fails = false;
    (void)sem_post(&job.may_end);
    assert_true(cn_chore_wait(&chore, &err));
    assert_int_equal(job.run_count, 2);
    cn_chore_end(&chore);
    cn_chore_group_done(&group);
}

static void stops_with_its_group(void **state)
{
    struct cn_chore_group group;
    struct cn_chore chore;
    struct job job;
    struct cn_error err = {0};

    (void)state;
    begin(&group, &chore, &job);
    chore.work = run_until_stopped;
    assert_false(cn_chore_wait(&chore, &err));
    cn_chore_group_stop(&group);
    cn_chore_end(&chore);
    assert_false(cn_chore_is_working(&chore));
    cn_chore_group_done(&group);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_how_far_it_is),
        cmocka_unit_test(a_failure_is_told_once_and_tried_again),
        cmocka_unit_test(stops_with_its_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
