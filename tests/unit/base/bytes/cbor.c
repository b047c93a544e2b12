#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/cbor.h"
#include "base/files/crc32c.h"

static struct cn_cbor input(const char *bytes, size_t len)
{
    return (struct cn_cbor){.bytes = {(const uint8_t *)bytes, len}};
}

/* Examples of RFC 8949, appendix A. */
static void reads_numbers_of_every_width(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        int64_t value;
    } examples[] = {
        {"\x00", 1, 0},
        {"\x17", 1, 23},
        {"\x18\x18", 2, 24},
        {"\x19\x03\xe8", 3, 1000},
        {"\x1a\x00\x0f\x42\x40", 5, 1000000},
        {"\x1b\x00\x00\x00\xe8\xd4\xa5\x10\x00", 9, 1000000000000},
        {"\x20", 1, -1},
        {"\x39\x03\xe7", 3, -1000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct cn_cbor in = input(examples[i].bytes, examples[i].len);
        struct cn_cbor_out out = {0};
        int64_t value;

        assert_true(cn_cbor_int(&in, &value));
        assert_int_equal(value, examples[i].value);
        assert_true(cn_cbor_is_at_end(&in));
        cn_cbor_put_int(&out, value);
        assert_int_equal(out.len, examples[i].len);
        assert_memory_equal(out.bytes, examples[i].bytes, out.len);
        cn_cbor_out_done(&out);
        for (size_t len = 0; len < examples[i].len; len++) {
            in = input(examples[i].bytes, len);
            assert_false(cn_cbor_int(&in, &value));
            assert_int_equal(in.off, 0);
        }
    }
}

static void reads_reals(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        double value;
    } examples[] = {
        {"\xf9\x3c\x00", 3, 1.0},
        {"\xf9\xc4\x00", 3, -4.0},
        {"\xf9\x00\x01", 3, 5.960464477539063e-8},
        {"\xfa\x47\xc3\x50\x00", 5, 100000.0},
        {"\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a", 9, 1.1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct cn_cbor in = input(examples[i].bytes, examples[i].len);
        struct cn_cbor_head head;

        assert_true(cn_cbor_next(&in, &head));
        assert_true(cn_cbor_real(&head) == examples[i].value);
    }
}

static void skips_whole_items(void **state)
{
    static const char nested[] = "\x83\x01\x9f\xa1\x61k\xc1\x18\xff\xff\x7f\x61x\xff\x05";
    struct cn_cbor in = input(nested, sizeof(nested) - 1);
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_cbor_skip(&in, &err));
    assert_int_equal(in.off, sizeof(nested) - 2);
    for (size_t len = 0; len + 1 < sizeof(nested) - 1; len++) {
        in = input(nested, len);
        assert_false(cn_cbor_skip(&in, &err));
    }
}

static void refuses_to_skip_what_is_too_deep_or_too_long(void **state)
{
    struct cn_error err = {0};
    char deep[200];
    struct cn_cbor in;

    (void)state;
    memset(deep, '\x81', sizeof(deep));
    in = input(deep, sizeof(deep));
    assert_false(cn_cbor_skip(&in, &err));
    assert_string_equal(err.text, "offset 64: items nest more than 64 deep");
    in = input("\x7b\xff\xff\xff\xff\xff\xff\xff\xff", 9);
    assert_false(cn_cbor_skip(&in, &err));
    in = input("\xbb\xff\xff\xff\xff\xff\xff\xff\xff", 9);
    assert_false(cn_cbor_skip(&in, &err));
    in = input("\x1c", 1);
    assert_false(cn_cbor_skip(&in, &err));
    assert_string_equal(err.text, "offset 0: expected an item, found byte 0x1c");
}

static void a_text_must_be_inside(void **state)
{
    struct cn_cbor in = input("\x63"
                              "ab",
                              3);
    struct cn_bytes text;

    (void)state;
    assert_false(cn_cbor_text(&in, &text));
    assert_int_equal(in.off, 0);
}

static void crc32c_is_castagnolis(void **state)
{
    static const uint8_t digits[] = "123456789";
    uint8_t zeros[32] = {0};
    uint32_t crc;

    (void)state;
    assert_int_equal(cn_crc32c((struct cn_bytes){digits, 9}), 0xe3069283);
    assert_int_equal(cn_crc32c((struct cn_bytes){zeros, 32}), 0x8a9136aa);
    crc = cn_crc32c((struct cn_bytes){digits, 4});
    assert_int_equal(cn_crc32c_add(crc, (struct cn_bytes){digits + 4, 5}), 0xe3069283);
    assert_int_equal(cn_crc32c((struct cn_bytes){digits, 0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_numbers_of_every_width),
        cmocka_unit_test(reads_reals),
        cmocka_unit_test(skips_whole_items),
        cmocka_unit_test(refuses_to_skip_what_is_too_deep_or_too_long),
        cmocka_unit_test(a_text_must_be_inside),
        cmocka_unit_test(crc32c_is_castagnolis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
