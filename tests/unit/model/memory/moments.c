#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/memory/moments.h"

enum { CELLS = 100, MANY = 5 * CN_HEAP_MOMENTS_MAX };

static void few_changes_stay_as_they_are(void **state)
{
    struct cn_heap_moments moments = {0};

    (void)state;
    cn_heap_moments_add(&moments, 10, 0, 100);
    cn_heap_moments_add(&moments, 10, 5, 7);
    cn_heap_moments_add(&moments, 10, 0, 1);
    cn_heap_moments_add(&moments, 11, 0, -101);
    cn_heap_moments_add(&moments, 12, 3, 5);
    cn_heap_moments_add(&moments, 12, 3, -5);
    cn_heap_moments_end(&moments);
    assert_int_equal(moments.tick_ns, 1);
    assert_int_equal(moments.count, 3);
    assert_true(moments.list[0].time_ns == 10 && moments.list[0].cell == 0 &&
                moments.list[0].bytes == 101);
    assert_true(moments.list[1].cell == 5 && moments.list[1].bytes == 7);
    assert_true(moments.list[2].time_ns == 11 && moments.list[2].bytes == -101);
    cn_heap_moments_done(&moments);
}

static void of_many_changes_the_sums_at_the_ends_of_ticks_are_exact(void **state)
{
    struct cn_heap_moments moments = {0};
    double live[CELLS] = {0}, shown[CELLS] = {0};
    size_t next = 0;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        cn_heap_moments_add(&moments, 1000 + 3 * i, (uint32_t)(i * 7 % CELLS),
                            (double)(i % 13) - 5);
    cn_heap_moments_end(&moments);
    assert_true(moments.count <= CN_HEAP_MOMENTS_MAX);
    assert_true(moments.count > CN_HEAP_MOMENTS_MAX / 8);
    assert_true(moments.tick_ns > 1);
    /* Follow both, and compare where a tick ends. */
    for (uint64_t i = 0; i < MANY; i++) {
        uint64_t time_ns = 1000 + 3 * i;
        bool is_end =
            i + 1 == MANY || (time_ns + 3) / moments.tick_ns != time_ns / moments.tick_ns;

        live[i * 7 % CELLS] += (double)(i % 13) - 5;
        if (!is_end)
            continue;
        for (; next < moments.count &&
               moments.list[next].time_ns / moments.tick_ns <= time_ns / moments.tick_ns;
             next++)
            shown[moments.list[next].cell] += moments.list[next].bytes;
        for (unsigned k = 0; k < CELLS; k++)
            assert_true(shown[k] == live[k]);
    }
    assert_true(next == moments.count);
    for (size_t i = 1; i < moments.count; i++)
        assert_true(moments.list[i - 1].time_ns <= moments.list[i].time_ns);
    assert_true(moments.list[moments.count - 1].time_ns == 1000 + 3 * (MANY - 1));
    cn_heap_moments_done(&moments);
}

static void more_cells_than_fit_at_once_are_all_there(void **state)
{
    struct cn_heap_moments moments = {0};
    uint32_t count = CN_HEAP_MOMENTS_MAX + 1000;

    (void)state;
    for (uint32_t i = 0; i < count; i++)
        cn_heap_moments_add(&moments, 77, i, 1);
    cn_heap_moments_add(&moments, 78, 1, 2);
    cn_heap_moments_end(&moments);
    assert_int_equal(moments.count, count + 1);
    cn_heap_moments_done(&moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_changes_stay_as_they_are),
        cmocka_unit_test(of_many_changes_the_sums_at_the_ends_of_ticks_are_exact),
        cmocka_unit_test(more_cells_than_fit_at_once_are_all_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
