/* Frames that something else than a table undoes. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "unwind/unwind.h"

enum { CODE = 0x10000, CODE_END = 0x20000, STACK = 0x70000, WORDS = 16, MOST = 32 };

/* What a run-time of frames of 16 bytes does: the return address is at their upper end. */
struct runtime {
    unsigned call_count;
    size_t frame_count;
    uint64_t end_pc; /* of the caller of all frames */
    bool is_stuck, is_not_mine;
    bool has_more;  /* code that no mapping names */
    bool has_no_sp; /* but a frame pointer */
};

static struct cn_unwinder *unwinder;
static struct cn_unwind_space *space;
static uint8_t stack[8 * WORDS];

static bool undo(void *arg, struct cn_unwind_step *step)
{
    struct runtime *runtime = arg;
    unsigned sp = cn_unwind_machine_here() == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP
                                                                : CN_UNWIND_X86_RSP;
    unsigned pc = cn_unwind_machine_here() == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_PC
                                                                : CN_UNWIND_X86_RIP;
    uint64_t top = step->registers.value[sp] + 8;
    struct cn_bytes word;

    if (step->registers.value[pc] >= CODE_END && !runtime->has_more)
        return false;
    assert_int_equal(step->is_innermost, runtime->call_count == 0);
    runtime->call_count++;
    step->frame_count = runtime->frame_count;
    for (size_t i = 0; i < runtime->frame_count; i++)
        step->frames[i] = (UINT64_C(1) << 60) + i;
    if (runtime->is_not_mine)
        return false;
    if (runtime->is_stuck)
        return true;
    step->registers.value[sp] = top + 8;
    if (runtime->has_no_sp) {
        step->registers.known &= ~(UINT64_C(1) << sp);
        step->registers.value[CN_UNWIND_ARM_FP] = top + 8;
    }
    if (cn_bytes_slice(step->stack, top - step->stack_begin, 8, &word))
        step->registers.value[pc] = cn_u64_get(word.ptr);
    else
        step->registers.known &= ~(UINT64_C(1) << pc);
    return true;
}

static size_t unwind(struct runtime *runtime, uint64_t *out, size_t most,
                     enum cn_unwind_end *end)
{
    struct cn_unwind_registers registers = {.machine = cn_unwind_machine_here(),
                                            .known = UINT64_MAX};
    bool is_arm = registers.machine == CN_UNWIND_AARCH64;

    registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP] = STACK;
    registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = CODE + 4;
    for (uint64_t i = 0; i < WORDS; i++)
        cn_u64_put(stack + 8 * i, CODE + 16 * i);
    cn_u64_put(stack + 8 * 7, runtime->end_pc);
    cn_unwind_space_set_foreign(space, undo, runtime);
    return cn_unwind(space, &registers, STACK, (struct cn_bytes){stack, sizeof(stack)},
                     out, most, end);
}

static int set_up(void **state)
{
    (void)state;
    unwinder = cn_unwinder_new();
    cn_unwinder_set_no_cache(unwinder);
    space = cn_unwind_space_new(unwinder);
    cn_unwind_space_map(space, CODE, CODE_END, 0, "//anon", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
    return 0;
}

static void undoes_frames_up_to_the_end(void **state)
{
    struct runtime runtime = {0};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), 4);
    assert_int_equal(end, CN_UNWIND_WHOLE);
    assert_int_equal(out[0], CODE + 4);
    assert_int_equal(out[1], CODE + 16);
    assert_int_equal(out[3], CODE + 16 * 5);
    assert_int_equal(runtime.call_count, 4);
}

static void puts_named_frames_in_place_of_an_address(void **state)
{
    struct runtime runtime = {.frame_count = 3};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), 12);
    assert_int_equal(end, CN_UNWIND_WHOLE);
    assert_int_equal(out[2], (UINT64_C(1) << 60) + 2);
    runtime = (struct runtime){.frame_count = 3, .is_not_mine = true};
    assert_int_equal(unwind(&runtime, out, MOST, &end), 3);
    assert_int_not_equal(end, CN_UNWIND_WHOLE);
    runtime = (struct runtime){.frame_count = 3};
    assert_int_equal(unwind(&runtime, out, 1, &end), 1);
}

static void ends_where_nothing_moves(void **state)
{
    struct runtime runtime = {.is_stuck = true};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), 1);
    assert_int_equal(end, CN_UNWIND_BAD);
}

static void ends_outside_of_code_and_of_the_copy(void **state)
{
    struct runtime runtime = {.end_pc = CODE_END + 8};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), 4);
    assert_int_equal(end, CN_UNWIND_UNKNOWN);
    runtime = (struct runtime){.end_pc = CODE + 8};
    assert_int_equal(unwind(&runtime, out, MOST, &end), WORDS / 2 + 1);
    assert_int_equal(end, CN_UNWIND_CUT);
}

static void undoes_code_that_no_mapping_names(void **state)
{
    struct runtime runtime = {.end_pc = CODE_END + 8, .has_more = true};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), WORDS / 2 + 1);
    assert_int_equal(out[4], CODE_END + 8);
    assert_int_equal(end, CN_UNWIND_CUT);
}

static void needs_no_stack_pointer_where_frames_have_one(void **state)
{
    bool is_arm = cn_unwind_machine_here() == CN_UNWIND_AARCH64;
    struct runtime runtime = {.has_no_sp = true};
    enum cn_unwind_end end;
    uint64_t out[MOST];

    (void)state;
    assert_int_equal(unwind(&runtime, out, MOST, &end), is_arm ? 4 : 1);
    assert_int_equal(end, is_arm ? CN_UNWIND_WHOLE : CN_UNWIND_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undoes_frames_up_to_the_end),
        cmocka_unit_test(puts_named_frames_in_place_of_an_address),
        cmocka_unit_test(ends_where_nothing_moves),
        cmocka_unit_test(ends_outside_of_code_and_of_the_copy),
        cmocka_unit_test(undoes_code_that_no_mapping_names),
        cmocka_unit_test(needs_no_stack_pointer_where_frames_have_one),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
