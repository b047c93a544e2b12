#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/protobuf.h"

#define THING(F, m)                     \
    F(m, 1, uint64, number, "a number") \
    F(m, 2, string, name, "a name")     \
    F(m, 15, message, inner, "")        \
    F(m, 16, double, real, "")
CN_MESSAGE(thing, THING);

static struct cn_bytes view(const struct cn_pb *pb)
{
    return (struct cn_bytes){pb->bytes, pb->len};
}

static void expect_bytes(struct cn_pb *pb, const char *want, size_t len)
{
    assert_int_equal(pb->len, len);
    assert_memory_equal(pb->bytes, want, len);
    cn_pb_done(pb);
}

static void tables_give_numbers_and_descriptions(void **state)
{
    (void)state;
    assert_int_equal(thing_inner, 15);
    assert_int_equal(sizeof(thing_fields) / sizeof(thing_fields[0]), 4);
    assert_string_equal(thing_fields[1].name, "name");
    assert_string_equal(thing_fields[1].type, "string");
}

/* The examples of the specification: protobuf.dev/programming-guides/encoding. */
static void encodes_as_the_specification_says(void **state)
{
    struct cn_pb pb = {0};
    size_t at;

    (void)state;
    cn_pb_u64(&pb, thing_number, 150);
    expect_bytes(&pb, "\x08\x96\x01", 3);
    cn_pb_str(&pb, thing_name, "testing");
    expect_bytes(&pb, "\x12\x07testing", 9);
    at = cn_pb_open(&pb, 3);
    cn_pb_u64(&pb, 1, 150);
    cn_pb_close(&pb, at);
    expect_bytes(&pb, "\x1a\x03\x08\x96\x01", 5);
    cn_pb_packed(&pb, 6, (const uint64_t[]){3, 270, 86942}, 3);
    expect_bytes(&pb, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
    cn_pb_u64(&pb, 1, (uint64_t)-2);
    expect_bytes(&pb, "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
    cn_pb_u64(&pb, thing_real, 1);
    expect_bytes(&pb, "\x80\x01\x01", 3);
}

static void long_messages_have_long_lengths(void **state)
{
    struct cn_pb pb = {0};
    size_t outer = cn_pb_open(&pb, 1), inner = cn_pb_open(&pb, 2);
    struct cn_pb_reader reader, inside;
    struct cn_pb_field field;
    struct cn_error err;
    char *long_text = malloc(70001);

    (void)state;
    memset(long_text, 'x', 70000);
    long_text[70000] = '\0';
    cn_pb_str(&pb, 3, long_text);
    cn_pb_close(&pb, inner);
    cn_pb_u64(&pb, 4, 7);
    cn_pb_close(&pb, outer);
    reader = cn_pb_read(view(&pb));
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_true(cn_pb_enter(&reader, &field, &inside, &err));
    assert_int_equal(cn_pb_next(&inside, &field, &err), CN_PB_FIELD);
    assert_int_equal(field.number, 2);
    assert_int_equal(field.bytes.len, 70000 + 4);
    assert_int_equal(cn_pb_next(&inside, &field, &err), CN_PB_FIELD);
    assert_int_equal(field.value, 7);
    assert_int_equal(cn_pb_next(&inside, &field, &err), CN_PB_END);
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_END);
    cn_pb_done(&pb);
    free(long_text);
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
    struct cn_pb pb = {0};

    (void)state;
    cn_pb_str(&pb, thing_name,
              "a\xff\xfe"
              "b");
    expect_bytes(&pb,
                 "\x12\x08"
                 "a\xef\xbf\xbd\xef\xbf\xbd"
                 "b",
                 10);
}

static void reads_back_every_type(void **state)
{
    struct cn_pb pb = {0};
    struct cn_pb_reader reader;
    struct cn_pb_field field;
    struct cn_error err;
    uint64_t number;

    (void)state;
    cn_pb_u64(&pb, 1, UINT64_MAX);
    cn_pb_fixed64(&pb, 2, UINT64_C(0xbfe0000000000000)); /* -0.5 */
    cn_pb_fixed64(&pb, CN_PB_NUMBER_MAX, 5);
    cn_pb_packed(&pb, 4, (const uint64_t[]){1, 300}, 2);
    cn_pb_raw(&pb, "\x2d\x01\x00\x00\x80", 5); /* field 5, 32 bits */
    reader = cn_pb_read(view(&pb));
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_true(field.value == UINT64_MAX && cn_pb_as_i64(field.value) == -1);
    assert_true(cn_pb_next_number(&field, &number) && number == UINT64_MAX);
    assert_false(cn_pb_next_number(&field, &number));
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_true(cn_pb_as_f64(field.value) == -0.5);
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_int_equal(field.number, CN_PB_NUMBER_MAX);
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_true(cn_pb_next_number(&field, &number) && number == 1);
    assert_true(cn_pb_next_number(&field, &number) && number == 300);
    assert_false(cn_pb_next_number(&field, &number));
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FIELD);
    assert_true(field.wire == CN_PB_FIXED32 && field.value == 0x80000001);
    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_END);
    cn_pb_done(&pb);
}

static void rejects_every_truncation(void **state)
{
    struct cn_pb pb = {0};
    struct cn_pb_field field;
    struct cn_error err;

    (void)state;
    cn_pb_u64(&pb, 1, 1000000);
    for (size_t len = 1; len < pb.len; len++) {
        struct cn_pb_reader reader = cn_pb_read((struct cn_bytes){pb.bytes, len});

        assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FAIL);
    }
    cn_pb_clear(&pb);
    cn_pb_str(&pb, 2, "name");
    for (size_t len = 1; len < pb.len; len++) {
        struct cn_pb_reader reader = cn_pb_read((struct cn_bytes){pb.bytes, len});

        assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FAIL);
        assert_int_equal(err.kind, CN_ERR_FORMAT);
    }
    cn_pb_done(&pb);
}

static void expect_refused(const char *bytes, size_t len, const char *text)
{
    struct cn_pb_reader reader =
        cn_pb_read((struct cn_bytes){(const uint8_t *)bytes, len});
    struct cn_pb_field field;
    struct cn_error err;

    assert_int_equal(cn_pb_next(&reader, &field, &err), CN_PB_FAIL);
    assert_non_null(strstr(err.text, text));
}

static void says_what_is_wrong_and_where(void **state)
{
    (void)state;
    expect_refused("\x00\x01", 2, "the field at 0 has number 0");
    expect_refused("\x0b\x0c", 2, "wire type 3");
    expect_refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "too large");
    expect_refused("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01x", 12, "cut off");
    expect_refused("\x12\x05xy", 4,
                   "field 2 at 0 is cut off: it has 5 bytes, and 2 follow");
    expect_refused("\xff", 1, "has no key");
}

static void messages_nest_to_a_limit(void **state)
{
    struct cn_pb_reader reader = cn_pb_read((struct cn_bytes){NULL, 0});
    struct cn_pb_field field = {.number = 1, .wire = CN_PB_BYTES};
    struct cn_error err;

    (void)state;
    for (unsigned i = 1; i < CN_PB_DEPTH_MAX; i++)
        assert_true(cn_pb_enter(&reader, &field, &reader, &err));
    assert_false(cn_pb_enter(&reader, &field, &reader, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    field.wire = CN_PB_VARINT;
    assert_false(cn_pb_enter(&reader, &field, &reader, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
}

static bool add_number(void *arg, const struct cn_pb_reader *reader,
                       struct cn_pb_field *field, struct cn_error *err)
{
    uint64_t *sum = arg;

    if (field->wire == CN_PB_BYTES)
        return cn_pb_read_message(reader, field, add_number, sum, err);
    *sum += field->value;
    return field->value < 1000 || cn_fail(err, CN_ERR_LIMIT, "too large");
}

static void reads_messages_field_by_field(void **state)
{
    static const uint8_t bytes[] = {0x08, 0x01, 0x12, 0x02, 0x08, 0x02, 0x18, 0x03};
    static const uint8_t large[] = {0x12, 0x03, 0x08, 0xff, 0x7f};
    struct cn_pb_reader reader = cn_pb_read((struct cn_bytes){bytes, sizeof(bytes)});
    struct cn_error err = {0};
    uint64_t sum = 0;

    (void)state;
    assert_true(cn_pb_read_fields(&reader, add_number, &sum, &err));
    assert_int_equal(sum, 6);
    reader = cn_pb_read((struct cn_bytes){large, sizeof(large)});
    assert_false(cn_pb_read_fields(&reader, add_number, &sum, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    reader = cn_pb_read((struct cn_bytes){large, sizeof(large) - 1});
    assert_false(cn_pb_read_fields(&reader, add_number, &sum, &err));
}

static bool is_pair(const char *bytes, size_t len, const char *first, const char *inner)
{
    uint8_t *exact = malloc(len > 0 ? len : 1); /* for the sanitizer */
    struct cn_bytes texts[2] = {{0}};

    memcpy(exact, bytes, len);
    bool is_one =
        cn_pb_text_pair((struct cn_bytes){exact, len}, 1, 2, 1, &texts[0], &texts[1]);
    if (is_one) {
        assert_true(cn_bytes_equal(texts[0], first));
        assert_true(cn_bytes_equal(texts[1], inner));
    }
    free(exact);
    return is_one;
}

static void pairs_of_texts_are_found_at_once(void **state)
{
    static const char pair[] = "\x0a\x03key\x12\x07\x0a\x05value";
    static const char empty[] = "\x0a\x00\x12\x02\x0a\x00";

    (void)state;
    assert_true(is_pair(pair, sizeof(pair) - 1, "key", "value"));
    assert_true(is_pair(empty, sizeof(empty) - 1, "", ""));
    for (size_t len = 0; len + 1 < sizeof(pair); len++)
        assert_false(is_pair(pair, len, "", ""));
    /* More fields, others, in another order, too long, of another type. */
    assert_false(is_pair("\x0a\x01k\x12\x03\x0a\x01v\x08\x01", 10, "", ""));
    assert_false(is_pair("\x0a\x01k\x12\x05\x0a\x01v\x08\x01", 10, "", ""));
    assert_false(is_pair("\x0a\x01k\x12\x02\x18\x01", 7, "", ""));
    assert_false(is_pair("\x12\x03\x0a\x01v\x0a\x01k", 8, "", ""));
    assert_false(is_pair("\x0a\x81\x00k\x12\x03\x0a\x01v", 9, "", ""));
    assert_false(is_pair("\x0a\x7fk\x12\x03\x0a\x01v", 8, "", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_give_numbers_and_descriptions),
        cmocka_unit_test(encodes_as_the_specification_says),
        cmocka_unit_test(long_messages_have_long_lengths),
        cmocka_unit_test(bytes_that_are_no_text_are_replaced),
        cmocka_unit_test(reads_back_every_type),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(says_what_is_wrong_and_where),
        cmocka_unit_test(messages_nest_to_a_limit),
        cmocka_unit_test(reads_messages_field_by_field),
        cmocka_unit_test(pairs_of_texts_are_found_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
