/* Patterns for names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/name_filter.h"

static void knows_begin_and_end(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool is_match;
    } cases[] = {
        {"^ma.n$", "main", true},     {"^ma.n$", "main2", false},
        {"a.*b.*c$", "xabcbc", true}, {"a.*b.*c$", "xabcb", false},
        {"^.*$", "", true},           {"$", "main", true},
        {"s.*[0-9]", "solve1", true}, {"ab", "aab", true},
        {"^ab", "aab", false},
    };
    struct cn_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_name_filter filter = {0};

        assert_true(cn_name_filter_add(&filter, cases[i].pattern, CN_MATCH_REGEX, &err));
        assert_int_equal(cn_name_filter_matches(&filter, cases[i].name),
                         cases[i].is_match);
        cn_name_filter_done(&filter);
    }
}

static void matches_if_any_pattern_does(void **state)
{
    struct cn_name_filter filter = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_name_filter_matches(&filter, "main"));
    assert_true(cn_name_filter_add(&filter, "net_*", CN_MATCH_GLOB, &err));
    assert_true(cn_name_filter_add(&filter, "a+in$", CN_MATCH_REGEX, &err));
    assert_false(cn_name_filter_add(&filter, "a(b", CN_MATCH_REGEX, &err));
    assert_string_equal(err.text, "pattern 'a(b': column 2: '(' without ')'");
    assert_true(cn_name_filter_matches(&filter, "main"));
    assert_true(cn_name_filter_matches(&filter, "net_read"));
    assert_false(cn_name_filter_matches(&filter, "inet_read"));
    cn_name_filter_done(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_if_any_pattern_does),
        cmocka_unit_test(knows_begin_and_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
