/* Random lists are in the order that qsort() with a comparison of all keys, and of the places
 * before, gives them. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "support/effort.h"

struct item {
    uint16_t small;
    bool is_first;
    const char *name;
    double size;
    int64_t change;
    uint32_t place; /* before; no key */
    char rest[300]; /* longer than what is moved at once */
};

static uint64_t seed;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (seed >> 33) % limit;
}

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (x->is_first != y->is_first)
        return x->is_first ? -1 : 1;
    if (order != 0)
        return order;
    if (isnan(x->size) != isnan(y->size))
        return isnan(x->size) ? 1 : -1;
    if (!isnan(x->size) && x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->change != y->change)
        return x->change < y->change ? -1 : 1;
    if (x->small != y->small)
        return x->small > y->small ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void fill(struct item *list, size_t count)
{
    static const char *const names[] = {
        "", "a", "ab", "same beginning", "same beginning of it", "\xc3\xa4"};
    static const double sizes[] = {0, -0.0, 1, -1, -2.5, 1e300, -INFINITY, INFINITY, NAN};

    memset(list, 0, count * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        list[i].small = (uint16_t)random_below(3);
        list[i].is_first = random_below(2) == 1;
        list[i].name = names[random_below(6)];
        list[i].size = sizes[random_below(9)];
        list[i].change = (int64_t)random_below(5) - 2;
        list[i].place = (uint32_t)i;
        (void)snprintf(list[i].rest, sizeof(list[i].rest), "%zu", i);
    }
}

static void sorts_by_all_keys(void **state)
{
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 100, 5000};

    (void)state;
    seed = cn_test_seed(1);
    for (size_t k = 0; k < sizeof(counts) / sizeof(*counts); k++) {
        size_t count = counts[k];
        struct item *list = cn_alloc(count, sizeof(*list));
        struct item *expected = cn_alloc(count, sizeof(*list));

        for (unsigned i = 0; i < (count > 1000 ? 2 : 50); i++) {
            if (count > 0) {
                fill(list, count);
                memcpy(expected, list, count * sizeof(*list));
                qsort(expected, count, sizeof(*expected), compare);
            }
            CN_SORT(list, count, CN_DOWN(struct item, is_first), CN_UP(struct item, name),
                    CN_DOWN(struct item, size), CN_UP(struct item, change),
                    CN_DOWN(struct item, small));
            for (size_t at = 0; at < count; at++)
                assert_int_equal(list[at].place, expected[at].place);
            if (count > 0)
                assert_memory_equal(list, expected, count * sizeof(*list));
        }
        free(list);
        free(expected);
    }
}

struct pair {
    uint64_t address;
    int32_t change;
    uint32_t place; /* before; no key */
};

static int compare_pairs(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->change != y->change)
        return x->change > y->change ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Keys that differ in few bits, and in many. */
static void sorts_many_by_digits(void **state)
{
    enum { COUNT = 50000 };
    static const struct {
        uint64_t below, stride;
        uint64_t changes;
    } cases[] = {
        {1 << 20, 16, 3}, {1 << 10, 1, 1}, {UINT32_MAX, 1 << 30, 1000}, {1, 1, 1 << 12}};
    struct pair *list = cn_alloc(COUNT, sizeof(*list));
    struct pair *expected = cn_alloc(COUNT, sizeof(*list));

    (void)state;
    seed = cn_test_seed(2);
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        for (uint32_t i = 0; i < COUNT; i++)
            list[i] = (struct pair){
                .address =
                    0x7f0000000000 + cases[k].stride * random_below(cases[k].below),
                .change = 1 - (int32_t)random_below(cases[k].changes),
                .place = i,
            };
        memcpy(expected, list, COUNT * sizeof(*list));
        qsort(expected, COUNT, sizeof(*expected), compare_pairs);
        CN_SORT(list, COUNT, CN_UP(struct pair, address), CN_DOWN(struct pair, change));
        assert_memory_equal(list, expected, COUNT * sizeof(*list));
    }
    free(list);
    free(expected);
}

static void sorts_values(void **state)
{
    uint16_t numbers[] = {7, 65535, 0, 7, 3};
    int64_t changes[] = {5, -5, INT64_MIN, 0, INT64_MAX};
    const char *names[] = {"b", "", "aa", "a"};
    double sizes[] = {2, NAN, -1};

    (void)state;
    CN_SORT_VALUES(numbers, 5);
    assert_memory_equal(numbers, ((uint16_t[]){0, 3, 7, 7, 65535}), sizeof(numbers));
    CN_SORT_VALUES(changes, 5);
    assert_memory_equal(changes, ((int64_t[]){INT64_MIN, -5, 0, 5, INT64_MAX}),
                        sizeof(changes));
    CN_SORT_VALUES(names, 4);
    assert_string_equal(names[0], "");
    assert_string_equal(names[1], "a");
    assert_string_equal(names[2], "aa");
    assert_string_equal(names[3], "b");
    CN_SORT_VALUES(sizes, 3);
    assert_true(sizes[0] == -1 && sizes[1] == 2 && isnan(sizes[2]));
}

static void texts_come_before_later_keys(void **state)
{
    static const struct item expected[] = {
        {.name = "libc.so.6+0x2f10", .place = 3},
        {.name = "libc.so.6+0x2f44", .place = 2},
        {.name = "libc.so.6+0x3040", .place = 0},
        {.name = "libc.so.6+0x3040", .place = 1},
    };
    struct item list[] = {expected[2], expected[1], expected[3], expected[0]};

    (void)state;
    CN_SORT(list, 4, CN_UP(struct item, name), CN_UP(struct item, place));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(list[i].place, expected[i].place);
    CN_SORT(list, 4, CN_DOWN(struct item, name), CN_UP(struct item, place));
    assert_int_equal(list[0].place, 0);
    assert_int_equal(list[1].place, 1);
    assert_int_equal(list[3].place, 3);
}

/* As the sort finds out before it allocates anything. */
static void sorted_lists_are_left_alone(void **state)
{
    uint32_t numbers[1000];

    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        numbers[i] = i / 3;
    CN_SORT_VALUES(numbers, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_by_all_keys),
        cmocka_unit_test(sorts_many_by_digits),
        cmocka_unit_test(sorts_values),
        cmocka_unit_test(texts_come_before_later_keys),
        cmocka_unit_test(sorted_lists_are_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
