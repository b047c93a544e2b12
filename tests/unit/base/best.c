/* The best items are the first of all items sorted, however deep the page is and in whatever
 * order they are offered. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/best.h"
#include "support/effort.h"

enum { ITEMS = 20000 };

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (seed >> 33) % limit;
}

static int compare_items(const void *a, const void *b)
{
    const struct cn_best_item *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return x->id > y->id ? -1 : x->id < y->id;
}

static void check_page(const struct cn_best_item *items,
                       const struct cn_best_item *sorted, size_t offset, size_t limit)
{
    size_t expected = offset < ITEMS ? ITEMS - offset : 0;
    struct cn_best best;

    cn_best_init(&best, limit < SIZE_MAX - offset ? limit + offset : SIZE_MAX);
    for (size_t i = 0; i < ITEMS; i++)
        cn_best_offer(&best, &items[i]);
    cn_best_sort(&best, offset);
    if (limit < expected)
        expected = limit;
    assert_int_equal(best.count, expected);
    assert_int_equal(best.offered, ITEMS);
    if (expected > 0)
        assert_memory_equal(best.list, sorted + offset, expected * sizeof(*sorted));
    cn_best_done(&best);
}

/* `keys` of 1: all are the same except for their ids. */
static void check_pages(uint64_t keys, bool is_ascending)
{
    static const size_t offsets[] = {0, 1, 99, 3000, 10001, ITEMS - 5, ITEMS, ITEMS + 7};
    static const size_t limits[] = {0, 1, 100, 5000, SIZE_MAX};
    struct cn_best_item *items = cn_alloc(ITEMS, sizeof(*items));
    struct cn_best_item *sorted = cn_alloc(ITEMS, sizeof(*sorted));

    for (uint32_t i = 0; i < ITEMS; i++)
        items[i] = (struct cn_best_item){
            .key = is_ascending ? i : random_below(keys),
            .second = random_below(keys),
            .id = i,
        };
    memcpy(sorted, items, ITEMS * sizeof(*items));
    qsort(sorted, ITEMS, sizeof(*sorted), compare_items);
    for (size_t o = 0; o < sizeof(offsets) / sizeof(offsets[0]); o++)
        for (size_t l = 0; l < sizeof(limits) / sizeof(limits[0]); l++)
            check_page(items, sorted, offsets[o], limits[l]);
    free(items);
    free(sorted);
}

static void pages_are_those_of_all_items_sorted(void **state)
{
    (void)state;
    check_pages(1 << 30, false);
    check_pages(7, false);
    check_pages(1, false);
    check_pages(1 << 30, true);
}

static void values_are_in_order_and_nan_is_last(void **state)
{
    static const double values[] = {INFINITY, 1e300, 2,  1,         1e-310, 0,
                                    -0.0,     -1,    -2, -INFINITY, NAN};
    struct cn_best best;

    (void)state;
    cn_best_init(&best, SIZE_MAX);
    for (uint32_t i = sizeof(values) / sizeof(values[0]); i-- > 0;) {
        struct cn_best_item item = cn_best_of_value(values[i], i);

        cn_best_offer(&best, &item);
    }
    cn_best_sort(&best, 0);
    for (uint32_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        assert_int_equal(cn_best_number(&best.list[i]), i);
    cn_best_done(&best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_those_of_all_items_sorted),
        cmocka_unit_test(values_are_in_order_and_nan_is_last),
    };

    seed = cn_test_seed(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
