#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/search.h"

struct range {
    uint32_t first;
    uint64_t begin;
};

static const struct range ranges[] = {{1, 10}, {4, 20}, {4, 20}, {9, 40}};

static bool begins_before(const void *data, uint64_t index, uint64_t key)
{
    return ((const struct range *)data)[index].begin < key;
}

static void finds_the_first_that_does_not_come_before(void **state)
{
    (void)state;
    assert_int_equal(cn_search(0, 4, begins_before, ranges, 0), 0);
    assert_int_equal(cn_search(0, 4, begins_before, ranges, 20), 1);
    assert_int_equal(cn_search(0, 4, begins_before, ranges, 21), 3);
    assert_int_equal(cn_search(0, 4, begins_before, ranges, 41), 4);
    assert_int_equal(cn_search(2, 3, begins_before, ranges, 0), 2);
    assert_int_equal(cn_search(3, 3, begins_before, ranges, 99), 3);
}

static void counts_the_keys_up_to_a_key(void **state)
{
    const size_t stride = sizeof(ranges[0]);

    (void)state;
    assert_int_equal(cn_search_u64(&ranges[0].begin, 4, stride, 9), 0);
    assert_int_equal(cn_search_u64(&ranges[0].begin, 4, stride, 10), 1);
    assert_int_equal(cn_search_u64(&ranges[0].begin, 4, stride, 20), 3);
    assert_int_equal(cn_search_u64(&ranges[0].begin, 4, stride, UINT64_MAX), 4);
    assert_int_equal(cn_search_u64(&ranges[0].begin, 0, stride, 99), 0);
    assert_int_equal(cn_search_below_u64(&ranges[0].begin, 4, stride, 0), 0);
    assert_int_equal(cn_search_below_u64(&ranges[0].begin, 4, stride, 20), 1);
    assert_int_equal(cn_search_below_u64(&ranges[0].begin, 4, stride, 21), 3);
    assert_int_equal(cn_search_u32(&ranges[0].first, 4, stride, 3), 1);
    assert_int_equal(cn_search_u32(&ranges[0].first, 4, stride, 4), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_first_that_does_not_come_before),
        cmocka_unit_test(counts_the_keys_up_to_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
