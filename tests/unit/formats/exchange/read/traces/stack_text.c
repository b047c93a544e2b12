/* Stack traces as text: what becomes of each line, and that nothing of it is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "formats/exchange/read/traces/stack_text.h"
#include "model/traces/words.h"

static struct cn_words words;

static int clear(void **state)
{
    (void)state;
    cn_words_done(&words);
    return 0;
}

static struct cn_bytes bytes_of(const char *str)
{
    return (struct cn_bytes){(const uint8_t *)str, strlen(str)};
}

static uint32_t add(const char *class, const char *message, const char *text)
{
    uint32_t class_word = *class ? cn_words_add_str(&words, CN_WORD_CLASS, class) : 0;
    uint32_t message_word = cn_words_add_str(&words, CN_WORD_TEXT, message);

    return cn_stack_text_add(&words, class_word, message_word, bytes_of(text));
}

static void expect(uint32_t word, const char *printed)
{
    struct cn_text text = {0};

    cn_words_print(&words, word, &text);
    assert_string_equal(cn_text_str(&text), printed);
    cn_text_done(&text);
}

static uint32_t stack_of(uint32_t exception)
{
    return cn_word_part(&words, exception, 2);
}

static uint32_t cause_of(uint32_t exception)
{
    return cn_word_part(&words, exception, 3);
}

static void frames_of_java_are_taken_apart(void **state)
{
    uint32_t e = add("com.example.Failure", "cannot save",
                     "com.example.Failure: cannot save\n"
                     "\tat com.example.Dao.query(Dao.java:40)\r\n"
                     "\tat com.example.Dao.<init>(Unknown Source)\n"
                     "\tat java.base/java.lang.Thread.run(Thread.java:829)\n"
                     "\t... 3 more\n");
    uint32_t frame = cn_word_part(&words, stack_of(e), 0);

    (void)state;
    expect(e, "com.example.Failure: cannot save");
    expect(stack_of(e), "com.example.Dao.query(Dao.java:40)\n"
                        "com.example.Dao.<init>(Unknown Source)\n"
                        "java.base/java.lang.Thread.run(Thread.java:829)\n"
                        "... 3 more");
    expect(cn_word_part(&words, frame, 0), "com.example.Dao");
    expect(cn_word_part(&words, frame, 1), "query");
    expect(cn_word_part(&words, frame, 2), "Dao.java");
    assert_int_equal(cn_word_line(&words, frame), 40);
    assert_int_equal(cause_of(e), 0);
}

static void causes_follow_what_they_caused(void **state)
{
    uint32_t e =
        add("A", "one\nof two lines",
            "A: one\nof two lines\n\tat a.B.c(D.java:1)\n"
            "Caused by: java.io.IOException: closed: twice\n\tat e.F.g(H.java:2)\n"
            "Caused by: Plain\n");

    (void)state;
    expect(stack_of(e), "a.B.c(D.java:1)");
    expect(cause_of(e), "java.io.IOException: closed: twice");
    expect(stack_of(cause_of(e)), "e.F.g(H.java:2)");
    expect(cause_of(cause_of(e)), "Plain");
    assert_int_equal(stack_of(cause_of(cause_of(e))), 0);
}

static void lines_of_other_languages_are_kept(void **state)
{
    uint32_t e = add("ValueError", "no",
                     "Traceback (most recent call last):\n"
                     "  File \"shop.py\", line 7, in add\n    raise ValueError('no')\n"
                     "ValueError: no\n");
    uint32_t js =
        add("Error", "no", "Error: no\n    at add (/shop.js:7:11)\n    at /x.js:1:2");

    (void)state;
    expect(stack_of(e), "Traceback (most recent call last):\n"
                        "File \"shop.py\", line 7, in add\nraise ValueError('no')\n"
                        "ValueError: no");
    expect(stack_of(js), "add (/shop.js:7:11)\n/x.js:1:2");
}

static void class_and_message_come_from_the_text_when_they_are_not_given(void **state)
{
    (void)state;
    expect(add("", "", "a.B: message\n\tat c.D.e(F.java:1)"), "a.B: message");
    expect(add("", "only this", "\tat c.D.e(F.java:1)"), ": only this");
    expect(add("A", "b", ""), "A: b");
    assert_int_equal(stack_of(add("A", "b", "")), 0);
}

static void odd_places_are_printed_as_they_were(void **state)
{
    static const char *const lines[] = {"a.B.c(D.java:007)",
                                        "a.B.c(D.java:)",
                                        "a.B.c(D.java:99999999999)",
                                        "a.B.c()",
                                        "a.b(",
                                        ".a(B.java:1)",
                                        "a.(B.java:1)",
                                        "A.B(String s, int n)"};

    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        expect(stack_of(add("A", "b", lines[i])), lines[i]);
}

static void too_many_lines_and_causes_are_counted(void **state)
{
    struct cn_text text = {0};
    uint32_t e;
    size_t depth = 0;

    (void)state;
    for (size_t i = 0; i < CN_STACK_FRAME_MAX + 10; i++)
        cn_text_printf(&text, "\tat a.B.c(D.java:%zu)\n", i);
    e = add("A", "b", cn_text_str(&text));
    assert_int_equal(cn_word_part_count(&words, stack_of(e)), CN_STACK_FRAME_MAX + 1);
    expect(cn_word_part(&words, stack_of(e), CN_STACK_FRAME_MAX), "... 10 more lines");
    cn_text_clear(&text);
    for (size_t i = 0; i < 3 * CN_STACK_CAUSE_MAX; i++)
        cn_text_printf(&text, "Caused by: E%zu\n", i);
    for (e = add("A", "b", cn_text_str(&text)); e != 0; e = cause_of(e))
        depth++;
    assert_int_equal(depth, CN_STACK_CAUSE_MAX);
    cn_text_done(&text);
}

static void stays_inside_every_truncation(void **state)
{
    static const char whole[] =
        "a.B: m\n\tat c.D.e(F.java:12)\nCaused by: g.H: i\n\tat j.K.l(M)";

    (void)state;
    for (size_t len = 0; len < sizeof(whole); len++) {
        char *copy = cn_alloc(len + 1, 1);

        memcpy(copy, whole, len);
        assert_int_not_equal(
            cn_stack_text_add(&words, 0, 0, (struct cn_bytes){(uint8_t *)copy, len}), 0);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(frames_of_java_are_taken_apart, clear),
        cmocka_unit_test_teardown(causes_follow_what_they_caused, clear),
        cmocka_unit_test_teardown(lines_of_other_languages_are_kept, clear),
        cmocka_unit_test_teardown(
            class_and_message_come_from_the_text_when_they_are_not_given, clear),
        cmocka_unit_test_teardown(odd_places_are_printed_as_they_were, clear),
        cmocka_unit_test_teardown(too_many_lines_and_causes_are_counted, clear),
        cmocka_unit_test_teardown(stays_inside_every_truncation, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
