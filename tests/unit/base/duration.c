#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"
#include "base/text.h"

static void check(const char *text, enum cn_duration_bare bare, uint64_t expected)
{
    struct cn_error err = {0};
    uint64_t ns = 0;

    if (!cn_duration_parse(text, bare, &ns, &err))
        fail_msg("%s", err.text);
    assert_int_equal(ns, expected);
}

static void check_refused(const char *text, enum cn_duration_bare bare,
                          const char *expected)
{
    struct cn_error err = {0};
    uint64_t ns = 17;

    assert_false(cn_duration_parse(text, bare, &ns, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, expected);
    assert_int_equal(ns, 17);
}

static void units_mean_the_same_in_every_grammar(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } cases[] = {
        {"1.5s", 1500000000},
        {"20ms", 20000000},
        {"7us", 7000},
        {"300ns", 300},
        {".5s", 500000000},
        {"2m", UINT64_C(120000000000)},
        {"2min", UINT64_C(120000000000)},
        {"1h", UINT64_C(3600000000000)},
        {"1d", UINT64_C(86400000000000)},
        {"1w", UINT64_C(604800000000000)},
        {"3usec", 3000},
        {"0.0004us", 0},
        {"0.0006us", 1},
        {"0", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        for (int bare = CN_BARE_REFUSED; bare <= CN_BARE_S; bare++)
            check(cases[i].text, (enum cn_duration_bare)bare, cases[i].ns);
}

static void a_number_without_a_unit_is_what_the_grammar_says(void **state)
{
    (void)state;
    check("7", CN_BARE_NS, 7);
    check("1.6", CN_BARE_NS, 2);
    check("2", CN_BARE_S, 2000000000);
    check("0.25", CN_BARE_S, 250000000);
    check_refused("5", CN_BARE_REFUSED, "'5' has no unit; use 5ns, 5us, 5ms or 5s");
    check_refused("0.5", CN_BARE_REFUSED,
                  "'0.5' has no unit; use 0.5ns, 0.5us, 0.5ms or 0.5s");
}

static void what_is_no_duration_is_refused(void **state)
{
    static const char *const bad[] = {"",    "soon",  "-1s",   "+1s", "inf",
                                      "nan", "0x10s", "1e3us", " 1s"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct cn_text text = {0};

        cn_text_printf(&text, "'%s' is not a duration such as 1.5s", bad[i]);
        for (int bare = CN_BARE_REFUSED; bare <= CN_BARE_S; bare++)
            check_refused(bad[i], (enum cn_duration_bare)bare, cn_text_str(&text));
        cn_text_done(&text);
    }
    check_refused("5 s", CN_BARE_NS,
                  "' s' in duration '5 s' is not one of ns, us, ms, s, m, h, d, w");
    check_refused("20%", CN_BARE_S,
                  "'%' in duration '20%' is not one of ns, us, ms, s, m, h, d, w");
    check_refused("99999999999h", CN_BARE_NS,
                  "'99999999999h' is too long, the limit is 285 years");
}

static void shares_are_of_the_whole(void **state)
{
    struct cn_error err = {0};
    uint64_t ns;

    (void)state;
    assert_true(cn_duration_parse_share("12.5%", 2000, &ns, &err));
    assert_int_equal(ns, 250);
    assert_true(cn_duration_parse_share("5ms", 2000, &ns, &err));
    assert_int_equal(ns, 5000000);
    assert_false(cn_duration_parse_share("later", 2000, &ns, &err));
    assert_string_equal(err.text, "'later' is not a duration such as 1.5s or 20%");
    assert_false(cn_duration_parse_share("3", 2000, &ns, &err));
    assert_string_equal(err.text, "'3' has no unit; use 3ns, 3us, 3ms or 3s");
    assert_false(cn_duration_parse_share("5sek", 2000, &ns, &err));
    assert_string_equal(
        err.text, "'sek' in duration '5sek' is not one of ns, us, ms, s, m, h, d, w, %");
    assert_false(cn_duration_parse_share("20%", 0, &ns, &err));
}

static void check_print(void (*print)(struct cn_text *text, uint64_t ns), uint64_t ns,
                        const char *expected)
{
    struct cn_text text = {0};

    print(&text, ns);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void prints_in_the_unit_that_fits(void **state)
{
    (void)state;
    check_print(cn_duration_print, 0, "0 s");
    check_print(cn_duration_print, 7, "7 ns");
    check_print(cn_duration_print, 1500, "1.5 us");
    check_print(cn_duration_print, 12345678, "12.345 ms");
    check_print(cn_duration_print, 1000000000, "1 s");
    check_print(cn_duration_print, UINT64_C(3601000000000), "3601 s");
}

static void exact_durations_can_be_parsed_again(void **state)
{
    (void)state;
    check_print(cn_duration_print_exactly, 1250000000, "1250ms");
    check_print(cn_duration_print_exactly, 10000, "10us");
    check_print(cn_duration_print_exactly, 10001, "10001ns");
    check_print(cn_duration_print_exactly, 3000000000, "3s");
    check("10001ns", CN_BARE_REFUSED, 10001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_mean_the_same_in_every_grammar),
        cmocka_unit_test(a_number_without_a_unit_is_what_the_grammar_says),
        cmocka_unit_test(what_is_no_duration_is_refused),
        cmocka_unit_test(shares_are_of_the_whole),
        cmocka_unit_test(prints_in_the_unit_that_fits),
        cmocka_unit_test(exact_durations_can_be_parsed_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
