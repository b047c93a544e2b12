#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"

#define SAMPLE(F)                  \
    F(0x00, u8, kind, "a byte")    \
    F(0x02, u16, port, "two")      \
    F(0x04, u32, thread, "four")   \
    F(0x08, u64, time_ns, "eight") \
    F(0x10, f64, value, "a number")
CN_RECORD(sample, SAMPLE, 0x1a);
CN_RECORD_BE(big_sample, SAMPLE, 0x1a);

static const uint8_t little[sample_size] = {
    0x7f, 0xee, 0x02, 0x01, 0x06, 0x05, 0x04, 0x03, 0x0e, 0x0d, 0x0c, 0x0b, 0x0a,
    0x09, 0x08, 0x07, 0,    0,    0,    0,    0,    0,    0xf8, 0x3f, 0xee, 0xee,
};
static const uint8_t big[big_sample_size] = {
    0x7f, 0xee, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b,
    0x0c, 0x0d, 0x0e, 0x3f, 0xf8, 0,    0,    0,    0,    0,    0,    0xee, 0xee,
};

static void decodes_little_endian(void **state)
{
    struct sample s;

    (void)state;
    assert_true(sample_decode((struct cn_bytes){little, sizeof(little)}, &s));
    assert_int_equal(s.kind, 0x7f);
    assert_int_equal(s.port, 0x0102);
    assert_int_equal(s.thread, 0x03040506);
    assert_true(s.time_ns == UINT64_C(0x0708090a0b0c0d0e));
    assert_true(s.value == 1.5);
}

static void decodes_big_endian(void **state)
{
    struct big_sample s;

    (void)state;
    assert_true(big_sample_decode((struct cn_bytes){big, sizeof(big)}, &s));
    assert_int_equal(s.kind, 0x7f);
    assert_int_equal(s.port, 0x0102);
    assert_int_equal(s.thread, 0x03040506);
    assert_true(s.time_ns == UINT64_C(0x0708090a0b0c0d0e));
    assert_true(s.value == 1.5);
}

static void decodes_at_any_alignment(void **state)
{
    uint8_t shifted[sample_size + 8];

    (void)state;
    for (size_t at = 0; at < 8; at++) {
        struct sample s;

        memcpy(shifted + at, little, sizeof(little));
        assert_true(sample_decode((struct cn_bytes){shifted + at, sample_size}, &s));
        assert_int_equal(s.thread, 0x03040506);
    }
}

static void rejects_every_truncation(void **state)
{
    (void)state;
    for (size_t len = 0; len < sample_size; len++) {
        struct sample s = {.kind = 1};

        assert_false(sample_decode((struct cn_bytes){little, len}, &s));
        assert_int_equal(s.kind, 1);
    }
}

/* A later version of a format may make a record longer. */
static void ignores_bytes_after_the_record(void **state)
{
    uint8_t longer[sample_size + 4] = {0};
    struct sample s;

    (void)state;
    memcpy(longer, little, sizeof(little));
    assert_true(sample_decode((struct cn_bytes){longer, sizeof(longer)}, &s));
    assert_int_equal(s.port, 0x0102);
}

static void encodes_zeros_where_no_field_is(void **state)
{
    uint8_t want[sample_size], got[sample_size];
    struct sample s;

    (void)state;
    memcpy(want, little, sizeof(want));
    want[1] = want[24] = want[25] = 0;
    memset(got, 0xff, sizeof(got));
    assert_true(sample_decode((struct cn_bytes){little, sizeof(little)}, &s));
    sample_encode(&s, got);
    assert_memory_equal(got, want, sizeof(want));
}

static void encodes_big_endian(void **state)
{
    uint8_t want[big_sample_size], got[big_sample_size];
    struct big_sample s;

    (void)state;
    memcpy(want, big, sizeof(want));
    want[1] = want[24] = want[25] = 0;
    assert_true(big_sample_decode((struct cn_bytes){big, sizeof(big)}, &s));
    big_sample_encode(&s, got);
    assert_memory_equal(got, want, sizeof(want));
}

static void keeps_every_bit_of_a_number(void **state)
{
    static const uint64_t patterns[] = {
        0, UINT64_C(0x8000000000000000), UINT64_C(0x7ff8000000000001), 1, UINT64_MAX,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        uint8_t from[8], to[8];

        cn_u64_put(from, patterns[i]);
        cn_f64_put(to, cn_f64_get(from));
        assert_memory_equal(from, to, sizeof(to));
    }
}

static void describes_its_fields(void **state)
{
    (void)state;
    assert_string_equal(sample_layout.name, "sample");
    assert_int_equal(sample_layout.field_count, 5);
    assert_int_equal(sample_layout.size, 0x1a);
    assert_false(sample_layout.is_big_endian);
    assert_true(big_sample_layout.is_big_endian);
    assert_int_equal(sample_fields[3].offset, 8);
    assert_int_equal(sample_fields[3].size, 8);
    assert_string_equal(sample_fields[3].type, "u64");
    assert_string_equal(sample_fields[3].name, "time_ns");
    assert_string_equal(sample_fields[3].meaning, "eight");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_little_endian),
        cmocka_unit_test(decodes_big_endian),
        cmocka_unit_test(decodes_at_any_alignment),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(ignores_bytes_after_the_record),
        cmocka_unit_test(encodes_zeros_where_no_field_is),
        cmocka_unit_test(encodes_big_endian),
        cmocka_unit_test(keeps_every_bit_of_a_number),
        cmocka_unit_test(describes_its_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
