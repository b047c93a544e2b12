#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/base64.h"
#include "base/text.h"

/* The test vectors of RFC 4648. */
static void encodes_every_rest_of_three_bytes(void **state)
{
    static const char *const expected[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                           "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};

    (void)state;
    for (size_t len = 0; len <= 6; len++) {
        struct cn_text text = {0};

        cn_base64_add(&text, (struct cn_bytes){(const uint8_t *)"foobar", len});
        assert_string_equal(cn_text_str(&text), expected[len]);
        cn_text_done(&text);
    }
}

static void encodes_all_digits(void **state)
{
    static const uint8_t bytes[] = {0x00, 0x10, 0x83, 0xfb, 0xff, 0xbf};
    struct cn_text text = {0};

    (void)state;
    cn_base64_add(&text, (struct cn_bytes){bytes, sizeof(bytes)});
    assert_string_equal(cn_text_str(&text), "ABCD+/+/");
    cn_text_done(&text);
}

static void decodes_what_it_encoded(void **state)
{
    static const char *const texts[] = {"Zm9vYg==", "Zm9vYg", "Zm9vYg="};
    static const char *const none[] = {"Z", "Zm9v!", "=Zm9", "Zm9v YmFy", "Zm9vY"};
    uint8_t bytes[256];
    struct cn_text text = {0}, back = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)i;
    for (size_t len = 0; len <= sizeof(bytes); len++) {
        cn_text_clear(&text);
        cn_text_clear(&back);
        cn_base64_add(&text, (struct cn_bytes){bytes, len});
        assert_true(cn_base64_decode(&back, cn_bytes_of(cn_text_str(&text))));
        assert_int_equal(back.len, len);
        assert_memory_equal(cn_text_str(&back), bytes, len);
    }
    for (size_t i = 0; i < 3; i++) {
        cn_text_clear(&back);
        assert_true(cn_base64_decode(&back, cn_bytes_of(texts[i])));
        assert_string_equal(cn_text_str(&back), "foob");
    }
    cn_text_clear(&back);
    assert_true(cn_base64_decode(&back, cn_bytes_of("-_-_")));
    assert_memory_equal(cn_text_str(&back), "\xfb\xff\xbf", 3);
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_false(cn_base64_decode(&back, cn_bytes_of(none[i])));
    cn_text_done(&text);
    cn_text_done(&back);
}

static void needs_no_more_room_for_the_next_text(void **state)
{
    struct cn_text text = {0};
    size_t capacity;

    (void)state;
    cn_base64_add(&text, (struct cn_bytes){(const uint8_t *)"foobar", 6});
    capacity = text.capacity;
    for (int i = 0; i < 10; i++) {
        cn_text_clear(&text);
        cn_base64_add(&text, (struct cn_bytes){(const uint8_t *)"foobar", 6});
    }
    assert_int_equal(text.capacity, capacity);
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_every_rest_of_three_bytes),
        cmocka_unit_test(encodes_all_digits),
        cmocka_unit_test(decodes_what_it_encoded),
        cmocka_unit_test(needs_no_more_room_for_the_next_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
