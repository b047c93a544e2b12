/* Durations in buckets: where they go, how far off a percentile is, how counts add up, and
 * that report and views agree. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/calls/report.h"
#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/costs.h"
#include "analyze/durations/histogram.h"
#include "analyze/durations/percentile.h"
#include "analyze/views/view.h"
#include "base/alloc.h"
#include "support/effort.h"
#include "support/fake_recording.h"

enum { CALLS = 20000 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 20;
}

static void every_duration_is_in_its_bucket(void **state)
{
    uint64_t seed = cn_test_seed(1);

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
        assert_true(range.high_ns + 1 >= range.low_ns || i == CN_BUCKET_COUNT - 1);
        expected = range.high_ns + 1;
    }
    assert_true(expected == 0); /* the last one ends at UINT64_MAX */
}

static void very_long_durations_are_in_the_last_bucket(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2048; i++) {
        uint64_t ns = (uint64_t)INT64_MAX - 1024 + i;
        unsigned number = cn_bucket_number(cn_bucket_of(ns));

        assert_int_equal(number, CN_BUCKET_COUNT - 1);
        assert_in_range(ns, cn_bucket_range(number).low_ns,
                        cn_bucket_range(number).high_ns);
    }
    assert_int_equal(cn_bucket_number(cn_bucket_of(UINT64_MAX)), CN_BUCKET_COUNT - 1);
}

static void a_percentile_is_within_three_percent_of_its_bucket(void **state)
{
    (void)state;
    for (unsigned i = 1; i < CN_BUCKET_COUNT - 1; i++) {
        struct cn_bucket_calls bucket = {cn_bucket_range(i), 1};
        uint64_t ns;

        if (bucket.range.high_ns < bucket.range.low_ns)
            continue;
        assert_true(cn_percentile_of_buckets(&bucket, 1, 0.5, 0, UINT64_MAX, &ns));
        assert_true((double)ns <= (double)bucket.range.low_ns * 1.028 + 0.5);
        assert_true((double)ns >= (double)bucket.range.high_ns * 0.972 - 0.5);
    }
}

static void a_percentile_lies_between_the_extremes(void **state)
{
    static const double fractions[] = {0, 0.001, 0.5, 0.99, 1};
    uint64_t seed = cn_test_seed(3);

    (void)state;
    for (unsigned i = 0; i < 10000; i++) {
        unsigned count = 1 + (unsigned)(next_random(&seed) % 4);
        struct cn_histogram histogram = {0};
        uint64_t min_ns = UINT64_MAX, max_ns = 0, percentile_ns;

        for (unsigned k = 0; k < count; k++) {
            uint64_t ns = (next_random(&seed) << 20) >> next_random(&seed) % 64;

            ns = next_random(&seed) % 50 == 0 ? UINT64_MAX : ns;
            min_ns = ns < min_ns ? ns : min_ns;
            max_ns = ns > max_ns ? ns : max_ns;
            cn_histogram_add(&histogram, ns);
        }
        for (size_t k = 0; k < sizeof(fractions) / sizeof(*fractions); k++) {
            assert_true(cn_percentile_of_histogram(&histogram, fractions[k], min_ns,
                                                   max_ns, &percentile_ns));
            assert_in_range(percentile_ns, min_ns, max_ns);
        }
        cn_histogram_done(&histogram);
    }
}

/* Extremes that are not in the bucket of the percentile, as after rounding. */
static void a_percentile_never_passes_the_extremes(void **state)
{
    const struct cn_bucket_calls bucket = {{1000, 1050}, 1};
    uint64_t ns;

    (void)state;
    assert_true(cn_percentile_of_buckets(&bucket, 1, 0.5, 1060, 1060, &ns));
    assert_int_equal(ns, 1060);
    assert_true(cn_percentile_of_buckets(&bucket, 1, 0.5, 990, 990, &ns));
    assert_int_equal(ns, 990);
}

static void an_empty_histogram_has_no_percentile(void **state)
{
    struct cn_histogram histogram = {0};
    uint64_t ns;

    (void)state;
    assert_false(cn_percentile_of_histogram(&histogram, 0.5, 0, UINT64_MAX, &ns));
}

static void histograms_merge_by_addition(void **state)
{
    struct cn_histogram a = {0}, b = {0};
    uint64_t ns;

    (void)state;
    for (uint64_t i = 1; i <= 100000; i++)
        cn_histogram_add(i % 2 ? &a : &b, i * 977);
    cn_histogram_merge(&a, &b);
    for (int percent = 1; percent < 100; percent++) {
        double exact = percent * 1000.0 * 977;

        assert_true(
            cn_percentile_of_histogram(&a, percent / 100.0, 977, 100000 * 977, &ns));
        assert_true((double)ns > exact * 0.97 && (double)ns < exact * 1.03);
    }
    cn_histogram_done(&a);
    cn_histogram_done(&b);
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

static uint64_t percentile_of(const struct cn_cct_buckets *calls, uint64_t rank)
{
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++) {
        struct cn_bucket_calls bucket = {cn_bucket_range(i), 1};
        uint64_t ns;

        if (rank < calls->calls[i])
            return cn_percentile_of_buckets(&bucket, 1, 0.5, 0, UINT64_MAX, &ns) ? ns : 0;
        rank -= calls->calls[i];
    }
    return 0;
}

/* Any number of calls of any durations is counted exactly once each, wherever they
 * are kept. */
static void percentiles_are_within_three_percent(void **state)
{
    static struct cn_cct_buckets calls;
    static uint64_t durations[CALLS];
    struct cn_cct_costs costs = {0};
    uint64_t seed = cn_test_seed(7);

    (void)state;
    calls = (struct cn_cct_buckets){0};
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
        double got = (double)percentile_of(&calls, rank);
        double exact = (double)durations[rank];

        assert_true(got >= exact * 0.97 && got <= exact * 1.03);
    }
    cn_cct_costs_done(&costs);
}

static void buckets_add_up(void **state)
{
    static struct cn_cct_buckets together, apart;
    struct cn_cct_costs costs = {0};
    uint64_t seed = cn_test_seed(9);

    (void)state;
    together = apart = (struct cn_cct_buckets){0};
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

/* A recording of main, which calls f `count` times; the calls are released with free(). */
static struct cn_call *make_calls(const uint64_t *durations, size_t count, size_t *len)
{
    struct cn_call *calls = cn_alloc(2 * count + 2, sizeof(*calls));
    uint64_t now_ns = 1000;

    *len = 0;
    calls[(*len)++] = (struct cn_call)CN_FAKE_ENTER(now_ns, 0, 0);
    for (size_t i = 0; i < count; i++) {
        calls[(*len)++] = (struct cn_call)CN_FAKE_ENTER(now_ns, 1, 1);
        now_ns += durations[i];
        calls[(*len)++] = (struct cn_call)CN_FAKE_EXIT(now_ns, 1, 1);
    }
    calls[(*len)++] = (struct cn_call)CN_FAKE_EXIT(now_ns, 0, 0);
    return calls;
}

static double report_percentile(const struct cn_call_query *query, double fraction)
{
    struct cn_call_report report;
    struct cn_error err;
    uint64_t ns = 0;

    assert_true(cn_call_report_build(
        &report, query, 1, (struct cn_call_report_options){.with_histograms = true},
        &err));
    assert_string_equal(report.rows[0].name, "f");
    assert_true(cn_percentile_of_histogram(report.rows[0].totals, fraction,
                                           report.rows[0].cost.total.min_ns,
                                           report.rows[0].cost.total.max_ns, &ns));
    cn_call_report_done(&report);
    return (double)ns / 1e9;
}

static double tree_percentile(const struct cn_call_query *query, double fraction)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_calls_options options = {.workers = 1, .folder = "."};
    struct cn_calls_result result;
    struct cn_row_list top, below;
    struct cn_database *db;
    struct cn_view *view;
    struct cn_error err;
    double value;

    assert_true(cn_calls_to_database(&db, query, 1, &options, &result, &err));
    cn_costs_init(costs, db);
    assert_true(cn_costs_add_percentile(costs, fraction, "p", &err));
    assert_true(cn_costs_ready(costs, &err));
    assert_true(cn_view_flat_new(&view, costs, NULL, &err));
    assert_true(cn_view_children(view, NULL, 0, false, &top, &err));
    assert_true(cn_view_children(view, &top.rows[0], 0, false, &below, &err));
    cn_row_list_done(&top);
    assert_true(cn_view_children(view, &below.rows[0], 0, false, &top, &err));
    /* main takes longer than any call of f. */
    assert_int_equal(top.count, 2);
    value = top.rows[1].values[0];
    cn_row_list_done(&top);
    cn_row_list_done(&below);
    cn_view_free(view);
    cn_costs_done(costs);
    free(costs);
    cn_calls_result_done(&result);
    cn_database_close(db);
    return value;
}

static void report_and_tree_agree(void **state)
{
    static const char *const names[] = {"main", "f", NULL};
    static const double fractions[] = {0.5, 0.9, 0.99, 0.999};
    static const size_t counts[] = {1, 2, 10, 100, 1000};
    static uint64_t durations[1000];
    uint64_t seed = 11;

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        durations[i] = random_latency(&seed);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        struct cn_fake_recording fake;
        struct cn_call_filter filter;
        uint32_t task = 0;
        size_t len;
        struct cn_call *calls = make_calls(durations, counts[i], &len);
        struct cn_call_query query = {&fake.rec, &filter, cn_time_always, &task, 1,
                                      false,     NULL};

        cn_fake_recording_init(&fake, names);
        cn_fake_recording_add(&fake, calls, len);
        fake.tasks[0].data_len = len;
        cn_call_filter_init(&filter, &fake.rec);
        cn_call_filter_ready(&filter);
        for (size_t k = 0; k < sizeof(fractions) / sizeof(*fractions); k++) {
            double reported = report_percentile(&query, fractions[k]);

            assert_true(reported == tree_percentile(&query, fractions[k]));
            if (counts[i] == 1)
                assert_true(reported == (double)durations[0] / 1e9);
        }
        cn_call_filter_done(&filter);
        free(calls);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_duration_is_in_its_bucket),
        cmocka_unit_test(buckets_follow_each_other_without_gaps),
        cmocka_unit_test(very_long_durations_are_in_the_last_bucket),
        cmocka_unit_test(a_percentile_is_within_three_percent_of_its_bucket),
        cmocka_unit_test(a_percentile_lies_between_the_extremes),
        cmocka_unit_test(a_percentile_never_passes_the_extremes),
        cmocka_unit_test(an_empty_histogram_has_no_percentile),
        cmocka_unit_test(histograms_merge_by_addition),
        cmocka_unit_test(names_can_be_read_back),
        cmocka_unit_test(percentiles_are_within_three_percent),
        cmocka_unit_test(buckets_add_up),
        cmocka_unit_test(report_and_tree_agree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
