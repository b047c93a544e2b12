#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/date.h"
#include "base/text.h"

static const uint64_t new_year_ns = UINT64_C(1767225600000000000); /* 2026-01-01 */
static const uint64_t second_ns = 1000000000;

static void check_print(uint64_t time_ns, unsigned decimals, const char *expected)
{
    struct cn_text text = {0};

    cn_date_print(&text, time_ns, decimals);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void prints_in_utc(void **state)
{
    (void)state;
    check_print(0, 6, "1970-01-01 00:00:00.000000");
    check_print(UINT64_C(1700000000123456789), 3, "2023-11-14 22:13:20.123");
    check_print(UINT64_C(1700000000123456789), 6, "2023-11-14 22:13:20.123456");
    check_print(UINT64_C(1700000000123456789), 9, "2023-11-14 22:13:20.123456789");
    check_print(UINT64_MAX, 6, "2554-07-21 23:34:33.709551");
}

static void check_parse(const char *text, uint64_t first_ns, uint64_t len_ns)
{
    struct cn_error err = {0};
    uint64_t first, last;

    if (!cn_date_parse(text, &first, &last, &err))
        fail_msg("%s", err.text);
    assert_int_equal(first, first_ns);
    assert_int_equal(last, first_ns + len_ns - 1);
}

static void a_date_is_as_long_as_its_last_part(void **state)
{
    (void)state;
    check_parse("2026-01-01", new_year_ns, 86400 * second_ns);
    check_parse("2026-01-01T10", new_year_ns + 36000 * second_ns, 3600 * second_ns);
    check_parse("2026-01-01 00:01", new_year_ns + 60 * second_ns, 60 * second_ns);
    check_parse("2026-01-01 00:00:07Z", new_year_ns + 7 * second_ns, second_ns);
    check_parse("2026-01-01 00:00:00.25", new_year_ns + 250000000, 10000000);
    check_parse("2026-01-01 02:00+02:00", new_year_ns, 60 * second_ns);
}

static void what_is_printed_can_be_parsed(void **state)
{
    (void)state;
    check_parse("2023-11-14 22:13:20.123456789", UINT64_C(1700000000123456789), 1);
}

static void what_is_no_date_is_refused(void **state)
{
    static const char *const bad[] = {"",           "today",      "2026-02-30",
                                      "2026-13-01", "1969-01-01", "2026-01-01 25:00",
                                      "2026-1-1"};
    struct cn_error err;
    uint64_t first, last;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(cn_date_parse(bad[i], &first, &last, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_in_utc),
        cmocka_unit_test(a_date_is_as_long_as_its_last_part),
        cmocka_unit_test(what_is_printed_can_be_parsed),
        cmocka_unit_test(what_is_no_date_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
