#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/traces/words.h"

enum { MANY = 5000 };

static uint32_t add_number(struct cn_words *words, unsigned n)
{
    char text[20];

    (void)snprintf(text, sizeof(text), "word %u", n);
    return cn_words_add_str(words, n % 2 ? CN_WORD_TEXT : CN_WORD_CLASS, text);
}

static void a_word_has_one_number(void **state)
{
    struct cn_words words = {0};

    (void)state;
    for (unsigned n = 0; n < MANY; n++)
        assert_int_equal(add_number(&words, n), n + 1);
    for (unsigned n = 0; n < MANY; n++)
        assert_int_equal(add_number(&words, n), n + 1);
    assert_int_equal(words.count, MANY);
    assert_int_not_equal(cn_words_add_str(&words, CN_WORD_CLASS, "word 1"), 2);
    assert_int_equal(cn_words_add_str(&words, CN_WORD_TEXT, ""), 0);
    cn_words_done(&words);
}

static void a_keyword_may_be_empty(void **state)
{
    struct cn_words words = {0};
    struct cn_bytes bytes;

    (void)state;
    assert_int_equal(cn_words_add_str(&words, CN_WORD_KEYWORD, ""), 1);
    assert_int_equal(cn_words_add_str(&words, CN_WORD_KEYWORD, ""), 1);
    bytes = cn_word_bytes(&words, 1);
    assert_non_null(bytes.ptr);
    assert_int_equal(bytes.len, 0);
    cn_words_done(&words);
}

static void rewinding_forgets_the_newest(void **state)
{
    struct cn_words words = {0};

    (void)state;
    for (unsigned n = 0; n < MANY; n++) {
        (void)add_number(&words, n);
        if (n % 100 == 99) {
            cn_words_rewind(&words, n - 50);
            for (unsigned k = 0; k <= n; k += 7)
                assert_int_equal(!!cn_words_find(&words, cn_word_kind(&words, k + 1),
                                                 cn_word_bytes(&words, k + 1)),
                                 k < n - 50);
            for (unsigned k = n - 50; k <= n; k++)
                assert_int_equal(add_number(&words, k), k + 1);
        }
    }
    cn_words_done(&words);
}

static uint32_t add_method(struct cn_words *words, const char *signature)
{
    uint32_t parts[3] = {
        cn_words_add_str(words, CN_WORD_CLASS, "com.example.Dao"),
        cn_words_add_str(words, CN_WORD_METHOD_NAME, "query"),
        cn_words_add_str(words, CN_WORD_SIGNATURE, signature),
    };

    return cn_words_add_parts(words, CN_WORD_METHOD, parts, 3);
}

static void expect_print(const struct cn_words *words, uint32_t id, const char *expected)
{
    struct cn_text text = {0};

    cn_words_print(words, id, &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void methods_are_printed_as_java_writes_them(void **state)
{
    struct cn_words words = {0};

    (void)state;
    expect_print(&words, add_method(&words, "(Ljava/lang/String;I)Ljava/util/List;"),
                 "List com.example.Dao.query(String, int)");
    expect_print(&words, add_method(&words, "([[J)[Z"),
                 "boolean[] com.example.Dao.query(long[][])");
    expect_print(&words, add_method(&words, "()V"), "void com.example.Dao.query()");
    expect_print(&words, add_method(&words, "(L"), "com.example.Dao.query(L");
    expect_print(&words, add_method(&words, ""), "com.example.Dao.query");
    expect_print(&words, 999, "#999");
    cn_words_done(&words);
}

/* A part with a number that is not below its own would be a cycle. */
static void parts_cannot_form_a_cycle(void **state)
{
    uint32_t parts[4] = {1, 2, 3, 1};
    struct cn_words words = {0}, copy = {0};
    uint32_t id = cn_words_add_parts(&words, CN_WORD_EXCEPTION, parts, 4);

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cn_word_part(&words, id, i), 0);
    assert_int_equal(cn_words_copy(&copy, &words, id), 1);
    cn_words_done(&words);
    cn_words_done(&copy);
}

static void copies_bring_their_parts(void **state)
{
    struct cn_words words = {0}, copy = {0};
    uint32_t cause = 0;

    (void)state;
    for (unsigned n = 0; n < 3000; n++) {
        uint32_t parts[4] = {add_number(&words, 2 * n), add_number(&words, 2 * n + 1), 0,
                             cause};

        cause = cn_words_add_parts(&words, CN_WORD_EXCEPTION, parts, 4);
    }
    (void)cn_words_add_str(&copy, CN_WORD_TEXT, "something else");
    cause = cn_words_copy(&copy, &words, cause);
    expect_print(&copy, cause, "word 5998: word 5999");
    assert_int_equal(copy.count, words.count + 1);
    assert_int_equal(cn_words_copy(&copy, &words, words.count), cause);
    cn_words_done(&words);
    cn_words_done(&copy);
}

static void borrowed_words_are_checked(void **state)
{
    struct cn_words words = {0}, borrowed;
    struct cn_words_arena arena;
    struct cn_error err = {0};

    (void)state;
    for (unsigned n = 0; n < 10; n++)
        (void)add_number(&words, n);
    arena = cn_words_arena(&words);
    assert_true(cn_words_borrow(&borrowed, &arena, &err));
    assert_int_equal(cn_words_find(&borrowed, CN_WORD_TEXT,
                                   (struct cn_bytes){(const uint8_t *)"word 3", 6}),
                     4);
    cn_words_done(&borrowed);
    arena.bytes.len--;
    assert_false(cn_words_borrow(&borrowed, &arena, &err));
    arena.bytes.len++;
    arena.ends.len--;
    assert_false(cn_words_borrow(&borrowed, &arena, &err));
    cn_words_done(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_has_one_number),
        cmocka_unit_test(a_keyword_may_be_empty),
        cmocka_unit_test(rewinding_forgets_the_newest),
        cmocka_unit_test(methods_are_printed_as_java_writes_them),
        cmocka_unit_test(parts_cannot_form_a_cycle),
        cmocka_unit_test(copies_bring_their_parts),
        cmocka_unit_test(borrowed_words_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
