#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/zorka/number_columns.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/record.h"
#include "support/made_spans.h"
#include "support/made_traces.h"

enum { RECORDS = 60 };

static void add_record(struct cn_cbor_out *out, struct cn_trace *trace)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_zorka_part part;

    cn_zorka_record_encode(&encoder, trace, 0, out, &part);
    cn_zorka_encoder_done(&encoder);
}

/* Random records, one after the other. */
static void make_records(struct cn_cbor_out *out, uint64_t seed, unsigned count)
{
    struct cn_trace trace = {0};

    for (unsigned i = 0; i < count; i++) {
        cn_made_spans(&trace, &seed);
        add_record(out, &trace);
    }
    cn_trace_done(&trace);
}

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)cn_text_str(text), text->len};
}

/* The packed form, which unpacks to the same bytes as a whole and record by record, in any order. */
static void check_same(struct cn_bytes plain, struct cn_text *packed)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    uint8_t *again = malloc(plain.len);
    struct cn_error err = {0};
    struct cn_bytes record;
    size_t begin;

    assert_true(cn_zorka_pack(packer, plain, packed));
    assert_true(cn_zorka_unpack_begin(unpacker, bytes_of(packed), plain.len, &err));
    assert_true(cn_zorka_unpack_all(unpacker, again, &err));
    assert_memory_equal(again, plain.ptr, plain.len);
    for (size_t i = 0; i < plain.len; i += 1 + plain.len / 101) {
        size_t off = i % 3 == 0 ? plain.len - 1 - i : i;

        assert_true(cn_zorka_unpack_at(unpacker, off, &record, &begin, &err));
        assert_true(begin <= off && off < begin + record.len);
        assert_memory_equal(record.ptr, plain.ptr + begin, record.len);
    }
    assert_false(cn_zorka_unpack_at(unpacker, plain.len, &record, &begin, &err));
    free(again);
    cn_zorka_unpacker_free(unpacker);
    cn_zorka_packer_free(packer);
}

static void makes_the_same_bytes_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct cn_cbor_out plain = {0};
        struct cn_text packed = {0};

        make_records(&plain, seed * 977, 1 + (unsigned)(seed % RECORDS));
        check_same((struct cn_bytes){plain.bytes, plain.len}, &packed);
        cn_text_done(&packed);
        cn_cbor_out_done(&plain);
    }
}

/* One packer and one unpacker have nothing left of the chunk before. */
static void can_be_used_again(void **state)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct cn_cbor_out plain = {0};
        struct cn_text packed = {0};

        make_records(&plain, seed, 1 + (unsigned)(seed * 7 % 40));
        assert_true(
            cn_zorka_pack(packer, (struct cn_bytes){plain.bytes, plain.len}, &packed));
        cn_text_done(&packed);
        cn_cbor_out_done(&plain);
    }
    cn_zorka_packer_free(packer);
}

static void refuses_calls_and_what_is_no_record(void **state)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct cn_cbor_out plain = {0};
    struct cn_text packed = {0};
    struct cn_words words = {0};
    struct cn_trace trace = {0};

    (void)state;
    make_records(&plain, 5, 3);
    assert_false(
        cn_zorka_pack(packer, (struct cn_bytes){plain.bytes, plain.len - 1}, &packed));
    assert_false(cn_zorka_pack(packer, (struct cn_bytes){plain.bytes, 0}, &packed));
    cn_made_trace(&trace, &words, 1);
    add_record(&plain, &trace);
    assert_false(
        cn_zorka_pack(packer, (struct cn_bytes){plain.bytes, plain.len}, &packed));
    assert_int_equal(packed.len, 0);
    cn_trace_done(&trace);
    cn_words_done(&words);
    cn_cbor_out_done(&plain);
    cn_text_done(&packed);
    cn_zorka_packer_free(packer);
}

/* No damage is read outside of the bytes; a record has the length that the chunk says. */
static void survives_every_truncation_and_flip(void **state)
{
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    struct cn_cbor_out plain = {0};
    struct cn_text packed = {0};

    (void)state;
    make_records(&plain, 42, 12);
    check_same((struct cn_bytes){plain.bytes, plain.len}, &packed);
    uint8_t *again = malloc(plain.len), *copy = malloc(packed.len);
    for (size_t i = 0; i < packed.len; i++) {
        struct cn_error err = {0};

        memcpy(copy, packed.chars, packed.len);
        assert_false(cn_zorka_unpack_begin(unpacker, (struct cn_bytes){copy, i},
                                           plain.len, &err) &&
                     cn_zorka_unpack_all(unpacker, again, &err));
        copy[i] ^= (uint8_t)(1 << i % 8);
        if (cn_zorka_unpack_begin(unpacker, (struct cn_bytes){copy, packed.len},
                                  plain.len, &err))
            (void)!cn_zorka_unpack_all(unpacker, again, &err);
        assert_true(err.kind == CN_ERR_NONE || err.text[0] != '\0');
    }
    free(copy);
    free(again);
    cn_text_done(&packed);
    cn_cbor_out_done(&plain);
    cn_zorka_unpacker_free(unpacker);
}

static void columns_have_the_shortest_of_three_forms(void **state)
{
    static const struct {
        unsigned count, modulus;
        uint64_t step;
        size_t len_max;
    } cases[] = {
        {1000, 1, 0, 4},                      /* one value */
        {1000, 5, 1000000007, 1100},          /* five codes */
        {1000, 1000, 1, 1300},                /* ten bits */
        {1000, 1000, UINT64_MAX / 999, 8100}, /* any */
        {3, 3, UINT64_MAX / 2, 40},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_number_column column = {0}, again = {0};
        struct cn_text soft = {0}, hard = {0};
        struct cn_error err = {0};
        bool is_same;

        for (unsigned k = 0; k < cases[i].count; k++)
            cn_number_column_add(&column, 77 + k % cases[i].modulus * cases[i].step);
        cn_number_column_put(&column, &soft, &hard);
        assert_true(soft.len + hard.len <= cases[i].len_max);
        struct cn_number_input in = {bytes_of(&soft), bytes_of(&hard)};
        assert_true(cn_number_column_take(&again, column.count, &is_same, &in, &err));
        assert_int_equal(is_same, cases[i].modulus == 1);
        for (unsigned k = 0; k < cases[i].count; k++)
            assert_true(again.values[is_same ? 0 : k] == column.values[k]);
        assert_int_equal(in.soft.len + in.hard.len, 0);
        cn_number_column_done(&column);
        cn_number_column_done(&again);
        cn_text_done(&soft);
        cn_text_done(&hard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_same_bytes_again),
        cmocka_unit_test(can_be_used_again),
        cmocka_unit_test(refuses_calls_and_what_is_no_record),
        cmocka_unit_test(survives_every_truncation_and_flip),
        cmocka_unit_test(columns_have_the_shortest_of_three_forms),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
