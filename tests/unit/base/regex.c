/* Regular expressions: compared with those of the C library, and what hostile ones take. */

#include <locale.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/regex.h"
#include "base/text.h"
#include "support/effort.h"

static bool matches(const char *pattern, const char *text, unsigned flags)
{
    struct cn_error err = {0};
    struct cn_regex *regex;
    bool result;

    if (!cn_regex_new(&regex, pattern, flags, &err))
        fail_msg("/%s/: %s", pattern, err.text);
    result = cn_regex_matches(regex, text, strlen(text));
    /* Once more with the states of the first time. */
    assert_int_equal(result, cn_regex_matches(regex, text, strlen(text)));
    cn_regex_free(regex);
    return result;
}

static void expect_failure(const char *pattern, const char *reason)
{
    struct cn_error err = {0};
    struct cn_regex *regex;

    assert_false(cn_regex_new(&regex, pattern, 0, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, reason);
}

static void matches_what_users_write(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool is_match;
    } cases[] = {
        {"", "", true},
        {"", "a", true},
        {"a", "", false},
        {"b", "abc", true},
        {"b.d", "abcde", true},
        {"ab.de.", "abcde", false},
        {".bc", "bcbd", false},
        {"..", "a", false},
        {"a..b.", "aabab", false},
        {"a..b.", "aacabba", true},
        {"^b", "abc", false},
        {"c$", "abc", true},
        {"^$", "", true},
        {"$^", "", true},
        {"^$", "a", false},
        {"a*", "", true},
        {"^a+$", "aaa", true},
        {"^a+$", "", false},
        {"^a?b$", "b", true},
        {"^(ab|cd)+$", "abcdab", true},
        {"^(ab|cd)+$", "abca", false},
        {"^a{2,3}$", "aa", true},
        {"^a{2,3}$", "aaaa", false},
        {"^a{2,}$", "aaaaa", true},
        {"^a{3}$", "aa", false},
        {"^a{,2}$", "aaa", false},
        {"^a{,2}$", "", true},
        {"^ba{0}c$", "bc", true},
        {"^a{2}{2}$", "aaaa", true},
        {"^[a-c]+$", "abcb", true},
        {"^[^a-c]+$", "xay", false},
        {"[]]", "]", true},
        {"[]x]{2}", "]x", true},
        {"^[a-]+$", "-a-", true},
        {"^[[:alpha:]_][[:alnum:]_]*$", "net_read2", true},
        {"[[:digit:]]+(_[^]a-f]{1,3})?$", "12_xyz", true},
        {"^[[.-.][=a=]]+$", "a-", true},
        {"\\d+\\.\\d", "v12.5", true},
        {"^\\w+\\s\\W$", "ab !", true},
        {"^[\\d.]+$", "1.5", true},
        {"^[\\]]$", "]", true},
        {"a|b|c", "xxc", true},
        {"^(a|)b$", "b", true},
        {"(a*)*b", "aaab", true},
        {"^.{4}$", "abcd", true},
        {"^(a{1,2}){2}$", "aaaa", true},
        {"^(a{1,2}){2}$", "a", false},
        {"x(^a)", "xa", false},
        {"a$|b", "ba", true},
        {"(a$)b", "ab", false},
        {"(^|_)read$", "net_read", true},
        {"(^|_)read$", "thread", false},
        {"\\bread\\b", "a read.", true},
        {"\\bread\\b", "a thread", false},
        {"\\<read\\>", "read", true},
        {"\\Bread", "thread", true},
        {"\\Bread", "read", false},
        {"\\`a\\'", "a", true},
        {"\\`a\\'", "ab", false},
        {"^std::(vector|list)<.*>::(push|pop)_(back|front)$", "std::list<int>::pop_back",
         true},
        {"a{0,2}b{2,}c{,2}(_(x?)y)*", "bb", true},
        {"^(a|b{3})*$", "abbba", true},
        {"\\(\\)\\{9\\}", "(){9}", true},
        {"^a{150}$", "a", false},
        {"^.*?(ab|c+)?(d*)?$", "abdd", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (matches(cases[i].pattern, cases[i].text, 0) != cases[i].is_match)
            fail_msg("/%s/ and '%s'", cases[i].pattern, cases[i].text);
    }
}

static void a_character_is_one_of_utf8(void **state)
{
    (void)state;
    assert_true(matches("^.$", "\xc3\xa9", 0));
    assert_true(matches("^\xc3\xa9+$", "\xc3\xa9\xc3\xa9", 0));
    assert_false(matches("^\xc3\xa9+$", "\xc3\xa9\xc3\xa8", 0));
    assert_true(matches("^[\xc3\xa0-\xc3\xbf]$", "\xc3\xa9", 0));
    assert_false(matches("^[\xc3\xa0-\xc3\xbf]$", "\xc4\x80", 0));
    assert_true(matches("^[^a]$", "\xe2\x82\xac", 0));
    assert_false(matches("^[^\xe2\x82\xac]$", "\xe2\x82\xac", 0));
    assert_true(matches("^\\w[[:alpha:]]$", "\xc3\xa9\xc3\xa9", 0));
    assert_true(matches("a.b",
                        "a\xff"
                        "b",
                        0));
    assert_true(matches("^..$", "\xff\xc3", 0));
    assert_false(matches("\\w", "\xff", 0));
    assert_true(matches("\xf4\x8f\xbf\xbf|\xc2\x80", "\xc2\x80", 0));
}

static void ignores_case_if_asked_to(void **state)
{
    (void)state;
    assert_true(matches("^Net_[a-c]+[^x]$", "nEt_ABCy", CN_REGEX_IGNORE_CASE));
    assert_false(matches("^Net_[a-c]+[^x]$", "nEt_ABCX", CN_REGEX_IGNORE_CASE));
    assert_false(matches("net", "NET", 0));
    assert_false(matches("[@[`{]", "a", CN_REGEX_IGNORE_CASE));
}

static void failures_have_a_column(void **state)
{
    struct cn_text pattern = {0};

    (void)state;
    expect_failure("ab[cd", "column 6: '[' without ']'");
    expect_failure("a(b", "column 2: '(' without ')'");
    expect_failure("ab)", "column 3: ')' without '('");
    expect_failure("a|*b", "column 3: nothing to repeat");
    expect_failure("^*", "column 2: nothing to repeat");
    expect_failure("a{2", "column 2: expected a number of repetitions such as {2,5}");
    expect_failure("a{}", "column 2: expected a number of repetitions such as {2,5}");
    expect_failure("a{3,2}", "column 2: expected a number of repetitions such as {2,5}");
    expect_failure("a{99999999999999999999}", "column 24: too many repetitions");
    expect_failure("[z-a]", "column 5: the range runs backwards");
    expect_failure("[a-[:digit:]]", "column 13: a range needs a character at its end");
    expect_failure("[[:word:]]",
                   "column 4: unknown class; known are [:alpha:], [:digit:] and so on");
    expect_failure("[[.ab.]]", "column 5: more than one character between [. and .]");
    expect_failure("a\\", "column 2: nothing after '\\'");
    expect_failure("(.*)\\1", "column 5: back-references are not supported");
    expect_failure("a\xff", "column 2: not UTF-8");
    for (int i = 0; i <= CN_REGEX_DEPTH_MAX; i++)
        cn_text_char(&pattern, '(');
    expect_failure(cn_text_str(&pattern), "column 66: parentheses nest too deeply");
    cn_text_fill(&pattern, 'a', CN_REGEX_LEN_MAX);
    expect_failure(cn_text_str(&pattern),
                   "the expression has 4161 bytes, the limit is 4096");
    cn_text_clear(&pattern);
    for (int i = 0; i < 63; i++)
        cn_text_printf(&pattern, "%c%c", 0xc4 + i / 32, 0x80 + i % 32 * 2);
    assert_false(matches(cn_text_str(&pattern), "x", 0));
    cn_text_str_add(&pattern, "\xe4\xb8\x80");
    expect_failure(cn_text_str(&pattern),
                   "column 130: too many different characters beyond ASCII");
    cn_text_done(&pattern);
}

/* What takes other engines exponential time or memory. */
static void hostile_expressions_take_little(void **state)
{
    static const char *const too_large[] = {
        "((a{250}){250}){250}",    "a{70}{70}",     "((a{1,100}){1,100}){1,100}",
        "[[:alpha:]]{4000}{4000}", "(x|a{70}){70}",
    };
    struct cn_error err = {0};
    struct cn_regex *regex;
    struct cn_text text = {0};

    (void)state;
    cn_text_fill(&text, 'a', 100000);
    assert_false(matches("(a*)*(a*)*(a*)*b", cn_text_str(&text), 0));
    assert_false(matches("(a|aa)+$b", cn_text_str(&text), 0));
    assert_false(matches("a.{60}b", cn_text_str(&text), 0));
    assert_false(matches("((((a+)+)+)+)+b", cn_text_str(&text), 0));
    assert_false(matches("(^a*)*(^a*)*(^a*)*(\\ba*)*b", cn_text_str(&text), 0));
    assert_true(matches("((){250}){250}(){250}", "", 0));
    for (size_t i = 0; i < sizeof(too_large) / sizeof(too_large[0]); i++) {
        assert_false(cn_regex_new(&regex, too_large[i], 0, &err));
        assert_non_null(strstr(err.text, "the expression is too large"));
    }
    cn_text_done(&text);
}

static uint32_t draw(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % limit;
}

/* An expression of the subset that both engines know. `depth` limits what it contains.
 * Returns true if it contains an assertion: the C library does not repeat these correctly. */
static bool draw_pattern(uint32_t *seed, unsigned depth, struct cn_text *out)
{
    static const char *const atoms[] = {
        "a",           "b",           "_",    "\xc3\xa9", ".",   "[ab]", "[^a]",
        "[b\xc3\xa9]", "[[:digit:]]", "[a-]", "\\w",      "\\W", "\\s",  "\\.",
    };
    static const char *const assertions[] = {"^", "$", "\\<", "\\>", "\\b"};
    static const char *const repeats[] = {"*", "+", "?", "{2}", "{1,2}", "{0,1}", "{1,}"};
    bool has_assertions = false;

    for (uint32_t left = 1 + draw(seed, 3); left > 0; left--) {
        uint32_t kind = draw(seed, 10);
        bool is_fixed = kind == 0;

        if (kind == 0) {
            cn_text_str_add(out, assertions[draw(seed, 5)]);
        } else if (kind <= 3 && depth > 0) {
            cn_text_char(out, '(');
            is_fixed = draw_pattern(seed, depth - 1, out);
            cn_text_char(out, ')');
        } else {
            cn_text_str_add(out, atoms[draw(seed, sizeof(atoms) / sizeof(atoms[0]))]);
        }
        has_assertions = has_assertions || is_fixed;
        if (!is_fixed && draw(seed, 3) == 0)
            cn_text_str_add(out, repeats[draw(seed, 7)]);
    }
    if (draw(seed, 4) == 0) {
        cn_text_char(out, '|');
        if (draw_pattern(seed, depth > 0 ? depth - 1 : 0, out))
            has_assertions = true;
    }
    return has_assertions;
}

/* The earliest match, and the longest of these. */
static void check_place(struct cn_regex_finder *finder, regex_t *theirs,
                        const struct cn_text *text)
{
    regmatch_t at;
    size_t begin, end;
    bool expected = regexec(theirs, cn_text_str(text), 1, &at, 0) == 0;
    bool found = cn_regex_find(finder, cn_text_str(text), text->len, 0, &begin, &end);

    if (found != expected ||
        (found && (begin != (size_t)at.rm_so || end != (size_t)at.rm_eo)))
        fail_msg("'%s': %d at %zu to %zu, expected %d at %ld to %ld", cn_text_str(text),
                 found, begin, end, expected, (long)at.rm_so, (long)at.rm_eo);
}

static void agrees_with_the_c_library(void **state)
{
    uint32_t seed = (uint32_t)cn_test_seed((uint64_t)time(NULL));
    uint32_t match_count = 0, count = 0;
    struct cn_text pattern = {0}, text = {0};

    (void)state;
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    for (int i = 0; i < 4000; i++) {
        struct cn_error err = {0};
        struct cn_regex *ours;
        struct cn_regex_finder *finder;
        regex_t theirs;

        cn_text_clear(&pattern);
        (void)draw_pattern(&seed, 2, &pattern);
        assert_int_equal(regcomp(&theirs, cn_text_str(&pattern), REG_EXTENDED), 0);
        if (!cn_regex_new(&ours, cn_text_str(&pattern), 0, &err) ||
            !cn_regex_finder_new(&finder, cn_text_str(&pattern), 0, &err))
            fail_msg("/%s/: %s", cn_text_str(&pattern), err.text);
        for (int k = 0; k < 10; k++) {
            static const char *const letters[] = {"a", "a", "b", "_",       ".",
                                                  "-", " ", "1", "\xc3\xa9"};
            bool expected;

            cn_text_clear(&text);
            for (uint32_t left = draw(&seed, 7); left > 0; left--)
                cn_text_str_add(&text, letters[draw(&seed, 9)]);
            expected = regexec(&theirs, cn_text_str(&text), 0, NULL, 0) == 0;
            if (cn_regex_matches(ours, cn_text_str(&text), text.len) != expected)
                fail_msg("/%s/ and '%s': expected %d", cn_text_str(&pattern),
                         cn_text_str(&text), expected);
            check_place(finder, &theirs, &text);
            match_count += expected;
            count++;
        }
        cn_regex_free(ours);
        cn_regex_finder_free(finder);
        regfree(&theirs);
    }
    assert_in_range(match_count, count / 10, count / 10 * 9);
    cn_text_done(&pattern);
    cn_text_done(&text);
}

static void finds_one_match_after_the_other(void **state)
{
    static const char text[] = "a 12, 345 and \xc3\xa4"
                               "6";
    static const size_t expected[][2] = {{2, 4}, {6, 9}, {16, 17}};
    struct cn_regex_finder *finder;
    struct cn_error err = {0};
    size_t from = 0, begin, end;

    (void)state;
    assert_false(cn_regex_finder_new(&finder, "(", 0, &err));
    assert_true(cn_regex_finder_new(&finder, "[0-9]+", 0, &err));
    for (size_t i = 0; i < 3; i++) {
        assert_true(cn_regex_find(finder, text, sizeof(text) - 1, from, &begin, &end));
        assert_int_equal(begin, expected[i][0]);
        assert_int_equal(end, expected[i][1]);
        from = end;
    }
    assert_false(cn_regex_find(finder, text, sizeof(text) - 1, from, &begin, &end));
    cn_regex_finder_free(finder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_what_users_write),
        cmocka_unit_test(a_character_is_one_of_utf8),
        cmocka_unit_test(ignores_case_if_asked_to),
        cmocka_unit_test(failures_have_a_column),
        cmocka_unit_test(hostile_expressions_take_little),
        cmocka_unit_test(agrees_with_the_c_library),
        cmocka_unit_test(finds_one_match_after_the_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
