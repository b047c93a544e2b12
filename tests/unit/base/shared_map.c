/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/run/pool.h"
#include "base/shared_map.h"

enum { COUNT = 20000, READERS = 3 };

static uint64_t high_of(uint64_t i)
{
    return i % 7 << 32;
}

static void finds_what_was_added(void **state)
{
    struct cn_shared_map map = {0};

    (void)state;
    assert_int_equal(cn_shared_map_find(&map, 1, 2), 0);
    for (uint64_t i = 0; i < COUNT; i++)
        cn_shared_map_add(&map, high_of(i), i, i + 1);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(cn_shared_map_find(&map, high_of(i), i), i + 1);
    assert_int_equal(cn_shared_map_find(&map, high_of(1), 0), 0);
    assert_int_equal(map.count, COUNT);
    cn_shared_map_done(&map);
}

/* Worker 0 adds; the others see each key with its value, or not yet. */
static void add_or_find(void *arg, size_t job, unsigned worker)
{
    struct cn_shared_map *map = arg;

    if (job == 0) {
        for (uint64_t i = 0; i < COUNT; i++)
            cn_shared_map_add(map, high_of(i), i, i + 1);
        return;
    }
    (void)worker;
    for (uint64_t i = COUNT; i-- > 0;) {
        uint64_t found = cn_shared_map_find(map, high_of(i), i);

        assert_true(found == 0 || found == i + 1);
    }
}

static void may_be_read_while_it_is_filled(void **state)
{
    struct cn_shared_map map = {0};

    (void)state;
    cn_pool_run(&(struct cn_jobs){.count = 1 + READERS, .arg = &map, .run = add_or_find},
                1 + READERS);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(cn_shared_map_find(&map, high_of(i), i), i + 1);
    cn_shared_map_done(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_added),
        cmocka_unit_test(may_be_read_while_it_is_filled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
