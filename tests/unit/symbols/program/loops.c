#include "symbols/program/loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "support/scratch.h"
#include "symbols/program/resolver.h"

/* Instructions of aarch64; distances count instructions. */
#define NOP         UINT32_C(0xd503201f)
#define RET         UINT32_C(0xd65f03c0)
#define JUMP(by)    (UINT32_C(0x14000000) | ((uint32_t)(by)&0x3ffffff))
#define CALL(by)    (UINT32_C(0x94000000) | ((uint32_t)(by)&0x3ffffff))
#define JUMP_IF(by) (UINT32_C(0xb5000000) | ((uint32_t)(by)&0x7ffff) << 5)

enum { EXIT = 400 }; /* offset of a function that never returns */

static bool ends(void *arg, uint64_t target)
{
    (void)arg;
    return target == EXIT;
}

static void find(struct cn_loops *loops, const uint32_t *words, size_t count)
{
    uint8_t code[256];

    for (size_t i = 0; i < count; i++)
        cn_u32_put(code + 4 * i, words[i]);
    *loops = (struct cn_loops){0};
    cn_loops_find(loops, (struct cn_bytes){code, 4 * count}, false, ends, NULL);
}

static void loops_are_nested(void **state)
{
    static const uint32_t code[] = {NOP, NOP, NOP, JUMP_IF(-1), JUMP_IF(-3), RET};
    uint32_t heads[CN_LOOPS_DEPTH_MAX];
    struct cn_loops loops;

    (void)state;
    find(&loops, code, sizeof(code) / sizeof(*code));
    assert_int_equal(loops.count, 2);
    assert_int_equal(cn_loops_at(&loops, 0, heads), 0);
    assert_int_equal(cn_loops_at(&loops, 4, heads), 1);
    assert_int_equal(heads[0], 4);
    assert_int_equal(cn_loops_at(&loops, 12, heads), 2);
    assert_int_equal(heads[0], 4);
    assert_int_equal(heads[1], 8);
    assert_int_equal(cn_loops_at(&loops, 16, heads), 1);
    assert_int_equal(cn_loops_at(&loops, 20, heads), 0);
    cn_loops_done(&loops);
}

/* Code that is moved to the end of the function jumps back, which is no loop. */
static void jumps_back_without_a_way_there_are_no_loops(void **state)
{
    static const uint32_t cold[] = {JUMP_IF(3), NOP, RET, NOP, JUMP(-3)};
    static const uint32_t after_exit[] = {NOP, JUMP_IF(2), RET, CALL(EXIT / 4 - 3),
                                          JUMP(-4)};
    static const uint32_t after_call[] = {NOP, JUMP_IF(2), RET, CALL(0), JUMP(-4)};
    struct cn_loops loops;

    (void)state;
    find(&loops, cold, 5);
    assert_int_equal(loops.count, 0);
    cn_loops_done(&loops);
    find(&loops, after_exit, 5);
    assert_int_equal(loops.count, 0);
    cn_loops_done(&loops);
    find(&loops, after_call, 5);
    assert_int_equal(loops.count, 1);
    cn_loops_done(&loops);
}

static void any_bytes_are_read(void **state)
{
    uint64_t seed = 4711;

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        uint8_t code[200];
        uint32_t heads[CN_LOOPS_DEPTH_MAX], blocks[CN_LOOPS_BLOCK_MAX];
        struct cn_loops loops = {0};

        for (size_t k = 0; k < sizeof(code); k++) {
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            /* Mostly short jumps of x86_64, or conditional ones of aarch64. */
            code[k] = (uint8_t)(k % 2 == 0 && i % 2 ? 0x70 + (seed >> 60) : seed >> 56);
            if (i % 2 == 0 && k % 4 == 3)
                code[k] = 0x54;
        }
        cn_loops_find(&loops, (struct cn_bytes){code, 1 + i % sizeof(code)}, i % 2, ends,
                      NULL);
        for (uint32_t off = 0; off < sizeof(code); off++) {
            size_t depth = cn_loops_at(&loops, off, heads);

            assert_true(depth <= CN_LOOPS_DEPTH_MAX);
            if (depth > 0)
                assert_true(cn_loops_blocks(&loops, heads[depth - 1], blocks) > 0);
        }
        cn_loops_done(&loops);
    }
}

/* A loop in an inlined function, in a loop of its caller; the compilers of both machines. */
static void loops_of_a_program_have_lines(void **state)
{
    static const char source[] =
        "static inline int inner(volatile int *p, int n)\n"
        "{\n"
        "    int sum = 0;\n"
        "    while (n-- > 0)\n"
        "        sum += *p;\n"
        "    return sum;\n"
        "}\n"
        "int outer(volatile int *p, int n)\n"
        "{\n"
        "    int sum = 0;\n"
        "    for (int i = 0; i < n; i++)\n"
        "        sum += inner(p, i);\n"
        "    return sum;\n"
        "}\n"
        "int main(int n, char **v) { return outer(&n, v != 0); }\n";
    static const char *const compilers[] = {"cc", "aarch64-linux-gnu-gcc"};
    char folder[4000], path[4096], command[200];

    (void)state;
    cn_scratch_write("p.c", source, strlen(source));
    assert_non_null(getcwd(folder, sizeof(folder)));
    (void)snprintf(path, sizeof(path), "%s/p", folder);
    for (size_t i = 0; i < 2; i++) {
        struct cn_resolver *resolver;
        uint64_t deepest = 0, heads[CN_RESOLVER_LOOP_MAX] = {0};
        struct cn_symbol symbol;
        struct cn_source_location levels[8];

        (void)snprintf(command, sizeof(command), "%s -g -O1 -o p p.c 2>/dev/null",
                       compilers[i]);
        if (system(command) != 0) /* NOLINT: a constant */
            continue;
        resolver = cn_resolver_new();
        for (uint64_t off = 0; off < 0x2000; off += 2) {
            uint64_t found[CN_RESOLVER_LOOP_MAX];
            size_t count =
                cn_resolver_symbol(resolver, path, "", off, &symbol) &&
                        strcmp(symbol.name, "outer") == 0
                    ? cn_resolver_loops(resolver, path, "", &symbol, off, found)
                    : 0;

            if (count > deepest) {
                deepest = count;
                memcpy(heads, found, sizeof(heads));
            }
        }
        /* Without libcapstone there are none on x86_64. */
        if (deepest > 0) {
            assert_int_equal(deepest, 2);
            assert_true(cn_resolver_symbol(resolver, path, "", heads[0], &symbol));
            assert_int_equal(
                cn_resolver_loop(resolver, path, "", &symbol, heads[0], levels, 8), 1);
            assert_int_equal(
                cn_resolver_loop(resolver, path, "", &symbol, heads[1], levels, 8), 2);
            assert_string_equal(levels[1].function, "inner");
            assert_true(levels[1].line == 4 || levels[1].line == 5);
        }
        cn_resolver_free(resolver);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_nested),
        cmocka_unit_test(jumps_back_without_a_way_there_are_no_loops),
        cmocka_unit_test(any_bytes_are_read),
        CN_SCRATCH_TEST(loops_of_a_program_have_lines),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
