#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "base/map.h"

static void an_empty_map_finds_nothing(void **state)
{
    struct cn_map map = {0};

    (void)state;
    assert_int_equal(cn_map_find(&map, 0, 77), 77);
    cn_map_done(&map);
}

static void finds_what_was_added_and_nothing_else(void **state)
{
    struct cn_map map = {0};

    (void)state;
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(*cn_map_at(&map, i * i, (uint32_t)i), i);
    assert_int_equal(map.count, 5000);
    for (uint64_t i = 0; i < 5000; i++) {
        assert_int_equal(cn_map_find(&map, i * i, UINT32_MAX), i);
        assert_int_equal(cn_map_find(&map, i * i + (UINT64_C(1) << 40), 5), 5);
    }
    cn_map_done(&map);
    assert_int_equal(cn_map_find(&map, 4, 77), 77);
}

static void a_value_is_kept_when_added_again(void **state)
{
    struct cn_map map = {0};

    (void)state;
    *cn_map_at(&map, UINT64_MAX, 1) += 10;
    assert_int_equal(*cn_map_at(&map, UINT64_MAX, 99), 11);
    assert_int_equal(*cn_map_at(&map, 0, 99), 99);
    assert_int_equal(map.count, 2);
    cn_map_done(&map);
}

static void keys_that_have_room_do_not_move(void **state)
{
    struct cn_map map = {0};

    (void)state;
    (void)cn_map_at(&map, 1, 5);
    cn_map_reserve(&map, 1000);
    const uint32_t *first = cn_map_at(&map, 1, 0);
    for (uint64_t i = 2; i <= 1000; i++)
        (void)cn_map_at(&map, i, (uint32_t)i);
    assert_ptr_equal(cn_map_at(&map, 1, 0), first);
    assert_int_equal(*first, 5);
    assert_int_equal(map.count, 1000);
    cn_map_done(&map);
}

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Keys built of two ids are regular; none of the regular shapes may pile up. */
static void stays_fast_whatever_the_shape_of_the_keys(void **state)
{
    enum { COUNT = 300000, SHAPES = 5 };

    (void)state;
    for (unsigned shape = 0; shape < SHAPES; shape++) {
        struct cn_map map = {0};
        double begin_s = cpu_s();

        for (uint64_t i = 0; i < COUNT; i++) {
            const uint64_t keys[SHAPES] = {i, i << 32, i << 32 | i, i << 32 | (i ^ 1),
                                           i << 12};

            *cn_map_at(&map, keys[shape], (uint32_t)i) = (uint32_t)i;
        }
        assert_int_equal(map.count, COUNT);
        assert_true(cpu_s() - begin_s < 2);
        cn_map_done(&map);
    }
}

static void names_are_numbered_in_order_of_appearance(void **state)
{
    struct cn_names names = {0};
    char name[16];

    (void)state;
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 3000; i++) {
            (void)snprintf(name, sizeof(name), "f%u", i);
            assert_int_equal(cn_names_add(&names, name), i);
        }
    assert_int_equal(names.count, 3000);
    assert_string_equal(names.list[2999], "f2999");
    assert_int_equal(cn_names_add(&names, ""), 3000);
    assert_int_equal(cn_names_add(&names, ""), 3000);
    cn_names_done(&names);
    assert_int_equal(cn_names_add(&names, "new"), 0);
    cn_names_done(&names);
}

static void names_do_not_move(void **state)
{
    struct cn_names names = {0};
    const char *first;
    char name[16] = "first";

    (void)state;
    (void)cn_names_add(&names, name);
    first = names.list[0];
    for (uint32_t i = 0; i < 20000; i++) {
        (void)snprintf(name, sizeof(name), "n%u", i);
        (void)cn_names_add(&names, name);
    }
    cn_names_finish(&names);
    assert_int_equal(names.count, 20001);
    assert_string_equal(names.list[20000], "n19999");
    assert_ptr_equal(names.list[0], first);
    assert_string_equal(first, "first");
    cn_names_done(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_finds_nothing),
        cmocka_unit_test(finds_what_was_added_and_nothing_else),
        cmocka_unit_test(a_value_is_kept_when_added_again),
        cmocka_unit_test(keys_that_have_room_do_not_move),
        cmocka_unit_test(stays_fast_whatever_the_shape_of_the_keys),
        cmocka_unit_test(names_are_numbered_in_order_of_appearance),
        cmocka_unit_test(names_do_not_move),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
