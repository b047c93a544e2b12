/* The kernel's times in the clock of a recording. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/uftrace/format.h"
#include "launcher/files/event_clock.h"

#define MS  UINT64_C(1000000)
#define SEC (1000 * MS)

static void does_nothing_without_pairs(void **state)
{
    struct cn_event_clock clock = {0};

    (void)state;
    assert_int_equal(cn_event_clock_convert(&clock, 7), 7);
    cn_event_clock_add(&clock, (struct cn_clock_pair){10 * SEC, 10 * SEC + 40});
    assert_int_equal(cn_event_clock_convert(&clock, 10 * SEC + 5), 10 * SEC + 45);
    assert_int_equal(cn_event_clock_convert(&clock, 10 * SEC - 5), 10 * SEC + 35);
}

/* The recorder gains 15 ns per ms, and after a second, when the kernel adjusts its clock,
 * loses 5. */
static void follows_clocks_of_different_rates(void **state)
{
    struct cn_event_clock clock = {0};
    uint64_t start = 1000 * SEC;

    (void)state;
    for (uint64_t ms = 0; ms <= 3000; ms += 20) {
        struct cn_clock_pair pair = {start + ms * MS, start + ms * MS};

        pair.recorded_ns += ms <= 1000 ? 15 * ms : 15000 - 5 * (ms - 1000);
        cn_event_clock_add(&clock, pair);
        if (ms == 20)
            assert_int_equal(cn_event_clock_convert(&clock, start + 10 * MS),
                             start + 10 * MS + 150);
        if (ms == 1000)
            assert_int_equal(cn_event_clock_convert(&clock, start + 990 * MS),
                             start + 990 * MS + 14850);
        if (ms == 3000) {
            assert_int_equal(cn_event_clock_convert(&clock, start + 2999 * MS),
                             start + 2999 * MS + 5005);
            assert_int_equal(cn_event_clock_convert(&clock, start + 3002 * MS),
                             start + 3002 * MS + 4990);
        }
    }
}

static void drops_pairs_that_are_close(void **state)
{
    struct cn_event_clock clock = {0};

    (void)state;
    cn_event_clock_add(&clock, (struct cn_clock_pair){SEC, SEC});
    cn_event_clock_add(&clock, (struct cn_clock_pair){SEC + MS, SEC + MS + 30});
    assert_int_equal(cn_event_clock_convert(&clock, 2 * SEC), 2 * SEC);
}

static void converts_all_times_of_records(void **state)
{
    struct cn_event_clock clock = {0};
    struct cn_uft_perf_header fork = {.type = CN_UFT_PERF_FORK, .size = 48};
    struct cn_uft_perf_header change = {.type = CN_UFT_PERF_SWITCH, .size = 24};
    struct cn_uft_perf_task task = {1, 2, 3, 4, 100};
    struct cn_uft_perf_sample sample = {1, 3, 200};
    uint8_t bytes[48 + 24 + 8], expected[sizeof(bytes)];

    (void)state;
    memset(bytes, 0, sizeof(bytes));
    cn_uft_perf_header_encode(&fork, bytes);
    cn_uft_perf_task_encode(&task, bytes + 8);
    cn_uft_perf_sample_encode(&sample, bytes + 32);
    cn_uft_perf_header_encode(&change, bytes + 48);
    cn_uft_perf_sample_encode(&sample, bytes + 56);
    memcpy(expected, bytes, sizeof(bytes));
    task.time_ns = 107;
    sample.time_ns = 207;
    cn_uft_perf_task_encode(&task, expected + 8);
    cn_uft_perf_sample_encode(&sample, expected + 32);
    cn_uft_perf_sample_encode(&sample, expected + 56);
    cn_event_clock_add(&clock, (struct cn_clock_pair){1000, 1007});
    /* The last 8 bytes are a header of size 0. */
    cn_event_clock_convert_records(&clock, bytes, sizeof(bytes));
    assert_memory_equal(bytes, expected, sizeof(bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(does_nothing_without_pairs),
        cmocka_unit_test(follows_clocks_of_different_rates),
        cmocka_unit_test(drops_pairs_that_are_close),
        cmocka_unit_test(converts_all_times_of_records),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
