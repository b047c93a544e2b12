/* Sampled allocations of two runs: a difference of chance is within its confidence interval. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/compare/rows.h"
#include "model/contexts/memory.h"
#include "model/memory/metrics.h"

enum { TRIALS = 100, POINT = 0, SCOPES = 4 };

/* Blocks of one size, and the chance of each to be sampled: small ones stand for many. */
static const struct blocks {
    const char *name;
    unsigned count;
    double size, chance;
} all_blocks[] = {{"small", 20000, 24, 0.01}, {"large", 2000, 2400, 0.5}};

static const enum cn_heap_metric metrics[] = {CN_HEAP_BYTES, CN_HEAP_CALLS,
                                              CN_HEAP_SAMPLES};

static bool happens(uint64_t *random, double chance)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (double)(*random >> 11) / 9007199254740992.0 < chance;
}

static struct cn_database *sampled(uint64_t *random)
{
    struct cn_memory_database *m = cn_memory_database_new("sampled", "");
    struct cn_error err = {0};

    (void)cn_memory_database_add_kind(m, "SUMMARY");
    (void)cn_memory_database_add_kind(m, "THREAD");
    cn_memory_database_add_usual_scopes(m);
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
        (void)cn_memory_database_add_usual_metric(m, cn_heap_metric_name(metrics[i]));
    (void)cn_memory_database_add_profile(
        m, (struct cn_identity_tuple){.count = 1, .ids = {{1, false, 0, 0}}});
    uint32_t root = cn_memory_database_add_context(
        m, 0, (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"});
    for (size_t i = 0; i < sizeof(all_blocks) / sizeof(all_blocks[0]); i++) {
        const struct blocks *blocks = &all_blocks[i];
        uint32_t function = cn_memory_database_add_function(
            m, (struct cn_function){blocks->name, CN_NONE, 0, CN_NONE, 0});
        uint32_t context = cn_memory_database_add_context(
            m, root,
            (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                .relation = CN_CALL,
                                .has_function = true,
                                .function = function});
        double samples = 0;

        for (unsigned k = 0; k < blocks->count; k++)
            samples += happens(random, blocks->chance);
        const double values[] = {samples / blocks->chance * blocks->size,
                                 samples / blocks->chance, samples};
        for (uint16_t k = 0; k < sizeof(metrics) / sizeof(metrics[0]); k++)
            cn_memory_database_add_value(m, 1, context, POINT + SCOPES * k, values[k]);
    }
    assert_true(cn_memory_database_propagate(m, &err));
    return cn_memory_database_finish(m);
}

/* True if the difference of the whole is. */
static bool is_within(struct cn_database *const sides[CN_SIDES],
                      enum cn_heap_metric metric)
{
    struct cn_comparison c;
    struct cn_compare_rows rows;
    struct cn_error err = {0};

    cn_comparison_init(&c);
    for (int side = 0; side < CN_SIDES; side++)
        assert_true(cn_comparison_add(
            &c,
            &(struct cn_compare_run){.side = (enum cn_side)side,
                                     .db = sides[side],
                                     .metric = cn_heap_metric_name(metric)},
            NULL, &err));
    cn_comparison_finish(&c);
    cn_compare_rows_make(&rows, &c, CN_COMPARE_TREE, true, 1, true);
    struct cn_difference found = rows.list[rows.first_top].evidence.difference;
    cn_compare_rows_done(&rows);
    cn_comparison_done(&c);
    return fabs(found.difference) <= found.half_width;
}

static void differences_of_chance_are_within_their_interval(void **state)
{
    uint64_t random = 40;
    unsigned within[2] = {0};

    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        struct cn_database *const sides[CN_SIDES] = {sampled(&random), sampled(&random)};

        for (int k = 0; k < 2; k++)
            within[k] += is_within(sides, metrics[k]);
        for (int side = 0; side < CN_SIDES; side++)
            cn_database_close(sides[side]);
    }
    for (int k = 0; k < 2; k++)
        assert_in_range(within[k], 90, 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_of_chance_are_within_their_interval),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
