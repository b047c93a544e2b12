#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/files/crc32c.h"

enum { LEN = 1 << 16 };

/* Bit by bit, as it is defined. */
static uint32_t plain_crc(struct cn_bytes bytes)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= bytes.ptr[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ UINT32_C(0x82f63b78) : crc >> 1;
    }
    return ~crc;
}

static void fill(uint8_t *bytes, size_t len)
{
    uint64_t state = 7;

    for (size_t i = 0; i < len; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        bytes[i] = (uint8_t)(state >> 56);
    }
}

static void is_that_of_the_catalogue(void **state)
{
    (void)state;
    assert_int_equal(cn_crc32c((struct cn_bytes){(const uint8_t *)"123456789", 9}),
                     UINT32_C(0xe3069283));
    assert_int_equal(cn_crc32c((struct cn_bytes){(const uint8_t *)"", 0}), 0);
}

static void is_the_same_at_every_length_and_alignment(void **state)
{
    static uint8_t bytes[LEN];

    (void)state;
    fill(bytes, sizeof(bytes));
    for (size_t len = 0; len <= LEN; len += len < 64 ? 1 : 1 + len / 19) {
        struct cn_bytes part = {bytes + (LEN - len) % 13, 0};

        part.len = len < LEN - 13 ? len : LEN - 13;
        assert_int_equal(cn_crc32c(part), plain_crc(part));
    }
}

static void parts_are_joined(void **state)
{
    static uint8_t bytes[LEN];

    (void)state;
    fill(bytes, sizeof(bytes));
    for (size_t len = 0; len <= LEN; len += 1 + len / 5) {
        struct cn_bytes left = {bytes, LEN - len}, right = {bytes + LEN - len, len};
        uint32_t whole = cn_crc32c((struct cn_bytes){bytes, LEN});

        assert_int_equal(cn_crc32c_join(cn_crc32c(left), cn_crc32c(right), len), whole);
        assert_int_equal(cn_crc32c_add(cn_crc32c(left), right), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_that_of_the_catalogue),
        cmocka_unit_test(is_the_same_at_every_length_and_alignment),
        cmocka_unit_test(parts_are_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
