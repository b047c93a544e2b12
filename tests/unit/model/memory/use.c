#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "model/memory/use.h"

enum { PROCESS = 7, MS = 1000000 };

struct seen {
    double sums[CN_HEAP_METRIC_COUNT];
    double of_context[16][CN_HEAP_METRIC_COUNT];
    size_t count;
};

static bool see(void *arg, uint32_t thread, uint32_t context,
                const double values[CN_HEAP_METRIC_COUNT], struct cn_error *err)
{
    struct seen *seen = arg;

    (void)thread, (void)err;
    seen->count++;
    for (size_t i = 0; i < CN_HEAP_METRIC_COUNT; i++) {
        seen->sums[i] += values[i];
        seen->of_context[context % 16][i] += values[i];
    }
    return true;
}

static struct seen visit(const struct cn_heap_use *use)
{
    struct seen seen = {0};
    struct cn_error err;

    assert_true(cn_heap_use_visit(use, see, &seen, &err));
    return seen;
}

static void alloc_at(struct cn_heap_use *use, uint64_t time_ns, uint64_t address,
                     uint64_t size, uint32_t thread, uint32_t context)
{
    cn_heap_use_alloc(use, &(struct cn_heap_block){.process = PROCESS,
                                                   .address = address,
                                                   .time_ns = time_ns,
                                                   .size = size,
                                                   .usable_size = size + 8,
                                                   .calls = 1,
                                                   .thread = thread,
                                                   .context = context});
}

static bool release_at(struct cn_heap_use *use, uint64_t time_ns, uint64_t address,
                       uint32_t thread)
{
    return cn_heap_use_release(use, &(struct cn_heap_release){.process = PROCESS,
                                                              .address = address,
                                                              .time_ns = time_ns,
                                                              .thread = thread});
}

static void has_the_bytes_of_each_context_at_the_peak_and_at_the_end(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();
    struct cn_heap_peak peak;

    (void)state;
    alloc_at(use, 1 * MS, 0x1000, 100, 1, 1);
    alloc_at(use, 10 * MS, 0x2000, 50, 1, 2);
    assert_true(release_at(use, 20 * MS, 0x1000, 1));
    alloc_at(use, 30 * MS, 0x1000, 30, 1, 3); /* 80, below the peak */
    assert_true(release_at(use, 40 * MS, 0x2000, 2));
    assert_false(release_at(use, 41 * MS, 0x2000, 2));
    struct seen seen = visit(use);
    assert_true(seen.count == 3);
    assert_true(seen.sums[CN_HEAP_BYTES] == 180 && seen.sums[CN_HEAP_CALLS] == 3);
    assert_true(seen.of_context[1][CN_HEAP_LIVE_PEAK] == 100);
    assert_true(seen.of_context[2][CN_HEAP_LIVE_PEAK] == 50);
    assert_true(seen.of_context[3][CN_HEAP_LIVE_PEAK] == 0);
    assert_true(seen.of_context[3][CN_HEAP_LIVE_END] == 30);
    assert_true(seen.sums[CN_HEAP_LIVE_END] == 30);
    assert_true(seen.sums[CN_HEAP_LIVE_END_CALLS] == 1);
    assert_true(seen.of_context[3][CN_HEAP_OWN_PEAK] == 30);
    assert_true(seen.sums[CN_HEAP_FREED_ELSEWHERE] == 50);
    assert_true(seen.sums[CN_HEAP_WASTE] == 24);
    assert_true(cn_heap_use_peak(use, &peak));
    assert_true(peak.bytes == 150 && peak.time_ns == 10 * MS && peak.end_bytes == 30);
    assert_true(peak.error == 0);
    cn_heap_use_free(use);
}

static void counts_temporary_blocks(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();

    (void)state;
    alloc_at(use, 1 * MS, 0x1000, 10, 1, 1);
    assert_true(release_at(use, 2 * MS, 0x1000, 1)); /* within 1 ms */
    alloc_at(use, 3 * MS, 0x1000, 10, 1, 1);
    assert_true(release_at(use, 5 * MS, 0x1000, 1));
    alloc_at(use, 6 * MS, 0x1000, 10, 1, 1);
    assert_true(cn_heap_use_release(use, &(struct cn_heap_release){.process = PROCESS,
                                                                   .address = 0x1000,
                                                                   .time_ns = 60 * MS,
                                                                   .thread = 1,
                                                                   .is_next = true}));
    struct seen seen = visit(use);
    assert_true(seen.sums[CN_HEAP_TEMPORARY] == 2);
    cn_heap_use_free(use);
}

static void adds_up_lifetimes_and_counts_them_by_length(void **state)
{
    static const uint64_t lifetimes_ns[] = {0,       999,      1000,      9999,
                                            10000,   999999,   1000000,   9999999,
                                            10 * MS, 100 * MS, 1000 * MS, 10000UL * MS};
    enum { COUNT = sizeof(lifetimes_ns) / sizeof(*lifetimes_ns) };
    struct cn_heap_use *use = cn_heap_use_new();
    double sum = 0, lived = 0;

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        alloc_at(use, i * MS, 0x1000, 10, 1, 1);
        assert_true(release_at(use, i * MS + lifetimes_ns[i], 0x1000, 1));
        sum += (double)lifetimes_ns[i];
    }
    alloc_at(use, COUNT * MS, 0x1000, 10, 1, 1); /* it has no lifetime yet */
    struct seen seen = visit(use);
    assert_true(seen.sums[CN_HEAP_FREED] == COUNT);
    assert_true(seen.sums[CN_HEAP_LIFETIME] == sum / 1e9);
    for (unsigned i = CN_HEAP_LIVED; i <= CN_HEAP_LIVED_LAST; i++)
        lived += seen.sums[i];
    assert_true(lived == COUNT);
    assert_true(seen.sums[CN_HEAP_LIVED] == 2 && seen.sums[CN_HEAP_LIVED + 1] == 2);
    assert_true(seen.sums[CN_HEAP_LIVED + 2] == 1 && seen.sums[CN_HEAP_LIVED + 3] == 1);
    assert_true(seen.sums[CN_HEAP_LIVED + 4] == 2 && seen.sums[CN_HEAP_LIVED + 5] == 1);
    assert_true(seen.sums[CN_HEAP_LIVED_LAST] == 1);
    cn_heap_use_free(use);
}

static void counts_what_a_thread_frees_for_others_at_its_root(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        alloc_at(use, 1, 0x1000 + i * 64, 10, 1, 2);
    for (uint32_t thread = 1; thread <= 3; thread++)
        assert_true(cn_heap_use_release(
            use, &(struct cn_heap_release){.process = PROCESS,
                                           .address = 0x1000 + (thread - 1) * 64,
                                           .time_ns = 9,
                                           .thread = thread,
                                           .has_root = thread != 3}));
    struct seen seen = visit(use);
    assert_true(seen.of_context[2][CN_HEAP_FREED_ELSEWHERE] == 20);
    assert_true(seen.of_context[0][CN_HEAP_FREED_FOR_OTHERS] == 10);
    assert_true(seen.sums[CN_HEAP_FREED_FOR_OTHERS] == 10);
    cn_heap_use_free(use);
}

static void see_live(void *arg, uint64_t address, double bytes)
{
    uint64_t *sums = arg;

    sums[0] += address;
    sums[1] += (uint64_t)bytes;
    sums[2]++;
}

static void leaks_are_blocks_that_nothing_releases(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();
    uint64_t sums[3] = {0};

    (void)state;
    alloc_at(use, 1, 0x1000, 10, 1, 1);
    alloc_at(use, 2, 0x2000, 20, 1, 2);
    alloc_at(use, 3, 0x3000, 40, 1, 2);
    assert_true(release_at(use, 4, 0x1000, 1));
    cn_heap_use_live(use, PROCESS, see_live, sums);
    assert_true(sums[0] == 0x5000 && sums[1] == 60 && sums[2] == 2);
    cn_heap_use_live(use, PROCESS + 1, see_live, sums);
    assert_true(sums[2] == 2);
    cn_heap_use_leak(use, PROCESS, 0x1000); /* it was released */
    cn_heap_use_leak(use, PROCESS, 0x2000);
    cn_heap_use_leak(use, PROCESS, 0x3000);
    cn_heap_use_leak(use, PROCESS, 0x3000);
    cn_heap_use_leak(use, PROCESS + 1, 0x3000);
    assert_true(release_at(use, 5, 0x2000, 1)); /* it was not one */
    struct seen seen = visit(use);
    assert_true(seen.of_context[2][CN_HEAP_LEAKED] == 40);
    assert_true(seen.sums[CN_HEAP_LEAKED] == 40 && seen.sums[CN_HEAP_LEAKED_CALLS] == 1);
    cn_heap_use_free(use);
}

static void takes_a_lost_release_from_the_next_block_there(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();

    (void)state;
    alloc_at(use, 1, 0x1000, 10, 1, 1);
    alloc_at(use, 2, 0x1000, 20, 1, 2);
    struct seen seen = visit(use);
    assert_true(seen.sums[CN_HEAP_LIVE_END] == 20);
    assert_true(seen.sums[CN_HEAP_BYTES] == 30);
    cn_heap_use_free(use);
}

static void keeps_processes_apart(void **state)
{
    struct cn_heap_use *use = cn_heap_use_new();
    struct cn_heap_peak peak;

    (void)state;
    alloc_at(use, 1, 0x1000, 10, 1, 1);
    cn_heap_use_alloc(use, &(struct cn_heap_block){.process = PROCESS + 1,
                                                   .address = 0x1000,
                                                   .size = 500,
                                                   .old_size = 400,
                                                   .calls = 1,
                                                   .context = 2});
    struct seen seen = visit(use);
    assert_true(seen.sums[CN_HEAP_LIVE_END] == 510);
    assert_true(seen.sums[CN_HEAP_GROWTH] == 100);
    assert_true(cn_heap_use_peak(use, &peak) && peak.process == PROCESS + 1);
    assert_true(peak.bytes == 500 && peak.process_count == 2 && peak.sum == 510);
    assert_true(release_at(use, 2, 0x1000, 1));
    seen = visit(use);
    assert_true(seen.sums[CN_HEAP_LIVE_END] == 500);
    cn_heap_use_free(use);
}

/* A second way, block by block, at random. */
static void agrees_with_a_plain_count(void **state)
{
    enum { STEPS = 20000, ADDRESSES = 300 };
    struct cn_heap_use *use = cn_heap_use_new();
    uint64_t sizes[ADDRESSES] = {0}, live = 0, most = 0, random = 12345;
    uint32_t contexts[ADDRESSES] = {0};
    double now[16] = {0}, then[16] = {0};

    (void)state;
    for (uint64_t i = 1; i < STEPS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        size_t at = (random >> 33) % ADDRESSES;
        uint64_t address = 0x1000 + 16 * at;
        uint32_t context = (uint32_t)(random >> 50) % 16;

        if (sizes[at] > 0) {
            assert_true(release_at(use, i, address, 1));
            live -= sizes[at];
            now[contexts[at]] -= (double)sizes[at];
            sizes[at] = 0;
            continue;
        }
        sizes[at] = 1 + (random >> 40) % 1000;
        contexts[at] = context;
        alloc_at(use, i, address, sizes[at], 1, context);
        live += sizes[at];
        now[context] += (double)sizes[at];
        if (live > most) {
            most = live;
            memcpy(then, now, sizeof(now));
        }
    }
    struct seen seen = visit(use);
    for (size_t i = 0; i < 16; i++) {
        assert_true(seen.of_context[i][CN_HEAP_LIVE_END] == now[i]);
        assert_true(seen.of_context[i][CN_HEAP_LIVE_PEAK] == then[i]);
    }
    cn_heap_use_free(use);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_bytes_of_each_context_at_the_peak_and_at_the_end),
        cmocka_unit_test(counts_temporary_blocks),
        cmocka_unit_test(adds_up_lifetimes_and_counts_them_by_length),
        cmocka_unit_test(counts_what_a_thread_frees_for_others_at_its_root),
        cmocka_unit_test(leaks_are_blocks_that_nothing_releases),
        cmocka_unit_test(takes_a_lost_release_from_the_next_block_there),
        cmocka_unit_test(keeps_processes_apart),
        cmocka_unit_test(agrees_with_a_plain_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
