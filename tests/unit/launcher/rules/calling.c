/* Where arguments and results are passed: the rules of both processors, on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launcher/rules/calling.h"

static const struct cn_value_type none = {.kind = CN_VALUE_NONE, .name = ""};
static const struct cn_value_type number = {
    .kind = CN_VALUE_SIGNED, .size = 4, .align = 4, .name = ""};
static const struct cn_value_type real = {
    .kind = CN_VALUE_FLOAT, .size = 8, .align = 8, .name = ""};

/* A struct of numbers of `size` bytes each. */
static struct cn_value_type parts(size_t count, uint32_t size, bool is_float)
{
    struct cn_value_type type = {.kind = CN_VALUE_STRUCT,
                                 .size = count * size,
                                 .align = size,
                                 .name = "parts",
                                 .has_leaves = true,
                                 .leaf_count = count};

    for (size_t i = 0; i < count; i++)
        type.leaves[i] = (struct cn_value_leaf){(uint32_t)i * size, size, is_float};
    return type;
}

static void expect_piece(const struct cn_rec_value *value, size_t at,
                         enum cn_rec_source source, uint8_t reg, int32_t offset)
{
    assert_in_range(at, 0, value->piece_count - 1u);
    assert_int_equal(value->pieces[at].source, source);
    assert_int_equal(value->pieces[at].reg, reg);
    assert_int_equal(value->pieces[at].offset, offset);
}

static void integers_fill_registers_then_the_stack(void **state)
{
    static const uint8_t x86[] = {5, 4, 1, 2, 8, 9};
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    (void)state;
    cn_calling_begin(&calling, CN_CALLING_X86_64, &none);
    for (size_t i = 0; i < 6; i++) {
        assert_true(cn_calling_next(&calling, &number, &value));
        expect_piece(&value, 0, CN_REC_FROM_REGISTER, x86[i], 0);
    }
    for (int32_t i = 0; i < 3; i++) {
        assert_true(cn_calling_next(&calling, &number, &value));
        expect_piece(&value, 0, CN_REC_FROM_STACK, 0, 8 * i);
    }
    cn_calling_begin(&calling, CN_CALLING_AARCH64, &none);
    for (uint8_t i = 0; i < 8; i++) {
        assert_true(cn_calling_next(&calling, &number, &value));
        expect_piece(&value, 0, CN_REC_FROM_REGISTER, i, 0);
    }
    assert_true(cn_calling_next(&calling, &number, &value));
    expect_piece(&value, 0, CN_REC_FROM_STACK, 0, 0);
}

static void floats_have_registers_of_their_own(void **state)
{
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    (void)state;
    cn_calling_begin(&calling, CN_CALLING_X86_64, &none);
    assert_true(cn_calling_next(&calling, &real, &value));
    expect_piece(&value, 0, CN_REC_FROM_VECTOR, 0, 0);
    assert_true(cn_calling_next(&calling, &number, &value));
    expect_piece(&value, 0, CN_REC_FROM_REGISTER, 5, 0);
    assert_true(cn_calling_next(&calling, &real, &value));
    expect_piece(&value, 0, CN_REC_FROM_VECTOR, 1, 0);
}

static void structs_are_split_by_their_words(void **state)
{
    struct cn_value_type mixed = parts(2, 8, false), four = parts(4, 8, true);
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    (void)state;
    mixed.leaves[0].is_float = true;
    cn_calling_begin(&calling, CN_CALLING_X86_64, &none);
    assert_true(cn_calling_next(&calling, &mixed, &value));
    assert_int_equal(value.piece_count, 2);
    expect_piece(&value, 0, CN_REC_FROM_VECTOR, 0, 0);
    expect_piece(&value, 1, CN_REC_FROM_REGISTER, 5, 0);
    assert_true(cn_calling_next(&calling, &four, &value));
    expect_piece(&value, 0, CN_REC_FROM_STACK, 0, 0);

    cn_calling_begin(&calling, CN_CALLING_AARCH64, &none);
    assert_true(cn_calling_next(&calling, &mixed, &value));
    expect_piece(&value, 0, CN_REC_FROM_REGISTER, 0, 0);
    expect_piece(&value, 1, CN_REC_FROM_REGISTER, 1, 0);
    assert_true(cn_calling_next(&calling, &four, &value));
    assert_int_equal(value.piece_count, 4);
    expect_piece(&value, 3, CN_REC_FROM_VECTOR, 3, 0);
}

static void large_structs_are_copied_or_pointed_to(void **state)
{
    struct cn_value_type large = parts(5, 8, false);
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    (void)state;
    cn_calling_begin(&calling, CN_CALLING_X86_64, &large);
    assert_true(cn_calling_next(&calling, &number, &value));
    expect_piece(&value, 0, CN_REC_FROM_REGISTER, 4, 0); /* rdi is the result's */
    assert_true(cn_calling_next(&calling, &large, &value));
    expect_piece(&value, 0, CN_REC_FROM_STACK, 0, 0);
    assert_true(cn_calling_result(CN_CALLING_X86_64, &large, &value));
    expect_piece(&value, 0, CN_REC_FROM_POINTER, 0, 0);

    cn_calling_begin(&calling, CN_CALLING_AARCH64, &large);
    assert_true(cn_calling_next(&calling, &large, &value));
    expect_piece(&value, 0, CN_REC_FROM_POINTER, 0, 0);
    assert_false(cn_calling_result(CN_CALLING_AARCH64, &large, &value));
}

static void after_an_unknown_type_nothing_is_known(void **state)
{
    struct cn_value_type other = {.kind = CN_VALUE_OTHER, .size = 16, .name = ""};
    struct cn_calling calling;
    struct cn_rec_value value = {0};

    (void)state;
    cn_calling_begin(&calling, CN_CALLING_X86_64, &none);
    assert_false(cn_calling_next(&calling, &other, &value));
    assert_false(cn_calling_next(&calling, &number, &value));
}

static void registers_have_names(void **state)
{
    struct cn_rec_piece piece;

    (void)state;
    assert_true(cn_calling_register(CN_CALLING_X86_64, "rdi", &piece));
    assert_int_equal(piece.reg, 5);
    assert_true(cn_calling_register(CN_CALLING_X86_64, "stack+2", &piece));
    assert_int_equal(piece.source, CN_REC_FROM_STACK);
    assert_int_equal(piece.offset, 8);
    assert_true(cn_calling_register(CN_CALLING_X86_64, "xmm3", &piece));
    assert_int_equal(piece.reg, 3);
    assert_true(cn_calling_register(CN_CALLING_AARCH64, "x7", &piece));
    assert_int_equal(piece.reg, 7);
    assert_false(cn_calling_register(CN_CALLING_X86_64, "x7", &piece));
    assert_false(cn_calling_register(CN_CALLING_X86_64, "rsp", &piece));
    assert_false(cn_calling_register(CN_CALLING_X86_64, "stack+0", &piece));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_fill_registers_then_the_stack),
        cmocka_unit_test(floats_have_registers_of_their_own),
        cmocka_unit_test(structs_are_split_by_their_words),
        cmocka_unit_test(large_structs_are_copied_or_pointed_to),
        cmocka_unit_test(after_an_unknown_type_nothing_is_known),
        cmocka_unit_test(registers_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
