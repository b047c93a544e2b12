/* Label: threads */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "sampler/inside/live.c"

static void has_what_was_added_until_it_is_removed(void **state)
{
    struct cn_live_block out;

    (void)state;
    assert_false(cn_live_may_have(0x1000));
    assert_true(cn_live_add(0x1000, &(struct cn_live_block){.tid = 3, .number = 44}));
    assert_true(cn_live_may_have(0x1000));
    assert_false(cn_live_remove(0x2000, &out));
    assert_true(cn_live_remove(0x1000, &out));
    assert_true(out.tid == 3 && out.number == 44);
    assert_false(cn_live_remove(0x1000, &out));
    assert_false(cn_live_may_have(0x1000));
}

static void refuses_what_has_no_place(void **state)
{
    struct cn_live_block out;
    size_t count = 0;

    (void)state;
    while (count < CN_LIVE_PLACES &&
           cn_live_add(0x10000 + 16 * count, &(struct cn_live_block){0}))
        count++;
    assert_true(count > CN_LIVE_PLACES / 4);
    for (size_t i = 0; i < count; i++)
        assert_true(cn_live_remove(0x10000 + 16 * i, &out));
    for (size_t i = 0; i < 1 << CN_LIVE_FILTER_BITS; i++)
        assert_int_equal(cn_live_filter[i], 0);
}

static void *add_and_remove(void *arg)
{
    uintptr_t first = (uintptr_t)arg << 32;
    struct cn_live_block out;

    for (uint64_t round = 0; round < 200; round++) {
        for (uintptr_t i = 1; i < 50; i++)
            if (!cn_live_add(first + 16 * i, &(struct cn_live_block){.tid = (uint32_t)i,
                                                                     .number = round}))
                return NULL;
        for (uintptr_t i = 1; i < 50; i++)
            if (!cn_live_remove(first + 16 * i, &out) || out.tid != i ||
                out.number != round)
                return NULL;
    }
    return arg;
}

static void serves_threads_at_the_same_time(void **state)
{
    pthread_t threads[4];
    void *result;

    (void)state;
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, add_and_remove, (void *)(i + 1)), 0);
    for (uintptr_t i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], &result);
        assert_ptr_equal(result, (void *)(i + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_what_was_added_until_it_is_removed),
        cmocka_unit_test(refuses_what_has_no_place),
        cmocka_unit_test(serves_threads_at_the_same_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
