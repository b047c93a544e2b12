#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/grpc/message.h"

static bool take(struct cn_grpc_message *message, const char *text, size_t len,
                 struct cn_error *err)
{
    return cn_grpc_message_take(message, (struct cn_bytes){(const uint8_t *)text, len},
                                err);
}

static void reads_a_message_in_pieces(void **state)
{
    static const char sent[] = "\1\0\0\0\5spans";
    struct cn_grpc_message message = {0};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sent) - 1; i++) {
        assert_false(cn_grpc_message_end(&message, &err));
        assert_true(take(&message, sent + i, 1, &err));
    }
    assert_true(cn_grpc_message_end(&message, &err));
    assert_true(message.is_compressed);
    assert_string_equal(cn_text_str(&message.body), "spans");
    assert_false(take(&message, "x", 1, &err));
    assert_string_equal(err.text, "bytes follow the message of 5 bytes");
    cn_grpc_message_done(&message);
}

static void refuses_messages_that_are_too_long(void **state)
{
    struct cn_grpc_message message = {0};
    struct cn_error err = {0};

    (void)state;
    assert_false(take(&message, "\0\1\0\0\1", 5, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    assert_string_equal(err.text, "the message has 16777217 bytes; at most 16777216 are "
                                  "allowed: send smaller batches");
    cn_grpc_message_done(&message);
}

static void refuses_unknown_flags(void **state)
{
    struct cn_grpc_message message = {0};
    struct cn_error err = {0};

    (void)state;
    assert_false(take(&message, "\2\0\0\0\0", 5, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    cn_grpc_message_done(&message);
}

static void parses_timeouts(void **state)
{
    static const char *const wrong[] = {"",    "S",   "1",          "1s",  "-1S",
                                        "1SS", "1 S", "123456789S", "0x1S"};
    static const struct {
        const char *text;
        uint64_t ns;
    } right[] = {
        {"1H", UINT64_C(3600000000000)},
        {"2M", UINT64_C(120000000000)},
        {"3S", UINT64_C(3000000000)},
        {"4m", 4000000},
        {"5u", 5000},
        {"6n", 6},
        {"99999999H", UINT64_C(99999999) * 3600000000000},
    };
    uint64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(cn_grpc_timeout_parse(wrong[i], &ns));
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        assert_true(cn_grpc_timeout_parse(right[i].text, &ns));
        assert_true(ns == right[i].ns);
    }
}

static void encodes_text_as_printable_ascii(void **state)
{
    struct cn_text out = {0};

    (void)state;
    cn_grpc_text_encode(&out, "100 % of 'a'\n\xc3\xa4");
    assert_string_equal(cn_text_str(&out), "100 %25 of 'a'%0A%C3%A4");
    cn_text_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_message_in_pieces),
        cmocka_unit_test(refuses_messages_that_are_too_long),
        cmocka_unit_test(refuses_unknown_flags),
        cmocka_unit_test(parses_timeouts),
        cmocka_unit_test(encodes_text_as_printable_ascii),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
