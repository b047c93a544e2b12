#include "model/memory/places.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void has_the_number_of_each_address(void **state)
{
    struct cn_heap_places places = {0};

    (void)state;
    assert_null(cn_heap_places_find(&places, 0x1000));
    for (uint32_t i = 0; i < 5000; i++)
        *cn_heap_places_at(&places, 0x1000 + i * UINT64_C(48)) = i + 1;
    for (uint32_t i = 0; i < 5000; i++) {
        const uint32_t *number = cn_heap_places_find(&places, 0x1000 + i * UINT64_C(48));

        assert_non_null(number);
        assert_int_equal(*number, i + 1);
    }
    assert_null(cn_heap_places_find(&places, UINT64_MAX - 15));
    assert_int_equal(*cn_heap_places_at(&places, 0x1010), 0);
    cn_heap_places_done(&places);
}

static void addresses_within_sixteen_bytes_differ(void **state)
{
    struct cn_heap_places places = {0};

    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        *cn_heap_places_at(&places, 0x2000 + i) = 100 + i;
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(*cn_heap_places_find(&places, 0x2000 + i), 100 + i);
    *cn_heap_places_at(&places, 0x2003) = 0;
    assert_int_equal(*cn_heap_places_at(&places, 0x2003), 0);
    assert_int_equal(*cn_heap_places_find(&places, 0x2000), 100);
    assert_null(cn_heap_places_find(&places, 0x2011));
    cn_heap_places_done(&places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_number_of_each_address),
        cmocka_unit_test(addresses_within_sixteen_bytes_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
