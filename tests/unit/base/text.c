#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "support/skip.h"

static void an_untouched_text_is_empty(void **state)
{
    struct cn_text text = {0};

    (void)state;
    assert_string_equal(cn_text_str(&text), "");
    cn_text_clear(&text);
    cn_text_done(&text);
}

static void everything_is_appended_in_order(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_text_add(&text, "abcdef", 3);
    cn_text_str_add(&text, "-");
    cn_text_char(&text, '+');
    cn_text_fill(&text, '.', 3);
    cn_text_u64(&text, 120);
    cn_text_printf(&text, "%05d", 42);
    assert_string_equal(cn_text_str(&text), "abc-+...12000042");
    assert_int_equal(text.len, strlen("abc-+...12000042"));
    cn_text_clear(&text);
    assert_string_equal(cn_text_str(&text), "");
    cn_text_str_add(&text, "again");
    assert_string_equal(cn_text_str(&text), "again");
    cn_text_done(&text);
    assert_string_equal(cn_text_str(&text), "");
}

static void an_empty_text_can_be_appended(void **state)
{
    struct cn_text empty = {0}, text = {0};

    (void)state;
    cn_text_add(&text, empty.chars, empty.len);
    cn_text_fill(&text, 'x', 0);
    assert_string_equal(cn_text_str(&text), "");
    cn_text_done(&text);
}

static void numbers_are_printed_like_printf_does(void **state)
{
    static const uint64_t values[] = {0, 9, 10, 99, 1234567890, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct cn_text text = {0};
        char want[32];

        (void)snprintf(want, sizeof(want), "%llu", (unsigned long long)values[i]);
        cn_text_u64(&text, values[i]);
        assert_string_equal(cn_text_str(&text), want);
        cn_text_done(&text);
    }
}

/* Every length passes through the lengths at which the buffer is exactly full. */
static void a_text_grows_and_stays_terminated(void **state)
{
    struct cn_text chars = {0}, printed = {0};

    (void)state;
    for (size_t len = 1; len <= 3000; len++) {
        cn_text_char(&chars, 'x');
        cn_text_printf(&printed, "%c", 'x');
        assert_int_equal(strlen(cn_text_str(&chars)), len);
        assert_int_equal(strlen(cn_text_str(&printed)), len);
    }
    cn_text_done(&chars);
    cn_text_done(&printed);
}

static void a_nul_is_a_character_like_any(void **state)
{
    struct cn_text text = {0};

    (void)state;
    cn_text_add(&text, "a\0b", 3);
    assert_int_equal(text.len, 3);
    assert_memory_equal(text.chars, "a\0b", 4);
    cn_text_done(&text);
}

static void well_formed_characters_have_a_length(void **state)
{
    static const char *const good[] = {
        "a",
        "\x7f",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "\xee\x80\x80",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t len = strlen(good[i]);

        assert_int_equal(cn_utf8_char_len(good[i], len), len);
        assert_true(cn_utf8_is_valid(good[i], len));
        for (size_t cut = 0; cut < len; cut++)
            assert_int_equal(cn_utf8_char_len(good[i], cut), 0);
    }
}

static void ill_formed_characters_have_none(void **state)
{
    static const char *const bad[] = {
        "\x80",             /* continues nothing */
        "\xc0\x80",         /* overlong NUL */
        "\xc1\xbf",         /* overlong */
        "\xe0\x9f\xbf",     /* overlong */
        "\xf0\x8f\xbf\xbf", /* overlong */
        "\xed\xa0\x80",     /* surrogate */
        "\xed\xbf\xbf",     /* surrogate */
        "\xf4\x90\x80\x80", /* beyond U+10FFFF */
        "\xf5\x80\x80\x80", /* beyond U+10FFFF */
        "\xff",             /* never valid */
        "\xc2\x41",         /* cut off by a letter */
        "\xe2\x82\x41",     /* cut off by a letter */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(cn_utf8_char_len(bad[i], strlen(bad[i])), 0);
        assert_false(cn_utf8_is_valid(bad[i], strlen(bad[i])));
    }
    assert_false(cn_utf8_is_valid("ok\xff", 3));
    assert_true(cn_utf8_is_valid("", 0));
}

static void shows(const char *raw, const char *want)
{
    struct cn_text text = {0};

    cn_utf8_add_printable(&text, raw);
    assert_string_equal(cn_text_str(&text), want);
    cn_text_done(&text);
}

static void a_terminal_sees_no_control_characters(void **state)
{
    (void)state;
    shows("operator<<", "operator<<");
    shows("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
    shows("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m");
    shows("a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f");
    shows("\xff\xfe", "\\xff\\xfe");
    shows("\xc2\x9b"
          "31m",
          "\\xc2\\x9b31m"); /* CSI as one character */
    shows("\xe2\x80\xaeltr", "\\xe2\\x80\\xaeltr");
    shows("\xe2\x82", "\\xe2\\x82");
    shows("", "");
}

static void width_counts_columns(void **state)
{
    (void)state;
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        CN_SKIP("no locale C.UTF-8");
    assert_int_equal(cn_utf8_width(""), 0);
    assert_int_equal(cn_utf8_width("abc"), 3);
    assert_int_equal(cn_utf8_width("gr\xc3\xbc\xc3\x9f"), 4);
    assert_int_equal(cn_utf8_width("e\xcc\x81"), 1);                /* combining acute */
    assert_int_equal(cn_utf8_width("\xe6\x97\xa5\xe6\x9c\xac"), 4); /* two wide ones */
}

static void copies_hold_nothing_but_utf8(void **state)
{
    struct cn_arena arena = {0};

    (void)state;
    assert_string_equal(cn_utf8_strdup(&arena, "caf\xc3\xa9\n"), "caf\xc3\xa9\n");
    assert_string_equal(cn_utf8_strdup(&arena, "caf\xe9\n\xc3"), "caf\\xe9\n\\xc3");
    cn_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_untouched_text_is_empty),
        cmocka_unit_test(everything_is_appended_in_order),
        cmocka_unit_test(an_empty_text_can_be_appended),
        cmocka_unit_test(numbers_are_printed_like_printf_does),
        cmocka_unit_test(a_text_grows_and_stays_terminated),
        cmocka_unit_test(a_nul_is_a_character_like_any),
        cmocka_unit_test(well_formed_characters_have_a_length),
        cmocka_unit_test(ill_formed_characters_have_none),
        cmocka_unit_test(a_terminal_sees_no_control_characters),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(copies_hold_nothing_but_utf8),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
