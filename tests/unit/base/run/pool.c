/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/run/pool.h"

enum { JOBS = 500, WORKERS_MAX = 9 };

struct work {
    uint64_t results[JOBS]; /* written by run, read by take */
    uint8_t ran[JOBS], taken[JOBS], finished[JOBS];
    size_t order[JOBS];
    size_t taken_count;
    uint64_t digest; /* depends on the order of takes */
    size_t runs_by[WORKERS_MAX];
    unsigned workers;
};

static void run_job(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;
    uint64_t value = job + 1;

    assert_true(worker < work->workers);
    /* Early jobs take longest, so that later ones are ready before their turn. */
    for (size_t i = 0; i < (JOBS - job) * 20; i++)
        value = value * 6364136223846793005u + 1;
    work->results[job] = value;
    work->ran[job]++;
    work->runs_by[worker]++;
}

static void take_job(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;

    (void)worker;
    work->order[work->taken_count++] = job;
    work->digest = (work->digest ^ work->results[job]) * 1099511628211u;
    work->taken[job]++;
}

static void finish_job(void *arg, size_t job, unsigned worker)
{
    struct work *work = arg;

    (void)worker;
    assert_int_equal(work->taken[job], 1);
    work->finished[job]++;
}

static uint64_t run_with(unsigned workers, struct work *work)
{
    struct cn_jobs jobs = {JOBS, work, run_job, take_job, finish_job};

    memset(work, 0, sizeof(*work));
    work->workers = workers ? workers : 1;
    cn_pool_run(&jobs, workers);
    return work->digest;
}

static void every_job_runs_once_and_is_taken_in_order(void **state)
{
    struct work work;

    (void)state;
    for (unsigned workers = 0; workers <= WORKERS_MAX; workers += 3) {
        (void)run_with(workers, &work);
        assert_int_equal(work.taken_count, JOBS);
        for (size_t i = 0; i < JOBS; i++) {
            assert_int_equal(work.order[i], i);
            assert_int_equal(work.ran[i], 1);
            assert_int_equal(work.taken[i], 1);
            assert_int_equal(work.finished[i], 1);
        }
    }
}

static void the_result_does_not_depend_on_the_workers(void **state)
{
    struct work work;
    uint64_t alone = run_with(1, &work);

    (void)state;
    for (unsigned workers = 2; workers <= WORKERS_MAX; workers++)
        assert_true(run_with(workers, &work) == alone);
}

static void take_for_long(void *arg, size_t job, unsigned worker)
{
    struct timespec nap = {.tv_nsec = 200000};

    /* Longer than a worker takes the jobs of others. */
    if (job % 5 == 0)
        (void)nanosleep(&nap, NULL);
    take_job(arg, job, worker);
}

static void takes_that_last_long_are_in_order(void **state)
{
    struct work work = {.workers = WORKERS_MAX};
    struct cn_jobs jobs = {JOBS, &work, run_job, take_for_long, finish_job};

    (void)state;
    cn_pool_run(&jobs, WORKERS_MAX);
    assert_int_equal(work.taken_count, JOBS);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(work.order[i], i);
}

static void workers_have_numbers_of_their_own(void **state)
{
    struct work work;
    size_t sum = 0;

    (void)state;
    (void)run_with(WORKERS_MAX, &work);
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        sum += work.runs_by[i];
    assert_int_equal(sum, JOBS);
}

static void take_and_finish_may_be_missing(void **state)
{
    struct work work = {.workers = 4};
    struct cn_jobs jobs = {JOBS, &work, run_job, NULL, NULL};

    (void)state;
    cn_pool_run(&jobs, 4);
    for (size_t i = 0; i < JOBS; i++)
        assert_int_equal(work.ran[i], 1);
}

static void no_jobs_and_one_job_are_fine(void **state)
{
    struct work work = {.workers = 4};
    struct cn_jobs jobs = {0, &work, run_job, take_job, finish_job};

    (void)state;
    cn_pool_run(&jobs, 4);
    assert_int_equal(work.taken_count, 0);
    jobs.count = 1;
    cn_pool_run(&jobs, 4);
    assert_int_equal(work.taken_count, 1);
}

static void there_is_a_processor_to_run_on(void **state)
{
    (void)state;
    assert_true(cn_pool_default_workers() >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_runs_once_and_is_taken_in_order),
        cmocka_unit_test(the_result_does_not_depend_on_the_workers),
        cmocka_unit_test(takes_that_last_long_are_in_order),
        cmocka_unit_test(workers_have_numbers_of_their_own),
        cmocka_unit_test(take_and_finish_may_be_missing),
        cmocka_unit_test(no_jobs_and_one_job_are_fine),
        cmocka_unit_test(there_is_a_processor_to_run_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
