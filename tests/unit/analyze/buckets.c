/* Durations in buckets: where they go, how far off a percentile is, how counts add
 * up. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/buckets.h"
#include "analyze/cct/cct_costs.h"

enum { CALLS = 20000 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 20;
}

static void every_duration_is_in_its_bucket(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (uint64_t i = 0; i < 300000; i++) {
        uint64_t ns = i < 100000 ? i : next_random(&seed) >> next_random(&seed) % 40;
        struct cn_bucket_range range =
            cn_bucket_range(cn_bucket_number(cn_bucket_of(ns)));

        assert_in_range(ns, range.low_ns, range.high_ns);
    }
}

static void buckets_follow_each_other_without_gaps(void **state)
{
    uint64_t expected = 0;

    (void)state;
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        struct cn_bucket_range range = cn_bucket_range(i);

        assert_true(range.low_ns == expected);
        assert_true(range.high_ns + 1 >= range.low_ns);
        expected = range.high_ns + 1;
    }
}

static void the_middle_is_within_three_percent(void **state)
{
    (void)state;
    for (unsigned i = 1; i < CN_BUCKET_COUNT; i++) {
        struct cn_bucket_range range = cn_bucket_range(i);
        double middle = cn_bucket_middle(range);

        if (range.high_ns < range.low_ns)
            continue;
        assert_true(middle <= (double)range.low_ns * 1.03);
        assert_true(middle >= (double)range.high_ns * 0.97);
    }
}

static void names_can_be_read_back(void **state)
{
    char name[CN_BUCKET_NAME_MAX];
    struct cn_bucket_range range;

    (void)state;
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        struct cn_bucket_range expected = cn_bucket_range(i);

        cn_bucket_name_print(expected, name);
        assert_int_equal(cn_bucket_name_parse(name, &range),
                         expected.high_ns >= expected.low_ns);
        assert_true(
            expected.high_ns < expected.low_ns ||
            (range.low_ns == expected.low_ns && range.high_ns == expected.high_ns));
    }
    assert_false(cn_bucket_name_parse("latency", &range));
    assert_false(cn_bucket_name_parse("latency 5..3 ns", &range));
    assert_false(cn_bucket_name_parse("latency 5..7 ms", &range));
    assert_false(cn_bucket_name_parse("latency -5..7 ns", &range));
    assert_false(cn_bucket_name_parse("latency 5..99999999999999999999999 ns", &range));
    assert_false(cn_bucket_name_parse("time (sec)", &range));
}

static int compare_u64(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static uint64_t random_latency(uint64_t *seed)
{
    uint64_t shift = next_random(seed) % 10;

    return 50 + (next_random(seed) % 1000 << (shift > 7 ? shift * 2 : 0));
}

static double percentile_of(const struct cn_bucket_calls *calls, uint64_t rank)
{
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        if (rank < calls->calls[i])
            return cn_bucket_middle(cn_bucket_range(i));
        rank -= calls->calls[i];
    }
    return 0;
}

/* Any number of calls of any durations is counted exactly once each, wherever they
 * are kept. */
static void percentiles_are_within_three_percent(void **state)
{
    static struct cn_bucket_calls calls;
    static uint64_t durations[CALLS];
    struct cn_cct_costs costs = {0};
    uint64_t seed = 7;

    (void)state;
    calls = (struct cn_bucket_calls){0};
    for (size_t i = 0; i < CALLS; i++) {
        durations[i] = random_latency(&seed);
        cn_cct_costs_add(&costs, 3, durations[i], 1);
    }
    qsort(durations, CALLS, sizeof(*durations), compare_u64);
    assert_int_equal(cn_cct_costs_buckets(&costs, 3, &calls), CALLS);
    assert_int_equal(cn_cct_costs_calls(&costs, 3), CALLS);
    assert_int_equal(cn_cct_costs_calls(&costs, 2), 0);
    assert_int_equal(cn_cct_costs_calls(&costs, 9), 0);
    assert_int_equal(cn_cct_costs_at(&costs, 3).min_ns, durations[0]);
    assert_int_equal(cn_cct_costs_at(&costs, 3).max_ns, durations[CALLS - 1]);
    for (size_t rank = 0; rank < CALLS; rank += 97) {
        double got = percentile_of(&calls, rank), exact = (double)durations[rank];

        assert_true(got >= exact * 0.97 && got <= exact * 1.03);
    }
    cn_cct_costs_done(&costs);
}

static void buckets_add_up(void **state)
{
    static struct cn_bucket_calls together, apart;
    struct cn_cct_costs costs = {0};
    uint64_t seed = 9;

    (void)state;
    together = apart = (struct cn_bucket_calls){0};
    for (size_t i = 0; i < CALLS; i++) {
        uint64_t ns = random_latency(&seed);

        cn_cct_costs_add(&costs, (cn_cct_id)(i % 2), ns, 0);
        cn_cct_costs_add(&costs, 2, ns, 0);
    }
    (void)cn_cct_costs_buckets(&costs, 0, &apart);
    (void)cn_cct_costs_buckets(&costs, 1, &apart);
    (void)cn_cct_costs_buckets(&costs, 2, &together);
    assert_memory_equal(&apart, &together, sizeof(apart));
    cn_cct_costs_done(&costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_duration_is_in_its_bucket),
        cmocka_unit_test(buckets_follow_each_other_without_gaps),
        cmocka_unit_test(the_middle_is_within_three_percent),
        cmocka_unit_test(names_can_be_read_back),
        cmocka_unit_test(percentiles_are_within_three_percent),
        cmocka_unit_test(buckets_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
