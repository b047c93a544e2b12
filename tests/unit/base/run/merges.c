/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/run/merges.h"
#include "base/run/pool.h"

/* A part is text: merging puts it in brackets, so that it shows how it was merged. */
static void *merge(void *arg, void *left, void *right)
{
    size_t len = strlen(left) + strlen(right) + 3;
    char *both = cn_alloc(len, 1);

    (void)arg;
    (void)strcat(strcat(strcat(strcat(both, "("), left), right), ")");
    free(left);
    free(right);
    return both;
}

static void start(struct cn_merges *merges, size_t count)
{
    *merges = (struct cn_merges){.count = count, .merge = merge, .release = free};
    cn_merges_init(merges);
}

static void put(struct cn_merges *merges, size_t number)
{
    char text[2] = {(char)('a' + number % 26), '\0'};

    cn_merges_put(merges, (struct cn_merge){0, number, cn_strdup(text)});
}

static char *merged_in_order(size_t count, const size_t *order)
{
    struct cn_merges merges;
    char *result;

    start(&merges, count);
    for (size_t i = 0; i < count; i++) {
        assert_null(cn_merges_take(&merges));
        put(&merges, order ? order[i] : i);
    }
    result = cn_merges_take(&merges);
    cn_merges_done(&merges);
    assert_non_null(result);
    return result;
}

static void the_tree_depends_on_the_count_alone(void **state)
{
    static const size_t order[] = {6, 0, 3, 5, 1, 4, 2};
    char *forward = merged_in_order(7, NULL), *mixed = merged_in_order(7, order);
    char *one = merged_in_order(1, NULL);

    (void)state;
    assert_string_equal(forward, "(((ab)(cd))((ef)g))");
    assert_string_equal(mixed, forward);
    assert_string_equal(one, "a");
    free(forward);
    free(mixed);
    free(one);
}

static void put_job(void *arg, size_t job, unsigned worker)
{
    (void)worker;
    put(arg, job);
}

static void any_thread_may_put(void **state)
{
    enum { COUNT = 1000 };
    char *alone = merged_in_order(COUNT, NULL);

    (void)state;
    for (unsigned workers = 2; workers <= 8; workers += 3) {
        struct cn_merges merges;
        char *result;

        start(&merges, COUNT);
        cn_pool_run(&(struct cn_jobs){.count = COUNT, .arg = &merges, .run = put_job},
                    workers);
        result = cn_merges_take(&merges);
        cn_merges_done(&merges);
        assert_string_equal(result, alone);
        free(result);
    }
    free(alone);
}

/* As between ranks: each has a part of the numbers, and one gets what is pending. */
static void pending_parts_may_move_to_another_tree(void **state)
{
    enum { COUNT = 11 };
    char *alone = merged_in_order(COUNT, NULL), *result;
    struct cn_merges first, second;

    (void)state;
    start(&first, COUNT);
    start(&second, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        put(i < 5 ? &first : &second, i);
    assert_null(cn_merges_take(&first));
    for (size_t i = 0; i < second.pending_count; i++) {
        assert_true(
            cn_merges_has(&first, second.pending[i].level, second.pending[i].number));
        cn_merges_put(&first, second.pending[i]);
    }
    second.pending_count = 0;
    result = cn_merges_take(&first);
    assert_string_equal(result, alone);
    free(result);
    free(alone);
    cn_merges_done(&first);
    cn_merges_done(&second);
}

static void numbers_outside_of_the_tree_are_known(void **state)
{
    struct cn_merges merges;

    (void)state;
    start(&merges, 5);
    assert_true(cn_merges_has(&merges, 0, 4));
    assert_false(cn_merges_has(&merges, 0, 5));
    assert_true(cn_merges_has(&merges, 2, 1));
    assert_false(cn_merges_has(&merges, 2, 2));
    assert_true(cn_merges_has(&merges, 3, 0));
    assert_false(cn_merges_has(&merges, 64, 0));
    put(&merges, 2); /* released with the tree */
    cn_merges_done(&merges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tree_depends_on_the_count_alone),
        cmocka_unit_test(any_thread_may_put),
        cmocka_unit_test(pending_parts_may_move_to_another_tree),
        cmocka_unit_test(numbers_outside_of_the_tree_are_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
