/* Percentiles of single durations are those of the sorted list. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/durations/histogram.h"
#include "analyze/durations/percentile.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "support/effort.h"

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (seed >> 11) % limit;
}

/* Smooth, few different values, all the same, ascending and descending. */
static uint64_t duration_of(unsigned shape, size_t i)
{
    const uint64_t values[] = {random_below(UINT64_C(1) << 52), random_below(3), 42, i,
                               1000000 - i};

    return values[shape];
}

static void check(size_t count, unsigned shape)
{
    uint64_t *list = cn_alloc(count, sizeof(*list));
    uint64_t *sorted = cn_alloc(count, sizeof(*sorted));
    uint64_t percentiles[CN_PERCENTILES_SHOWN];

    for (size_t i = 0; i < count; i++)
        list[i] = sorted[i] = duration_of(shape, i);
    CN_SORT_VALUES(sorted, count);
    cn_percentiles_select(list, count, percentiles);
    assert_int_equal(percentiles[CN_P50], sorted[(count * 50 + 99) / 100 - 1]);
    assert_int_equal(percentiles[CN_P90], sorted[(count * 90 + 99) / 100 - 1]);
    assert_int_equal(percentiles[CN_P99], sorted[(count * 99 + 99) / 100 - 1]);
    CN_SORT_VALUES(list, count);
    assert_memory_equal(list, sorted, count * sizeof(*list));
    free(list);
    free(sorted);
}

static void selects_what_sorting_would(void **state)
{
    (void)state;
    seed = cn_test_seed(1);
    for (unsigned shape = 0; shape < 5; shape++) {
        for (size_t count = 1; count < 220; count++)
            check(count, shape);
        check(100000, shape);
    }
}

static void buckets_are_near_the_exact_value(void **state)
{
    struct cn_histogram histogram = {0};
    uint64_t *list = cn_alloc(50000, sizeof(*list)), exact[CN_PERCENTILES_SHOWN], ns;

    (void)state;
    for (size_t i = 0; i < 50000; i++) {
        list[i] = 1000 + random_below(1 << 30);
        cn_histogram_add(&histogram, list[i]);
    }
    cn_percentiles_select(list, 50000, exact);
    for (unsigned i = 0; i < CN_PERCENTILES_SHOWN; i++) {
        assert_true(cn_percentile_of_histogram(&histogram, cn_percentile_fractions[i], 0,
                                               UINT64_MAX, &ns));
        assert_true((double)ns > 0.97 * (double)exact[i] &&
                    (double)ns < 1.03 * (double)exact[i]);
    }
    cn_histogram_done(&histogram);
    free(list);
}

static void names_say_the_fractions(void **state)
{
    (void)state;
    for (unsigned i = 0; i < CN_PERCENTILE_COUNT; i++) {
        double percent = strtod(cn_percentile_names[i] + 1, NULL);

        assert_int_equal(cn_percentile_names[i][0], 'p');
        assert_true(percent / 100 - cn_percentile_fractions[i] < 1e-12 &&
                    cn_percentile_fractions[i] - percent / 100 < 1e-12);
    }
}

/* What is shorter than the clock resolves is one bucket, up to the end of its last one. */
static void merges_what_the_clock_does_not_resolve(void **state)
{
    struct cn_bucket_calls buckets[] = {
        {{1, 1}, 400}, {{15, 15}, 2}, {{22, 23}, 3}, {{40, 42}, 5}};

    (void)state;
    assert_int_equal(cn_duration_resolved(1, 22), 22);
    assert_int_equal(cn_duration_resolved(0, 22), 0);
    assert_int_equal(cn_duration_resolved(23, 22), 23);
    assert_int_equal(cn_buckets_resolve(buckets, 4, 0), 4);
    assert_int_equal(cn_buckets_resolve(buckets, 4, 22), 3);
    assert_int_equal(buckets[0].range.low_ns, 0);
    assert_int_equal(buckets[0].range.high_ns, 21);
    assert_true(buckets[0].calls == 402);
    assert_int_equal(buckets[2].range.low_ns, 40);
    assert_int_equal(cn_buckets_resolve(buckets, 3, 23), 2);
    assert_int_equal(buckets[0].range.high_ns, 23);
    assert_true(buckets[0].calls == 405);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_what_sorting_would),
        cmocka_unit_test(buckets_are_near_the_exact_value),
        cmocka_unit_test(merges_what_the_clock_does_not_resolve),
        cmocka_unit_test(names_say_the_fractions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
