/* Statistics over threads, taken in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/samples/sum.h"

enum { THREADS = 40, CONTEXTS = 5, ROUNDS = 50 };

/* A metric with all statistics. */
static struct cn_measured_metric metric = {
    .show = CN_SHOW_ALWAYS,
    .statistics = {CN_SAMPLED_COUNT, CN_SAMPLED_SUM, CN_SAMPLED_SQUARES, CN_SAMPLED_MIN,
                   CN_SAMPLED_MAX},
    .statistic_count = CN_SAMPLED_STATISTIC_COUNT,
};
static const struct cn_sampled_metrics metrics = {.list = &metric, .count = 1};

/* Small whole numbers, whose sums are exact; -1: the thread has no value there. */
static void draw(int values[THREADS][CONTEXTS])
{
    for (size_t i = 0; i < THREADS; i++)
        for (size_t k = 0; k < CONTEXTS; k++)
            values[i][k] = rand() % 6 - 1;
}

/* The sum over the threads first..end-1, one after the other. */
static struct cn_sampled_sum *sum_up(int values[THREADS][CONTEXTS], size_t first,
                                     size_t end, bool is_compatible)
{
    size_t count = cn_sampled_number_count(&metric, is_compatible);
    struct cn_sampled_sum *sum = cn_sampled_sum_new(CONTEXTS, CONTEXTS * count);

    for (uint32_t k = 0; k < CONTEXTS; k++) {
        double numbers[64] = {0};
        bool has_any = false;

        assert_true(count <= 64);
        for (size_t i = first; i < end; i++) {
            double value = values[i][k];
            double of_scope[CN_SAMPLED_SCOPE_COUNT] = {value, value, value, value};

            if (values[i][k] < 0)
                continue;
            cn_sampled_numbers_add(&metric, is_compatible, numbers, of_scope);
            has_any = true;
        }
        if (has_any)
            cn_sampled_sum_add(sum, (struct cn_sampled_sum_cell){k, 0}, numbers, count);
    }
    return sum;
}

static void check_same(const struct cn_sampled_sum *a, const struct cn_sampled_sum *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->number_count, b->number_count);
    for (size_t i = 0; i < a->count; i++)
        assert_int_equal(a->cells[i].context, b->cells[i].context);
    for (size_t i = 0; i < a->number_count; i++)
        assert_float_equal(a->numbers[i], b->numbers[i], 0);
}

static void check_parts(bool is_compatible)
{
    struct cn_sampled_sum_rules rules = {&metrics, is_compatible};
    int values[THREADS][CONTEXTS];

    srand(17);
    for (int round = 0; round < ROUNDS; round++) {
        struct cn_merges merges = {.count = THREADS / 4,
                                   .merge = cn_sampled_sum_merge,
                                   .release = cn_sampled_sum_free,
                                   .arg = &rules};
        struct cn_sampled_sum *whole, *merged;

        draw(values);
        whole = sum_up(values, 0, THREADS, is_compatible);
        cn_merges_init(&merges);
        for (size_t i = 0; i < THREADS / 4; i++)
            cn_merges_put(
                &merges,
                (struct cn_merge){0, i, sum_up(values, 4 * i, 4 * i + 4, is_compatible)});
        merged = cn_merges_take(&merges);
        check_same(whole, merged);
        cn_sampled_sum_free(whole);
        cn_sampled_sum_free(merged);
        cn_merges_done(&merges);
    }
}

static void parts_give_the_statistics_of_the_whole(void **state)
{
    (void)state;
    check_parts(false);
}

/* Its minimum starts again at a thread without a value. */
static void parts_give_those_of_hpcprof(void **state)
{
    (void)state;
    check_parts(true);
}

static void lists_what_is_not_zero(void **state)
{
    struct cn_sampled_sum_rules rules = {&metrics, false};
    int values[THREADS][CONTEXTS] = {{0, 3, -1, 2, -1}};
    struct cn_sampled_sum *sum = sum_up(values, 0, 1, false);
    struct cn_value_list list = {0};

    (void)state;
    cn_sampled_sum_list(sum, &rules, &list);
    assert_int_equal(list.context_count, 3);
    /* The count of context 0; all five statistics of 1 and 3; each in four scopes. */
    assert_int_equal(list.count, 4 + 20 + 20);
    assert_int_equal(list.values[4].key, 1);
    assert_float_equal(list.values[8].value, 3, 0);
    assert_float_equal(list.values[12].value, 9, 0);
    free(list.values);
    cn_sampled_sum_free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_give_the_statistics_of_the_whole),
        cmocka_unit_test(parts_give_those_of_hpcprof),
        cmocka_unit_test(lists_what_is_not_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
