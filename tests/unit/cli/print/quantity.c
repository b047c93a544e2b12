#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/timeline/time_axis.h"

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

static void check_loss(uint64_t count, const char *many, const char *expected)
{
    struct cn_text text = {0};

    cn_loss_print(&text, count, many);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void a_single_loss_is_in_the_singular(void **state)
{
    (void)state;
    assert_string_equal(cn_plural(1, "call is", "calls are"), "call is");
    assert_string_equal(cn_plural(0, "call is", "calls are"), "calls are");
    check_loss(2, "tasks truncated", "not kept: 2 tasks truncated");
    check_loss(1, "tasks truncated", "not kept: 1 task truncated");
    check_loss(1, "other metrics (choose one)", "not kept: 1 other metric (choose one)");
    check_loss(1, "addresses of more than 48 bits",
               "not kept: 1 address of more than 48 bits");
    check_loss(1, "copies of source files", "not kept: 1 copy of source files");
    check_loss(1, "ns of waiting", "not kept: 1 ns of waiting");
    check_loss(1, "lines and loops", "not kept: 1 lines and loops");
    check_loss(1, "loops, lines and more", "not kept: 1 loops, lines and more");
    check_loss(1, "", "not kept: 1 ");
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
        cmocka_unit_test(a_single_loss_is_in_the_singular),
        cmocka_unit_test(sizes_use_the_unit_that_fits),
        cmocka_unit_test(axes_have_marks_at_round_numbers),
        cmocka_unit_test(marks_have_as_many_digits_as_they_need),
        cmocka_unit_test(the_longest_time_there_is_has_an_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
