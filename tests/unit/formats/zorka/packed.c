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

/* Records one after the other, and their columns. */
struct made {
    struct cn_cbor_out plain;
    struct cn_zorka_columns *columns;
    size_t *offs; /* of the spans */
    size_t span_count, span_capacity;
};

static void add_record(struct made *made, struct cn_trace *trace)
{
    struct cn_zorka_encoder encoder = {0};
    struct cn_zorka_part part;
    size_t begin = made->plain.len;

    if (!made->columns)
        made->columns = cn_zorka_columns_new();
    cn_zorka_record_encode(&encoder, trace, 0, &made->plain, &part);
    for (uint32_t i = 0; i < trace->node_count; i++)
        CN_PUSH(made->offs, made->span_count, made->span_capacity,
                begin + trace->nodes[i].data_off);
    cn_zorka_columns_add(made->columns, trace, &part);
    cn_zorka_encoder_done(&encoder);
}

static void made_done(struct made *made)
{
    cn_cbor_out_done(&made->plain);
    cn_zorka_columns_free(made->columns);
    free(made->offs);
    *made = (struct made){0};
}

/* Random records. */
static void make_records(struct made *made, uint64_t seed, unsigned count)
{
    struct cn_trace trace = {0};

    for (unsigned i = 0; i < count; i++) {
        cn_made_spans(&trace, &seed);
        add_record(made, &trace);
    }
    cn_trace_done(&trace);
}

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)cn_text_str(text), text->len};
}

/* What was packed unpacks to the same bytes as a whole and record by record, in any order. */
static void check_unpacked(const struct made *made, const struct cn_text *packed)
{
    struct cn_bytes plain = {made->plain.bytes, made->plain.len};
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    uint8_t *again = malloc(plain.len);
    struct cn_error err = {0};
    struct cn_bytes record;
    size_t begin;

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
    for (size_t i = 0; i < made->span_count; i++) {
        size_t number = i % 3 == 0 ? made->span_count - 1 - i : i;

        assert_true(cn_zorka_unpack_span(unpacker, (uint32_t)number, &record, &err));
        assert_true(record.len <= plain.len - made->offs[number]);
        assert_memory_equal(record.ptr, plain.ptr + made->offs[number], record.len);
    }
    assert_false(
        cn_zorka_unpack_span(unpacker, (uint32_t)made->span_count, &record, &err));
    free(again);
    cn_zorka_unpacker_free(unpacker);
}

static void check_same(const struct made *made, struct cn_text *packed)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();

    assert_true(cn_zorka_pack(packer, made->columns, made->plain.len, packed));
    check_unpacked(made, packed);
    cn_zorka_packer_free(packer);
}

static void makes_the_same_bytes_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct made made = {0};
        struct cn_text packed = {0};

        make_records(&made, seed * 977, 1 + (unsigned)(seed % RECORDS));
        check_same(&made, &packed);
        cn_text_done(&packed);
        made_done(&made);
    }
}

/* The value of an attribute of the first span of a trace, as one column has it. */
static struct cn_trace_value value_in(const struct cn_trace *trace, uint32_t key)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};
    uint32_t count = 0;

    for (uint32_t i = trace->nodes[0].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        const struct cn_trace_attribute *attribute = &trace->attributes[i];

        if (attribute->key != key || attribute->value.kind == CN_VALUE_NULL)
            continue;
        value = attribute->value;
        count += value.kind >= CN_VALUE_LIST ? 2 : 1;
    }
    if (count > 1)
        value = (struct cn_trace_value){.kind = CN_VALUE_LIST};
    return value;
}

static void assert_same_value(const struct cn_trace_value *a,
                              const struct cn_trace_value *b)
{
    assert_int_equal(a->kind, b->kind);
    if (a->kind == CN_VALUE_BOOL)
        assert_int_equal(a->boolean, b->boolean);
    else if (a->kind == CN_VALUE_WORD)
        assert_int_equal(a->word, b->word);
    else if (a->kind == CN_VALUE_INT || a->kind == CN_VALUE_FLOAT)
        assert_int_equal(a->integer, b->integer);
}

/* The values of a key in all spans of the packed records, and how many have one. */
static size_t check_key(const struct made *made, struct cn_zorka_unpacker *unpacker,
                        uint32_t key)
{
    struct cn_zorka_names names = {.own = &key, .own_count = 1};
    struct cn_zorka_values values = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_bytes record;
    size_t taken, found = 0;

    assert_true(cn_zorka_unpack_attribute(unpacker, &names, &values, &err));
    assert_int_equal(values.count, made->span_count);
    for (uint32_t i = 0; i < made->span_count; i++) {
        assert_true(cn_zorka_unpack_span(unpacker, i, &record, &err));
        assert_true(cn_zorka_record_decode(record, &trace, &taken, &err));
        struct cn_trace_value expected = value_in(&trace, key);
        assert_same_value(&values.list[i], &expected);
        found += expected.kind != CN_VALUE_NULL;
    }
    /* Names that it may be inside of: lists and maps under these may have it. */
    names = (struct cn_zorka_names){.outer = &key, .outer_count = 1};
    assert_true(cn_zorka_unpack_attribute(unpacker, &names, &values, &err));
    for (uint32_t i = 0; i < made->span_count; i++)
        assert_true(values.list[i].kind == CN_VALUE_NULL ||
                    values.list[i].kind == CN_VALUE_LIST);
    free(values.list);
    cn_trace_done(&trace);
    return found;
}

static void attributes_of_columns_are_those_of_spans(void **state)
{
    enum { KEYS = 40 };
    size_t found = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
        struct cn_zorka_packer *packer = cn_zorka_packer_new();
        struct made made = {0};
        struct cn_text packed = {0};
        struct cn_error err = {0};

        make_records(&made, seed * 1009, RECORDS);
        assert_true(cn_zorka_pack(packer, made.columns, made.plain.len, &packed));
        assert_true(
            cn_zorka_unpack_begin(unpacker, bytes_of(&packed), made.plain.len, &err));
        for (uint32_t key = 1; key <= KEYS; key++)
            found += check_key(&made, unpacker, key);
        cn_zorka_packer_free(packer);
        cn_zorka_unpacker_free(unpacker);
        cn_text_done(&packed);
        made_done(&made);
    }
    assert_true(found > 1000);
}

/* Columns, packer and unpacker have nothing left of the chunk before. */
static void can_be_used_again(void **state)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct made made = {.columns = cn_zorka_columns_new()};
    struct cn_text packed = {0};

    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        cn_zorka_columns_clear(made.columns);
        made.plain.len = made.span_count = packed.len = 0;
        make_records(&made, seed, 1 + (unsigned)(seed * 7 % 40));
        assert_true(cn_zorka_pack(packer, made.columns, made.plain.len, &packed));
        check_unpacked(&made, &packed);
    }
    made_done(&made);
    cn_text_done(&packed);
    cn_zorka_packer_free(packer);
}

static bool is_packed(const struct made *made)
{
    struct cn_zorka_packer *packer = cn_zorka_packer_new();
    struct cn_text packed = {0};
    bool ok = cn_zorka_pack(packer, made->columns, made->plain.len, &packed);

    if (ok)
        check_unpacked(made, &packed);
    else
        assert_int_equal(packed.len, 0);
    cn_text_done(&packed);
    cn_zorka_packer_free(packer);
    return ok;
}

static void refuses_calls_and_parts(void **state)
{
    struct cn_words words = {0};
    struct cn_trace trace = {0};
    struct made made = {.columns = cn_zorka_columns_new()};
    struct cn_zorka_part part = {.record_len = 10, .number = 1};
    uint64_t seed = 3;

    (void)state;
    assert_false(is_packed(&made));
    make_records(&made, 5, 3);
    assert_true(is_packed(&made));
    cn_made_trace(&trace, &words, 1);
    add_record(&made, &trace);
    assert_false(is_packed(&made));
    make_records(&made, 5, 3);
    assert_false(is_packed(&made));
    cn_zorka_columns_clear(made.columns);
    cn_made_spans(&trace, &seed);
    cn_zorka_columns_add(made.columns, &trace, &part);
    assert_false(is_packed(&made));
    cn_trace_done(&trace);
    cn_words_done(&words);
    made_done(&made);
}

static uint32_t below(uint64_t *seed, uint32_t limit)
{
    return (uint32_t)((cn_made_number(seed) >> 32) % limit);
}

/* Change a number of a call in a way that its readers survive. */
static void damage(struct cn_trace *trace, uint64_t *seed)
{
    struct cn_trace_node *node = &trace->nodes[below(seed, trace->node_count)];
    uint64_t any = below(seed, 2) ? below(seed, 4) : cn_made_number(seed);

    switch (below(seed, 12)) {
    case 0:
        node->start_ns = any;
        break;
    case 1:
        node->duration_ns = any;
        break;
    case 2:
        node->calls = any;
        break;
    case 3:
        node->errors = (uint32_t)any;
        break;
    case 4:
        node->flags = (uint32_t)any & 0x3d & ~(uint32_t)CN_TRACE_CARRIED;
        break;
    case 5:
        node->end = (uint32_t)(node - trace->nodes) + 1 + below(seed, 3);
        break;
    case 6:
        if (node != trace->nodes)
            node->parent = below(seed, (uint32_t)(node - trace->nodes));
        break;
    case 7:
        node->exception = (uint32_t)any;
        break;
    case 8:
        trace->resume_ns = any;
        break;
    case 9:
        trace->clock_ns = any;
        break;
    case 10:
        trace->spans[node->span].is_whole = false;
        break;
    default:
        trace->spans[node->span].time_ns = any;
        break;
    }
}

/* Nothing checks afterwards that a trace unpacks to the same bytes: no trace may be added that does
 * not, whatever its numbers are. */
static void traces_that_unpack_otherwise_are_refused(void **state)
{
    uint64_t seed = 99;
    unsigned packed = 0, refused = 0;

    (void)state;
    for (unsigned i = 0; i < 4000; i++) {
        struct cn_trace trace = {0};
        struct made made = {0};

        cn_made_spans(&trace, &seed);
        for (unsigned k = 1 + below(&seed, 2); k > 0; k--)
            damage(&trace, &seed);
        add_record(&made, &trace);
        if (is_packed(&made))
            packed++;
        else
            refused++;
        made_done(&made);
        cn_trace_done(&trace);
    }
    assert_true(packed > 500 && refused > 500);
}

/* No damage is read outside of the bytes; a record has the length that the chunk says. */
static void survives_every_truncation_and_flip(void **state)
{
    struct cn_zorka_unpacker *unpacker = cn_zorka_unpacker_new();
    struct made made = {0};
    struct cn_text packed = {0};

    (void)state;
    make_records(&made, 42, 12);
    check_same(&made, &packed);
    struct cn_bytes plain = {made.plain.bytes, made.plain.len};
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
    made_done(&made);
    cn_zorka_unpacker_free(unpacker);
}

/* A column reads back as it was, and takes no more than that. */
static void check_column(const struct cn_number_column *column, size_t len_max)
{
    struct cn_number_column again = {0};
    struct cn_text soft = {0}, hard = {0};
    struct cn_error err = {0};
    bool is_same;

    cn_number_column_put(column, &soft, &hard);
    assert_true(soft.len + hard.len <= len_max);
    struct cn_number_input in = {bytes_of(&soft), bytes_of(&hard)};
    assert_true(cn_number_column_take(&again, column->count, &is_same, &in, &err));
    assert_int_equal(is_same, !column->is_mixed);
    for (size_t k = 0; k < column->count; k++)
        assert_true(again.values[is_same ? 0 : k] ==
                    column->values[column->is_mixed ? k : 0]);
    assert_true(cn_number_column_equals(&again, is_same, column));
    again.values[0] ^= 1;
    assert_false(cn_number_column_equals(&again, is_same, column));
    assert_int_equal(in.soft.len + in.hard.len, 0);
    cn_number_column_done(&again);
    cn_text_done(&soft);
    cn_text_done(&hard);
}

static void columns_have_the_shortest_form(void **state)
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
    uint64_t seed = 5;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_number_column column = {0};

        for (unsigned k = 0; k < cases[i].count; k++)
            cn_number_column_add(&column, 77 + k % cases[i].modulus * cases[i].step);
        check_column(&column, cases[i].len_max);
        cn_number_column_done(&column);
    }
    /* Any of 50 values, which take as many bits as their codes, and mostly one of two, which can be
     * compressed. */
    for (unsigned i = 0; i < 2; i++) {
        struct cn_number_column column = {0};

        for (unsigned k = 0; k < 1000; k++)
            cn_number_column_add(&column,
                                 UINT64_C(1000003) * (i == 0        ? below(&seed, 50)
                                                      : k % 50 == 0 ? below(&seed, 2)
                                                                    : 1));
        check_column(&column, i == 0 ? 6 * 1000 / 8 + 50 * 3 + 2 : 1010);
        cn_number_column_done(&column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_same_bytes_again),
        cmocka_unit_test(attributes_of_columns_are_those_of_spans),
        cmocka_unit_test(can_be_used_again),
        cmocka_unit_test(refuses_calls_and_parts),
        cmocka_unit_test(traces_that_unpack_otherwise_are_refused),
        cmocka_unit_test(survives_every_truncation_and_flip),
        cmocka_unit_test(columns_have_the_shortest_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
