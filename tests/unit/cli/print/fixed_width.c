/* Durations in ten columns. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "cli/print/fixed_width.h"

static void durations_are_in_seconds_at_most(void **state)
{
    static const struct {
        uint64_t ns;
        const char *expected;
    } cases[] = {
        {0, "          "},
        {1, "  0.001 us"},
        {999999, "999.999 us"},
        {1000000, "  1.000 ms"},
        {59999999999, " 59.999  s"},
        {93290000000, " 93.290  s"},
        {999999999999, "999.999  s"},
        {UINT64_C(5400000000000), "5400.00  s"},
        {UINT64_C(12345678000000), "12345.6  s"},
        {UINT64_C(123456789000000), "123456   s"},
        {UINT64_C(1234567000000000), "1234567  s"},
    };
    struct cn_text text = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        cn_text_clear(&text);
        cn_duration_add(&text, cases[i].ns);
        assert_string_equal(cn_text_str(&text), cases[i].expected);
        assert_int_equal(text.len, CN_DURATION_LEN);
    }
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_in_seconds_at_most),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
