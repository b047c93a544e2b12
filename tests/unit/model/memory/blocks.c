#include "model/memory/blocks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void add(struct cn_heap_blocks *blocks, uint64_t address, uint32_t cell)
{
    struct cn_heap_live *block = cn_heap_blocks_at(blocks, address);

    assert_int_equal(block->address, address);
    assert_int_equal(block->cell, 0);
    block->cell = cell;
}

static void finds_each_block_until_it_is_removed(void **state)
{
    struct cn_heap_blocks blocks = {0};

    (void)state;
    assert_null(cn_heap_blocks_find(&blocks, 0x1000));
    cn_heap_blocks_expect(&blocks, 0x1000);
    for (uint32_t i = 0; i < 5000; i++)
        add(&blocks, 0x1000 + i * UINT64_C(48), i + 1);
    for (uint32_t i = 0; i < 5000; i++) {
        struct cn_heap_live *block =
            cn_heap_blocks_find(&blocks, 0x1000 + i * UINT64_C(48));

        assert_non_null(block);
        assert_int_equal(block->cell, i + 1);
        assert_int_equal((uintptr_t)block % sizeof(*block), 0);
        if (i % 3 == 0)
            cn_heap_blocks_remove(&blocks, block);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        const struct cn_heap_live *block =
            cn_heap_blocks_find(&blocks, 0x1000 + i * UINT64_C(48));

        assert_true(i % 3 == 0 ? !block : block && block->cell == i + 1);
    }
    assert_null(cn_heap_blocks_find(&blocks, UINT64_MAX - 15));
    assert_null(cn_heap_blocks_find(&blocks, 0x1010));
    cn_heap_blocks_done(&blocks);
}

static void addresses_within_sixteen_bytes_differ(void **state)
{
    struct cn_heap_blocks blocks = {0};

    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        add(&blocks, 0x2000 + i, 100 + i);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(cn_heap_blocks_find(&blocks, 0x2000 + i)->cell, 100 + i);
    cn_heap_blocks_remove(&blocks, cn_heap_blocks_find(&blocks, 0x2003));
    assert_null(cn_heap_blocks_find(&blocks, 0x2003));
    assert_int_equal(cn_heap_blocks_find(&blocks, 0x2000)->cell, 100);
    cn_heap_blocks_done(&blocks);
}

/* Few addresses in a table that is nearly always full: removed blocks are followed by others. */
static void is_a_map_whatever_is_added_and_removed(void **state)
{
    enum { ADDRESSES = 3000, STEPS = 300000 };
    struct cn_heap_blocks blocks = {0};
    uint32_t *cells = calloc(ADDRESSES, sizeof(*cells)), live_count = 0;
    uint64_t random = 1;

    (void)state;
    assert_non_null(cells);
    for (uint32_t step = 1; step <= STEPS; step++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t i = (uint32_t)(random >> 33) % ADDRESSES;
        uint64_t address = UINT64_C(0x7f0000000000) + i * (i % 7 == 0 ? 16 : 41);
        struct cn_heap_live *block = cn_heap_blocks_find(&blocks, address);

        assert_true(cells[i] == 0 ? !block : block && block->cell == cells[i]);
        if (cells[i] == 0)
            add(&blocks, address, cells[i] = step);
        else
            cn_heap_blocks_remove(&blocks, block);
        live_count += cells[i] == step ? 1U : UINT32_MAX;
        cells[i] = cells[i] == step ? step : 0;
        assert_int_equal(blocks.count, live_count);
    }
    free(cells);
    cn_heap_blocks_done(&blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_each_block_until_it_is_removed),
        cmocka_unit_test(addresses_within_sixteen_bytes_differ),
        cmocka_unit_test(is_a_map_whatever_is_added_and_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
