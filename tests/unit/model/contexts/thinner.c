/* Timelines with fewer samples. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/contexts/thinner.h"

enum { COUNT = 5000 };

/* Two samples at each time, each with its number as context. */
static void make_samples(struct cn_sample out[COUNT])
{
    for (uint32_t i = 0; i < COUNT; i++)
        out[i] = (struct cn_sample){1000 + (uint64_t)(i / 2) * 7, i + 1};
}

static void thin_in_parts(struct cn_thinner *out, const struct cn_sample *samples,
                          size_t part_len)
{
    struct cn_error err = {0};

    for (size_t i = 0; i < COUNT; i += part_len)
        assert_true(cn_thinner_add(out, samples + i,
                                   COUNT - i < part_len ? COUNT - i : part_len, &err));
    cn_thinner_end(out);
}

static void no_two_samples_have_the_same_time(void **state)
{
    struct cn_thinner thinner = {.resolution_ns = 1};
    struct cn_sample samples[COUNT];

    (void)state;
    make_samples(samples);
    thin_in_parts(&thinner, samples, 100);
    assert_int_equal(thinner.count, COUNT / 2);
    for (size_t i = 0; i < thinner.count; i++)
        assert_int_equal(thinner.list[i].context, 2 * i + 2);
    free(thinner.list);
}

/* The context at every multiple of the resolution is that of all samples. */
static void the_context_at_a_multiple_of_the_resolution_is_right(void **state)
{
    struct cn_thinner thinner = {.resolution_ns = 50};
    struct cn_sample samples[COUNT];
    size_t all = 0, kept = 0;

    (void)state;
    make_samples(samples);
    thin_in_parts(&thinner, samples, COUNT);
    assert_true(thinner.count < COUNT / 10);
    for (uint64_t at_ns = 1050; at_ns < 18000; at_ns += 50) {
        while (all + 1 < COUNT && samples[all + 1].time_ns < at_ns)
            all++;
        while (kept + 1 < thinner.count && thinner.list[kept + 1].time_ns < at_ns)
            kept++;
        assert_int_equal(thinner.list[kept].context, samples[all].context);
    }
    free(thinner.list);
}

static void the_limit_holds_however_a_timeline_is_divided(void **state)
{
    struct cn_sample samples[COUNT];
    struct cn_thinner whole = {.resolution_ns = 1, .sample_max = 64};

    (void)state;
    make_samples(samples);
    thin_in_parts(&whole, samples, COUNT);
    assert_true(whole.count <= 64 && whole.count > 30);
    assert_int_equal(whole.list[whole.count - 1].context, COUNT);
    for (size_t len = 1; len < COUNT; len = len * 3 + 1) {
        struct cn_thinner parts = {.resolution_ns = 1, .sample_max = 64};

        thin_in_parts(&parts, samples, len);
        assert_int_equal(parts.resolution_ns, whole.resolution_ns);
        assert_int_equal(parts.count, whole.count);
        assert_memory_equal(parts.list, whole.list, whole.count * sizeof(*whole.list));
        free(parts.list);
    }
    free(whole.list);
}

static void refuses_time_that_runs_backwards(void **state)
{
    struct cn_thinner thinner = {.resolution_ns = 10};
    struct cn_sample samples[] = {{100, 1}, {99, 2}};
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_thinner_add(&thinner, samples, 2, &err));
    assert_string_equal(err.text, "time runs backwards: 99 after 100");
    free(thinner.list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_samples_have_the_same_time),
        cmocka_unit_test(the_context_at_a_multiple_of_the_resolution_is_right),
        cmocka_unit_test(the_limit_holds_however_a_timeline_is_divided),
        cmocka_unit_test(refuses_time_that_runs_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
