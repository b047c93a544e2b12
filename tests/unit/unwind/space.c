/* The mappings of a process, and stacks of frames with frame pointers. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "unwind/unwind.h"

enum { ADDRESSES = 64 };

struct expected {
    int file; /* 0: none */
    uint64_t file_off;
};

/* The mapping that begins last before an address, of those that are seen. */
static void check_before(const struct cn_unwind_space *space,
                         const struct expected *expected)
{
    int last = 0;

    for (uint64_t i = 0; i < ADDRESSES; i++) {
        const struct cn_unwind_mapping *found = cn_unwind_space_before(space, i);

        last = expected[i].file ? expected[i].file : last;
        assert_int_equal(found ? atoi(found->path) : 0, last);
    }
}

static void check(const struct cn_unwind_space *space, const struct expected *expected)
{
    for (uint64_t i = 0; i < ADDRESSES; i++) {
        const struct cn_unwind_mapping *found = cn_unwind_space_find(space, i);

        assert_int_equal(found ? atoi(found->path) : 0, expected[i].file);
        if (found)
            assert_int_equal(found->file_off + (i - found->begin), expected[i].file_off);
    }
}

static void a_new_mapping_replaces_what_it_overlaps(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();

    (void)state;
    srand(7);
    /* Short lists are searched, long ones indexed. */
    for (int round = 0; round < 24; round++) {
        struct cn_unwind_space *space = cn_unwind_space_new(unwinder), *copy;
        struct expected expected[ADDRESSES] = {0}, copied[ADDRESSES];

        for (int file = 1; file < (round % 2 ? 12 : 200); file++) {
            uint64_t begin = (uint64_t)rand() % ADDRESSES;
            uint64_t end = (uint64_t)rand() % (ADDRESSES + 1);
            char path[16];

            (void)snprintf(path, sizeof(path), "%d", file);
            cn_unwind_space_map(space, begin, end, 1000, path, "");
            for (uint64_t i = begin; i < end; i++)
                expected[i] = (struct expected){file, 1000 + i - begin};
            check(space, expected);
        }
        copy = cn_unwind_space_copy(space);
        memcpy(copied, expected, sizeof(copied));
        cn_unwind_space_map(copy, 10, 20, 5, "999", "");
        for (uint64_t i = 10; i < 20; i++)
            copied[i] = (struct expected){999, 5 + i - 10};
        check(copy, copied);
        check(space, expected);
        cn_unwind_space_clear(space);
        memset(expected, 0, sizeof(expected));
        check(space, expected);
        cn_unwind_space_free(space);
        check(copy, copied);
        cn_unwind_space_free(copy);
    }
    cn_unwinder_free(unwinder);
}

/* A program that compiles functions: each is looked up while the next ones are added. */
/* Also in lists that are long enough for an index, and where no mapping hides another. */
static void what_begins_last_before_an_address_is_found(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();

    (void)state;
    for (int round = 0; round < 2; round++) {
        struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
        struct expected expected[ADDRESSES] = {0};

        for (int file = 1; file < (round ? 400 : 8); file++) {
            uint64_t begin = (uint64_t)(file * 7 % 10) * 6 + 2;
            char path[16];

            (void)snprintf(path, sizeof(path), "%d", file);
            cn_unwind_space_map(space, begin, begin + 3, 0, path, "");
            for (uint64_t i = begin; i < begin + 3; i++)
                expected[i].file = file;
            check_before(space, expected);
        }
        cn_unwind_space_free(space);
    }
    cn_unwinder_free(unwinder);
}

static void many_mappings_take_little_time(void **state)
{
    enum { COUNT = 10000, LEN = 16 };
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);

    (void)state;
    for (uint64_t i = 1; i <= COUNT; i++) {
        uint64_t scattered = i * 7919 % COUNT;
        const struct cn_unwind_mapping *found;

        cn_unwind_space_map(space, LEN * i, LEN * (i + 1), i, "code", "");
        found = cn_unwind_space_find(space, LEN * scattered + 1);
        if (scattered > 0 && scattered <= i)
            assert_int_equal(found->file_off, scattered);
        else
            assert_null(found);
    }
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void registers_are_found_by_bit_of_the_mask(void **state)
{
    /* SP, IP, R8, R15. */
    uint64_t mask = 1 << 7 | 1 << 8 | 1 << 16 | 1 << 23;
    uint8_t values[32] = {0};
    struct cn_unwind_registers found;

    (void)state;
    for (unsigned i = 0; i < 4; i++)
        cn_u64_put(values + 8 * i, 100 + i);
    assert_false(cn_unwind_registers_decode(&found, CN_UNWIND_X86_64, mask,
                                            (struct cn_bytes){values, 31}));
    assert_false(cn_unwind_registers_decode(&found, CN_UNWIND_X86_64, 1 << 7 | 1 << 6,
                                            (struct cn_bytes){values, 32}));
    assert_true(cn_unwind_registers_decode(&found, CN_UNWIND_X86_64, mask,
                                           (struct cn_bytes){values, 32}));
    assert_int_equal(found.value[CN_UNWIND_X86_RSP], 100);
    assert_int_equal(found.value[CN_UNWIND_X86_RIP], 101);
    assert_int_equal(found.value[8], 102);
    assert_int_equal(found.value[15], 103);
    assert_int_equal(found.known, 1 << 7 | 1 << 16 | 1 << 8 | 1 << 15);
    assert_int_equal(cn_unwind_perf_mask(CN_UNWIND_X86_64), 0xff01ff);
    assert_int_equal(cn_unwind_perf_mask(CN_UNWIND_AARCH64), 0x1ffffffff);
}

/* The code of a process: at 0x1020, add $8,%rsp; ret. */
static bool read_code(void *arg, uint64_t address, uint64_t *out)
{
    (void)arg;
    *out = address == 0x1020 ? 0xc308c48348 : 0x90;
    return true;
}

static const struct cn_unwind_registers registers = {
    .machine = CN_UNWIND_X86_64,
    .known = UINT64_C(1) << CN_UNWIND_X86_RBP | UINT64_C(1) << CN_UNWIND_X86_RSP |
             UINT64_C(1) << CN_UNWIND_X86_RIP,
    .value = {[CN_UNWIND_X86_RIP] = 0x1010,
              [CN_UNWIND_X86_RSP] = 0x7000,
              [CN_UNWIND_X86_RBP] = 0x7008},
};

static void code_that_only_returns_needs_no_frame_pointer(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    uint8_t stack[64] = {0};
    struct cn_bytes copy = {stack, sizeof(stack)};
    uint64_t found[8];
    enum cn_unwind_end end;

    (void)state;
    cn_unwind_space_map(space, 0x1000, 0x2000, 0, "//anon", "");
    cn_u64_put(stack + 8, 1); /* not a frame pointer */
    cn_u64_put(stack + 16, 0x1020);
    cn_u64_put(stack + 0x20, 0x1030);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 2);
    cn_unwind_space_set_memory(space, read_code, NULL);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 3);
    assert_int_equal(found[2], 0x1030);
    assert_int_equal(end, CN_UNWIND_UNKNOWN);
    /* What was seen once is known when the process has ended. */
    cn_unwind_space_set_memory(space, NULL, NULL);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 3);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void frame_pointers_lead_to_callers(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_unwind_registers nowhere = {.machine = registers.machine,
                                          .known = registers.known};
    uint8_t stack[64] = {0};
    struct cn_bytes copy = {stack, sizeof(stack)};
    uint64_t found[8];
    enum cn_unwind_end end;

    (void)state;
    /* Nothing is mapped yet, and all registers are 0. */
    assert_int_equal(cn_unwind(space, &nowhere, 0x7000, copy, found, 8, &end), 1);
    assert_int_equal(end, CN_UNWIND_UNKNOWN);
    cn_unwind_space_map(space, 0x1000, 0x2000, 0, "//anon", "");
    cn_u64_put(stack + 8, 0x7020);
    cn_u64_put(stack + 16, 0x1020);
    cn_u64_put(stack + 0x20, 0x7030);
    cn_u64_put(stack + 0x28, 0x1030);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 3);
    assert_int_equal(found[0], 0x1010);
    assert_int_equal(found[1], 0x1020);
    assert_int_equal(found[2], 0x1030);
    assert_int_equal(end, CN_UNWIND_WHOLE);
    /* Cut off, of unknown code, or more than there is room for. */
    copy.len = 0x28;
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 2);
    assert_int_equal(end, CN_UNWIND_CUT);
    copy.len = sizeof(stack);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 2, &end), 2);
    assert_int_equal(end, CN_UNWIND_CUT);
    cn_u64_put(stack + 16, 0x3020);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 8, &end), 1);
    assert_int_equal(end, CN_UNWIND_UNKNOWN);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_mapping_replaces_what_it_overlaps),
        cmocka_unit_test(what_begins_last_before_an_address_is_found),
        cmocka_unit_test(many_mappings_take_little_time),
        cmocka_unit_test(registers_are_found_by_bit_of_the_mask),
        cmocka_unit_test(frame_pointers_lead_to_callers),
        cmocka_unit_test(code_that_only_returns_needs_no_frame_pointer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
