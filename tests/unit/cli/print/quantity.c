#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/print/time_axis.h"

typedef void (*print_fn)(struct cn_text *text, uint64_t value);

static void check_print(print_fn print, uint64_t value, const char *expected)
{
    struct cn_text text = {0};

    print(&text, value);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void counts_have_separators(void **state)
{
    (void)state;
    check_print(cn_count_print, 0, "0");
    check_print(cn_count_print, 999, "999");
    check_print(cn_count_print, 1000, "1,000");
    check_print(cn_count_print, 1234567, "1,234,567");
    check_print(cn_count_print, UINT64_MAX, "18,446,744,073,709,551,615");
}

static void sizes_use_the_unit_that_fits(void **state)
{
    (void)state;
    check_print(cn_size_print, 0, "0 B");
    check_print(cn_size_print, 1023, "1023 B");
    check_print(cn_size_print, 1024, "1.0 KiB");
    check_print(cn_size_print, 1536, "1.5 KiB");
    check_print(cn_size_print, 1048575, "1.0 MiB"); /* not 1024.0 KiB */
    check_print(cn_size_print, UINT64_C(3) << 30, "3.0 GiB");
    check_print(cn_size_print, UINT64_MAX, "16.0 EiB");
}

static void durations_use_the_unit_that_fits(void **state)
{
    (void)state;
    check_print(cn_duration_print, 0, "0 s");
    check_print(cn_duration_print, 7, "7 ns");
    check_print(cn_duration_print, 1500, "1.5 us");
    check_print(cn_duration_print, 12345678, "12.345 ms");
    check_print(cn_duration_print, 1000000000, "1 s");
    check_print(cn_duration_print, UINT64_C(3601000000000), "3601 s");
}

static void dates_are_in_utc(void **state)
{
    (void)state;
    check_print(cn_date_print, 0, "1970-01-01 00:00:00.000000 UTC");
    check_print(cn_date_print, UINT64_C(1700000000123456789),
                "2023-11-14 22:13:20.123456 UTC");
    check_print(cn_date_print, UINT64_MAX, "2554-07-21 23:34:33.709551 UTC");
}

static void check_duration(const char *str, uint64_t expected)
{
    struct cn_error err = {0};
    uint64_t ns = 0;

    if (!cn_duration_parse(str, 2000, &ns, &err))
        fail_msg("%s", err.text);
    assert_int_equal(ns, expected);
}

static void durations_are_understood_in_every_unit(void **state)
{
    (void)state;
    check_duration("1.5s", 1500000000);
    check_duration("2", 2000000000);
    check_duration("20ms", 20000000);
    check_duration("7us", 7000);
    check_duration("300ns", 300);
    check_duration("2m", UINT64_C(120000000000));
    check_duration("1h", UINT64_C(3600000000000));
    check_duration("12.5%", 250);
    check_duration(".5s", 500000000);
}

static void shares_of_nothing_are_refused(void **state)
{
    struct cn_error err = {0};
    uint64_t ns;

    (void)state;
    assert_true(cn_duration_parse("5ms", 0, &ns, &err));
    assert_false(cn_duration_parse("20%", 0, &ns, &err));
    assert_string_equal(err.text,
                        "'%' in duration '20%' is not one of ns, us, ms, s, m, h");
    assert_false(cn_duration_parse("soon", 0, &ns, &err));
    assert_string_equal(err.text, "'soon' is not a duration such as 1.5s");
}

static void check_refused(const char *str, const char *expected)
{
    struct cn_error err = {0};
    uint64_t ns = 17;

    assert_false(cn_duration_parse(str, 2000, &ns, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, expected);
    assert_int_equal(ns, 17);
}

static void what_is_no_duration_is_refused(void **state)
{
    (void)state;
    check_refused("", "'' is not a duration such as 1.5s or 20%");
    check_refused("soon", "'soon' is not a duration such as 1.5s or 20%");
    check_refused("-1s", "'-1s' is not a duration such as 1.5s or 20%");
    check_refused("inf", "'inf' is not a duration such as 1.5s or 20%");
    check_refused("0x10s", "'0x10s' is not a duration such as 1.5s or 20%");
    check_refused("5 s", "' s' in duration '5 s' is not one of ns, us, ms, s, m, h, %");
    check_refused("5sec",
                  "'sec' in duration '5sec' is not one of ns, us, ms, s, m, h, %");
    check_refused("99999999999h", "duration '99999999999h' is too long");
}

static void check_axis(uint64_t begin_ns, uint64_t end_ns, size_t columns,
                       const char *expected)
{
    struct cn_text text = {0};

    cn_time_axis_print(&text, begin_ns, end_ns, columns);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void axes_have_marks_at_round_numbers(void **state)
{
    (void)state;
    check_axis(0, 2000000000, 50, "|0.0 s      |0.5 s       |1.0 s      |1.5 s");
    check_axis(1300000000, 1500000000, 40, "|1.3 s              |1.4 s");
    check_axis(0, 40, 40, "|0 ns               |20 ns");
    check_axis(0, 9, 9, "|0 ns");
}

/* Marks one nanosecond apart have different labels, even a second after the start. */
static void marks_have_as_many_digits_as_they_need(void **state)
{
    (void)state;
    check_axis(1000000000, 1000000002, 40, "|1.000000000 s      |1.000000001 s");
}

static void the_longest_time_there_is_has_an_axis(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_time_axis_print(&text, 0, UINT64_MAX, 40);
    assert_true(text.len > 0 && text.len <= 40);
    cn_text_clear(&text);
    cn_time_axis_print(&text, UINT64_MAX - 3, UINT64_MAX, 40);
    assert_true(text.len <= 40);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_separators),
        cmocka_unit_test(sizes_use_the_unit_that_fits),
        cmocka_unit_test(durations_use_the_unit_that_fits),
        cmocka_unit_test(dates_are_in_utc),
        cmocka_unit_test(durations_are_understood_in_every_unit),
        cmocka_unit_test(shares_of_nothing_are_refused),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(axes_have_marks_at_round_numbers),
        cmocka_unit_test(marks_have_as_many_digits_as_they_need),
        cmocka_unit_test(the_longest_time_there_is_has_an_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
