/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/run/failures.h"
#include "base/run/pool.h"

enum { JOBS = 200, WORKERS = 4 };

struct work {
    struct cn_failures failures;
    size_t fail_in_run, fail_in_finish; /* jobs from here on fail; JOBS: none */
    size_t taken;                       /* jobs whose `take` went through */
    size_t finished[WORKERS];
};

static void fail_job(struct work *work, size_t job, unsigned worker, const char *where)
{
    (void)cn_fail(cn_failures_error(&work->failures, worker), CN_ERR_IO, "%s of job %zu",
                  where, job);
    cn_failures_note(&work->failures, worker, job);
}

static void run(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;

    if (!cn_failures_stopped(&work->failures, worker) && job >= work->fail_in_run)
        fail_job(work, job, worker, "run");
}

static void take(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;

    if (!cn_failures_share(&work->failures, worker))
        return;
    assert_int_equal(work->taken, job);
    work->taken++;
}

static void finish(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;

    if (cn_failures_stopped(&work->failures, worker))
        return;
    if (job >= work->fail_in_finish)
        fail_job(work, job, worker, "finish");
    else
        work->finished[worker]++;
}

static bool run_jobs(struct work *work, unsigned workers, struct cn_error *err)
{
    struct cn_jobs jobs = {JOBS, work, run, take, finish};
    bool ok;

    cn_failures_init(&work->failures, workers);
    cn_pool_run(&jobs, workers);
    ok = cn_failures_result(&work->failures, err);
    cn_failures_done(&work->failures);
    return ok;
}

static void no_failure_is_success(void **state)
{
    struct work work = {.fail_in_run = JOBS, .fail_in_finish = JOBS};
    struct cn_error err = {0};
    size_t finished = 0;

    (void)state;
    assert_true(run_jobs(&work, WORKERS, &err));
    for (unsigned i = 0; i < WORKERS; i++)
        finished += work.finished[i];
    assert_int_equal(finished, JOBS);
    assert_int_equal(err.kind, CN_ERR_NONE);
}

static void the_earliest_failing_job_is_reported(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS; workers++) {
        struct work work = {.fail_in_run = 70, .fail_in_finish = JOBS};
        struct cn_error err = {0};

        assert_false(run_jobs(&work, workers, &err));
        assert_string_equal(err.text, "run of job 70");
        assert_int_equal(work.taken, 70);
    }
}

static void a_failure_at_the_end_of_a_job_stops_the_others(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= WORKERS; workers++) {
        struct work work = {.fail_in_run = JOBS, .fail_in_finish = 70};
        struct cn_error err = {0};

        assert_false(run_jobs(&work, workers, &err));
        assert_int_equal(err.kind, CN_ERR_IO);
        assert_true(work.taken > 70 && work.taken < JOBS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_failure_is_success),
        cmocka_unit_test(the_earliest_failing_job_is_reported),
        cmocka_unit_test(a_failure_at_the_end_of_a_job_stops_the_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
