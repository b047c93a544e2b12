#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/digits.h"
#include "base/text.h"

static const uint8_t bytes[] = {0x00, 0x1f, 0xa9, 0xff};

static void prints_decimal_digits(void **state)
{
    static const struct {
        uint64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {9, "9"},
                 {10, "10"},
                 {12345, "12345"},
                 {UINT64_MAX, "18446744073709551615"}};
    char digits[CN_DIGITS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_int_equal(cn_digits_put(digits, cases[i].value), strlen(cases[i].text));
        assert_memory_equal(digits, cases[i].text, strlen(cases[i].text));
    }
}

static void prints_bytes_in_hexadecimal(void **state)
{
    struct cn_text text = {0};
    char hex[2 * sizeof(bytes) + 1];

    (void)state;
    cn_hex_put(hex, bytes, sizeof(bytes));
    assert_string_equal(hex, "001fa9ff");
    cn_hex_put(hex, bytes, 0);
    assert_string_equal(hex, "");
    cn_text_str_add(&text, "id ");
    cn_hex_add(&text, bytes + 1, 2);
    assert_string_equal(cn_text_str(&text), "id 1fa9");
    cn_text_done(&text);
}

static void knows_hexadecimal_digits(void **state)
{
    (void)state;
    assert_true(cn_hex_begins("09af", 4));
    assert_true(cn_hex_begins("09af/", 4));
    assert_false(cn_hex_begins("09af", 3));
    assert_false(cn_hex_begins("09AF", 4));
    assert_true(cn_hex_is("09AFaf", 6));
    assert_true(cn_hex_is("", 0));
    assert_false(cn_hex_is("09g0", 4));
    assert_false(cn_hex_is("0\0000", 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_decimal_digits),
        cmocka_unit_test(prints_bytes_in_hexadecimal),
        cmocka_unit_test(knows_hexadecimal_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
