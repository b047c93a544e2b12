/* How many threads run, and the latency of each. */

#include "analyze/concurrency.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* One thread runs from 0 to 10, another one from 5 to 15, a third one from 20 to 24 and from 26 to 30. */
static void latencies_of_overlapping_threads(void **state)
{
    static const struct {
        uint64_t begin_ns, end_ns;
        double latency_ns;
    } want[] = {{0, 10, 7.5},  {5, 15, 7.5}, {5, 10, 2.5}, {12, 20, 3},
                {15, 20, 0},   {20, 30, 8},  {22, 27, 3},  {7, 8, 0.5},
                {0, 99, 20.5}, {8, 8, 0},    {9, 3, 0},    {30, 50, 0}};
    struct cn_concurrency c = {0};
    size_t cursor = 0;

    (void)state;
    assert_int_equal(cn_concurrency_add(&c, 7, 20, 24), 4);
    assert_int_equal(cn_concurrency_add(&c, 7, 26, 30), 4);
    assert_int_equal(cn_concurrency_add(&c, 0, 0, 10), 10);
    assert_int_equal(cn_concurrency_add(&c, 1, 5, 15), 10);
    cn_concurrency_build(&c);
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
        assert_float_equal(
            (float)cn_concurrency_latency(&c, want[i].begin_ns, want[i].end_ns, &cursor),
            (float)want[i].latency_ns, 1e-6F);
    assert_int_equal(c.elapsed_ns, 23);
    assert_float_equal((float)c.threads[0].latency_ns, 7.5F, 1e-6F);
    assert_float_equal((float)c.threads[1].latency_ns, 7.5F, 1e-6F);
    assert_float_equal((float)c.threads[7].latency_ns, 8, 1e-6F);
    cn_concurrency_done(&c);
}

static void a_thread_counts_once(void **state)
{
    struct cn_concurrency c = {0};
    size_t cursor = 0;

    (void)state;
    assert_int_equal(cn_concurrency_last_ns(&c, 3), 0);
    assert_int_equal(cn_concurrency_add(&c, 3, 10, 20), 10);
    assert_int_equal(cn_concurrency_add(&c, 3, 12, 18), 0);
    assert_int_equal(cn_concurrency_add(&c, 3, 15, 25), 5);
    assert_int_equal(cn_concurrency_add(&c, 3, 9, 9), 0);
    assert_int_equal(cn_concurrency_add(&c, 3, 40, 30), 0);
    assert_int_equal(cn_concurrency_last_ns(&c, 3), 25);
    assert_int_equal(cn_concurrency_last_ns(&c, 99), 0);
    assert_int_equal(c.threads[3].count, 2);
    cn_concurrency_build(&c);
    assert_float_equal((float)cn_concurrency_latency(&c, 0, 99, &cursor), 15, 0);
    assert_int_equal(c.elapsed_ns, 15);
    cn_concurrency_done(&c);
}

static void nothing_runs_at_first(void **state)
{
    struct cn_concurrency c = {0};
    size_t cursor = 0;

    (void)state;
    cn_concurrency_build(&c);
    assert_float_equal((float)cn_concurrency_latency(&c, 0, 10, &cursor), 0, 0);
    assert_int_equal(c.elapsed_ns, 0);
    cn_concurrency_done(&c);
}

/* Random runs of random threads, and what counting nanosecond by nanosecond says of them. */
enum { THREADS = 12, TIME_MAX = 2000, ROUNDS = 200 };

struct random_runs {
    uint8_t runs[THREADS][TIME_MAX]; /* by thread and nanosecond */
    uint32_t running[TIME_MAX];
};

static unsigned random_below(unsigned limit)
{
    return (unsigned)rand() % limit;
}

static void fill(struct random_runs *r, struct cn_concurrency *c)
{
    *r = (struct random_runs){0};
    for (uint32_t thread = 0; thread < THREADS; thread++)
        for (unsigned at = random_below(300); at < TIME_MAX;) {
            unsigned end = at + random_below(200);

            end = end < TIME_MAX ? end : TIME_MAX;
            (void)cn_concurrency_add(c, thread, at, end);
            for (; at < end; at++) {
                r->runs[thread][at] = 1;
                r->running[at]++;
            }
            at += random_below(3) * random_below(200);
        }
}

static double naive_latency(const struct random_runs *r, uint64_t begin, uint64_t end)
{
    double sum = 0;

    for (uint64_t at = begin; at < end && at < TIME_MAX; at++)
        sum += r->running[at] > 0 ? 1.0 / r->running[at] : 0;
    return sum;
}

static void random_threads_are_those_that_are_counted_one_by_one(void **state)
{
    struct random_runs *r = malloc(sizeof(*r));

    (void)state;
    srand(7);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct cn_concurrency c = {0};
        uint64_t elapsed = 0;
        double sum = 0;
        size_t cursor = 0;

        fill(r, &c);
        cn_concurrency_build(&c);
        for (uint32_t i = 0; i < c.thread_count; i++) {
            double own = 0;

            for (uint64_t at = 0; at < TIME_MAX; at++)
                own += r->runs[i][at] ? 1.0 / r->running[at] : 0;
            assert_true(fabs(c.threads[i].latency_ns - own) < 1e-6);
            sum += own;
        }
        for (uint64_t at = 0; at < TIME_MAX; at++)
            elapsed += r->running[at] > 0;
        assert_int_equal(c.elapsed_ns, elapsed);
        assert_true(fabs(sum - (double)elapsed) < 1e-6);
        for (unsigned i = 0; i < 50; i++) {
            uint64_t begin = random_below(TIME_MAX + 100);
            uint64_t end = begin + random_below(500);
            double ns = cn_concurrency_latency(&c, begin, end, &cursor);

            assert_true(fabs(ns - naive_latency(r, begin, end)) < 1e-6);
        }
        cn_concurrency_done(&c);
    }
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_of_overlapping_threads),
        cmocka_unit_test(a_thread_counts_once),
        cmocka_unit_test(nothing_runs_at_first),
        cmocka_unit_test(random_threads_are_those_that_are_counted_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
