/* Regular expressions: which are refused, and that the others are left to the C library. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/regex.h"
#include "base/text.h"

static void expect(const char *pattern, const char *reason)
{
    struct cn_error err = {0};
    regex_t regex;

    assert_false(cn_regex_compile(&regex, pattern, NULL, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, reason);
}

static void compiles_what_people_write(void **state)
{
    static const struct {
        const char *pattern, *name;
        int result;
    } cases[] = {
        {"", "x", 0},
        {"^std::(vector|list)<.*>::(push|pop)_(back|front)$", "std::list<int>::pop_back",
         0},
        {"[]x]{2}", "]x", 0},
        {"[[:digit:]]+(_[^]a-f]{1,3})?$", "12_xyz", 0},
        {"a{0,2}b{2,}c{,2}(_(x?)y)*", "bb", 0},
        {"^(a|b{3})*$", "abbba", 0},
        {"\\(\\)\\{9\\}", "(){9}", 0},
        {"[\\1]+$", "1", 0},
        {"^a{150}$", "a", REG_NOMATCH},
        {"^.*?(ab|c+)?(d*)?$", "abdd", 0},
        {"^a$|^b$|^c$|^d$|^e$|^f$|^g$", "g", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_error err = {0};
        regex_t regex;

        if (!cn_regex_compile(&regex, cases[i].pattern, NULL, &err))
            fail_msg("%s: %s", cases[i].pattern, err.text);
        assert_int_equal(regexec(&regex, cases[i].name, 0, NULL, 0), cases[i].result);
        regfree(&regex);
    }
}

static void refuses_repetitions_of_repetitions(void **state)
{
    static const char *const patterns[] = {
        "a{201}",           "((a{1,100}){1,100}){1,100}",
        "a{7}{7}{7}",       "(a{40}b){25}",
        "([]{a]{110}){,2}", "[[:alpha:]{]{40}{40}",
        "(x|a{40}){40}",    "[[.].]]{40}{40}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        expect(patterns[i], "more than 200 repetitions");
    expect("a{99999999999999999999}", "repeats more than 5000 times");
    expect("a{,18446744073709551615}", "repeats more than 5000 times");
    expect("(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa){180}", "more than 5000 characters to match");
}

static void refuses_to_repeat_what_may_be_empty(void **state)
{
    static const char *const patterns[] = {"a**",     "(a*)*",    "(a?b?)+",
                                           "(x|){2}", "()*",      "(x|a{0,2})*",
                                           "(^)*",    "(\\b|x)+", "((a|b*)c?)*"};

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
        expect(patterns[i], "repeats what may be empty");
}

static void refuses_many_anchors(void **state)
{
    (void)state;
    expect("^^^^a$$$$$", "more than 8 anchors such as ^");
    expect("(^a|b)(^a|b)(^a|b)(^a|b)(^a|b)(^a|b)(^a|b)(^a|b)(^a|b)",
           "more than 8 anchors such as ^");
    expect("(^a){9}", "more than 8 anchors such as ^");
    expect("(\\b|\\B|\\<|x){3}", "repeats what may be empty");
}

static void every_plus_around_another_doubles(void **state)
{
    struct cn_text pattern = {0};

    (void)state;
    for (int i = 0; i < 20; i++)
        cn_text_char(&pattern, '(');
    cn_text_char(&pattern, 'a');
    for (int i = 0; i < 20; i++)
        cn_text_str_add(&pattern, "+)");
    expect(cn_text_str(&pattern), "more than 200 repetitions");
    cn_text_done(&pattern);
}

static void refuses_what_nests_deeply_and_refers_back(void **state)
{
    struct cn_text pattern = {0};

    (void)state;
    for (int i = 0; i < 65; i++)
        cn_text_char(&pattern, '(');
    expect(cn_text_str(&pattern), "more than 64 parentheses nested");
    cn_text_done(&pattern);
    expect("(.*)(.*)\\2x", "back-references such as \\2 are not possible");
}

static void many_expressions_share_what_is_left(void **state)
{
    struct cn_error err = {0};
    uint64_t left = 100;
    regex_t regex;

    (void)state;
    assert_true(cn_regex_compile(&regex, "a{60}b?", &left, &err));
    regfree(&regex);
    assert_int_equal(left, 39);
    assert_false(cn_regex_compile(&regex, "a{40}", &left, &err));
    assert_string_equal(err.text, "more than 39 repetitions");
    assert_int_equal(left, 39);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_what_people_write),
        cmocka_unit_test(refuses_repetitions_of_repetitions),
        cmocka_unit_test(refuses_to_repeat_what_may_be_empty),
        cmocka_unit_test(refuses_many_anchors),
        cmocka_unit_test(every_plus_around_another_doubles),
        cmocka_unit_test(refuses_what_nests_deeply_and_refers_back),
        cmocka_unit_test(many_expressions_share_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
