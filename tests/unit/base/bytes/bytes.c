#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/bytes.h"

static const uint8_t ten[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
static const struct cn_bytes all = {ten, sizeof(ten)};

static void slices_only_what_is_inside(void **state)
{
    (void)state;
    for (uint64_t off = 0; off <= 12; off++)
        for (uint64_t len = 0; len <= 12; len++) {
            struct cn_bytes part = {0};
            bool fits = off + len <= sizeof(ten);

            assert_int_equal(cn_bytes_slice(all, off, len, &part), fits);
            assert_ptr_equal(part.ptr, fits ? ten + off : NULL);
            assert_int_equal(part.len, fits ? len : 0);
        }
}

static void slices_do_not_wrap_around(void **state)
{
    struct cn_bytes part = {0};

    (void)state;
    assert_false(cn_bytes_slice(all, UINT64_MAX, 1, &part));
    assert_false(cn_bytes_slice(all, 1, UINT64_MAX, &part));
    assert_false(cn_bytes_slice(all, UINT64_MAX, UINT64_MAX, &part));
    assert_false(cn_bytes_slice(all, UINT64_MAX - 4, 10, &part));
    assert_null(part.ptr);
}

static void slices_nothing_from_nothing(void **state)
{
    struct cn_bytes part = {ten, 1}, nothing = {0};

    (void)state;
    assert_true(cn_bytes_slice((struct cn_bytes){0}, 0, 0, &part));
    assert_int_equal(part.len, 0);
    assert_false(cn_bytes_slice((struct cn_bytes){0}, 0, 1, &part));
    assert_true(cn_bytes_take(&nothing, 0, &part));
    assert_int_equal(nothing.len, 0);
}

static void arrays_do_not_overflow(void **state)
{
    struct cn_bytes part = {0};

    (void)state;
    assert_true(cn_bytes_array(all, 1, 3, 3, &part));
    assert_int_equal(part.len, 9);
    assert_false(cn_bytes_array(all, 2, 3, 3, &part));
    /* The product wraps around to 0 and to 8. */
    assert_false(cn_bytes_array(all, 0, UINT64_C(1) << 32, UINT64_C(1) << 32, &part));
    assert_false(cn_bytes_array(all, 0, (UINT64_C(1) << 61) + 1, 8, &part));
}

static void elements_lie_side_by_side(void **state)
{
    struct cn_bytes array, element;

    (void)state;
    assert_true(cn_bytes_array(all, 1, 3, 3, &array));
    element = cn_bytes_element(array, 2, 3);
    assert_ptr_equal(element.ptr, ten + 7);
    assert_int_equal(element.len, 3);
}

static void takes_from_the_front_until_empty(void **state)
{
    struct cn_bytes rest = all;
    struct cn_bytes part;

    (void)state;
    assert_true(cn_bytes_take(&rest, 4, &part));
    assert_int_equal(part.ptr[0], 0);
    assert_true(cn_bytes_take(&rest, 6, &part));
    assert_int_equal(part.ptr[0], 4);
    assert_int_equal(rest.len, 0);
    assert_false(cn_bytes_take(&rest, 1, &part));
    assert_true(cn_bytes_take(&rest, 0, &part));
}

static void a_failed_take_leaves_both_alone(void **state)
{
    struct cn_bytes rest = all;
    struct cn_bytes part = {ten + 3, 2};

    (void)state;
    assert_false(cn_bytes_take(&rest, 11, &part));
    assert_int_equal(rest.len, 10);
    assert_ptr_equal(part.ptr, ten + 3);
}

static void from_reaches_to_the_end(void **state)
{
    struct cn_bytes part;

    (void)state;
    assert_true(cn_bytes_from(all, 7, &part));
    assert_int_equal(part.len, 3);
    assert_true(cn_bytes_from(all, 10, &part));
    assert_int_equal(part.len, 0);
    assert_false(cn_bytes_from(all, 11, &part));
}

static void strings_end_inside_or_are_none(void **state)
{
    static const uint8_t raw[] = {'a', 'b', 0, 'c', 'd'};
    struct cn_bytes b = {raw, sizeof(raw)};

    (void)state;
    assert_string_equal(cn_bytes_string(b, 0), "ab");
    assert_string_equal(cn_bytes_string(b, 1), "b");
    assert_string_equal(cn_bytes_string(b, 2), "");
    assert_null(cn_bytes_string(b, 3));
    assert_null(cn_bytes_string(b, 5));
    assert_null(cn_bytes_string(b, UINT64_MAX));
}

static void sums_and_products_are_checked(void **state)
{
    uint64_t out = 7;

    (void)state;
    assert_true(cn_u64_add(UINT64_MAX - 1, 1, &out));
    assert_true(out == UINT64_MAX);
    assert_false(cn_u64_add(UINT64_MAX, 1, &out));
    assert_true(cn_u64_mul(UINT32_MAX, UINT32_MAX, &out));
    assert_true(out == UINT64_C(0xfffffffe00000001));
    assert_false(cn_u64_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &out));
}

static void aligns_to_the_next_multiple(void **state)
{
    (void)state;
    assert_int_equal(cn_align_up(0, 8), 0);
    assert_int_equal(cn_align_up(1, 8), 8);
    assert_int_equal(cn_align_up(8, 8), 8);
    assert_int_equal(cn_align_up(4097, 4096), 8192);
    assert_int_equal(cn_align_up(5, 1), 5);
}

static void cuts_bits_of_any_width(void **state)
{
    uint64_t word = UINT64_C(0xfedcba9876543210);

    (void)state;
    assert_int_equal(cn_bits(word, 0, 4), 0);
    assert_int_equal(cn_bits(word, 4, 4), 1);
    assert_int_equal(cn_bits(word, 6, 10), 0xc8);
    assert_int_equal(cn_bits(word, 63, 1), 1);
    assert_true(cn_bits(word, 0, 64) == word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_only_what_is_inside),
        cmocka_unit_test(slices_do_not_wrap_around),
        cmocka_unit_test(slices_nothing_from_nothing),
        cmocka_unit_test(arrays_do_not_overflow),
        cmocka_unit_test(elements_lie_side_by_side),
        cmocka_unit_test(takes_from_the_front_until_empty),
        cmocka_unit_test(a_failed_take_leaves_both_alone),
        cmocka_unit_test(from_reaches_to_the_end),
        cmocka_unit_test(strings_end_inside_or_are_none),
        cmocka_unit_test(sums_and_products_are_checked),
        cmocka_unit_test(aligns_to_the_next_multiple),
        cmocka_unit_test(cuts_bits_of_any_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
