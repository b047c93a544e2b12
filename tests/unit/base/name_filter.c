/* Patterns for names: the short ways say what the regular expression says. */
#include <locale.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/name_filter.h"

enum { TEXT_MAX = 8 };

static uint32_t draw(uint32_t *state, uint32_t limit)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 16) % limit;
}

static void draw_text(uint32_t *state, const char *const *alphabet, uint32_t count,
                      char *out)
{
    for (uint32_t left = draw(state, TEXT_MAX); left > 0; left--)
        for (const char *from = alphabet[draw(state, count)]; *from != '\0'; from++)
            *out++ = *from;
    *out = '\0';
}

static void matches_what_the_expression_matches(void **state)
{
    static const char *const parts[] = {"a", "b", ".", ".*", "*", "^", "$", "\xc3\xa9"};
    static const char *const letters[] = {"a", "b", "\xc3\xa9", "$", "a", "b", "\xff"};
    uint32_t seed = 7, match_count = 0;
    char pattern[TEXT_MAX * 2], name[TEXT_MAX * 2];
    struct cn_error err;

    (void)state;
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    for (int i = 0; i < 20000; i++) {
        struct cn_name_filter filter = {0};
        regex_t regex;
        bool expected;

        draw_text(&seed, parts, sizeof(parts) / sizeof(parts[0]), pattern);
        draw_text(&seed, letters, sizeof(letters) / sizeof(letters[0]), name);
        if (!cn_name_filter_add(&filter, pattern, CN_MATCH_REGEX, &err))
            continue;
        assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
        expected = regexec(&regex, name, 0, NULL, 0) == 0;
        if (cn_name_filter_matches(&filter, name) != expected)
            fail_msg("'%s' in '%s': expected %d", pattern, name, expected);
        match_count += expected;
        cn_name_filter_done(&filter);
        regfree(&regex);
    }
    assert_in_range(match_count, 1000, 19000);
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_what_the_expression_matches),
        cmocka_unit_test(knows_begin_and_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
