/* Sets of processors, and how they are printed. */

#include "analyze/calls/processors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_prints(const struct cn_processors *set, const char *list,
                          const char *mask)
{
    struct cn_text text = {0};

    cn_processors_print_list(set, &text);
    assert_string_equal(cn_text_str(&text), list);
    cn_text_clear(&text);
    cn_processors_print_mask(set, &text);
    assert_string_equal(cn_text_str(&text), mask);
    cn_text_done(&text);
}

static void prints_ranges_of_three_and_more(void **state)
{
    static const uint16_t numbers[] = {6, 0, 1, 2, 3, 5, 33};
    struct cn_processors set = {0}, other = {0};

    (void)state;
    assert_prints(&set, "", "");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        cn_processors_add(i % 2 ? &set : &other, numbers[i]);
    cn_processors_merge(&set, &other);
    assert_prints(&set, "0-3/5/6/33", "00000002,0000006f");
    assert_int_equal(cn_processors_count(&set), 7);
    cn_processors_done(&set);
    cn_processors_done(&other);
}

static void knows_the_last_processor(void **state)
{
    struct cn_processors set = {0};

    (void)state;
    cn_processors_add(&set, UINT16_MAX);
    assert_int_equal(cn_processors_count(&set), 1);
    cn_processors_done(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_ranges_of_three_and_more),
        cmocka_unit_test(knows_the_last_processor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
