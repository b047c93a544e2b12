/* Frames of a Java virtual machine that exists as a layout in memory alone. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "sampler/languages/frame_walk.h"
#include "sampler/languages/runtimes.h"
#include "support/java_image.h"

enum { STACK = 0x70000000, WORDS = 32, RETURN = CN_TEST_JAVA_CALL, FP = 0x4444 };

static uint8_t image[CN_TEST_JAVA_LEN];
static uint8_t stack[8 * WORDS];
static struct cn_test_java java;
static enum cn_test_java_release release = CN_TEST_JAVA_17;

/* Numbers of registers: 0 is the stack pointer, 1 the frame pointer, 2 the program counter. */
static unsigned number(bool is_arm, unsigned i)
{
    static const uint8_t numbers[2][3] = {
        {CN_UNWIND_X86_RSP, CN_UNWIND_X86_RBP, CN_UNWIND_X86_RIP},
        {CN_UNWIND_ARM_SP, CN_UNWIND_ARM_FP, CN_UNWIND_ARM_PC}};

    return numbers[is_arm][i];
}

static struct cn_unwind_step step_at(bool is_arm, uint64_t pc, uint64_t fp,
                                     bool is_innermost)
{
    struct cn_unwind_step step = {
        .registers = {.machine = is_arm ? CN_UNWIND_AARCH64 : CN_UNWIND_X86_64,
                      .known = UINT64_MAX},
        .stack_begin = STACK,
        .stack = {stack, sizeof(stack)},
        .is_innermost = is_innermost,
    };

    step.registers.value[number(is_arm, 0)] = STACK;
    step.registers.value[number(is_arm, 1)] = fp;
    step.registers.value[number(is_arm, 2)] = pc;
    return step;
}

static void check_caller(const struct cn_unwind_step *step, uint64_t sp, uint64_t fp,
                         uint64_t pc)
{
    bool is_arm = step->registers.machine == CN_UNWIND_AARCH64;

    assert_int_equal(step->registers.value[number(is_arm, 0)], sp);
    assert_int_equal(step->registers.value[number(is_arm, 1)], fp);
    assert_int_equal(step->registers.value[number(is_arm, 2)], pc);
}

static void check_frame(uint64_t address, const char *function, uint32_t line)
{
    for (size_t i = 0; i < java.names.count; i++)
        if (cn_stored_names_address(&java.names, &java.names.frames[i]) == address) {
            assert_string_equal(java.names.frames[i].function, function);
            assert_int_equal(java.names.frames[i].line, line);
            if (line > 0)
                assert_string_equal(java.names.frames[i].file, "Shop.java");
            return;
        }
    fail();
}

static void open_on(bool is_arm)
{
    cn_test_java_image(is_arm ? CN_UNWIND_AARCH64 : CN_UNWIND_X86_64, release, image);
    memset(stack, 0, sizeof(stack));
    cn_test_java_open(&java, image, sizeof(image));
}

static void names_inlined_methods_of_a_call(void **state)
{
    (void)state;
    for (int is_arm = 0; is_arm < 2; is_arm++) {
        open_on(is_arm);
        cn_u64_put(stack + 16, FP);
        cn_u64_put(stack + 24, RETURN);
        struct cn_unwind_step step = step_at(is_arm, CN_TEST_JAVA_CALL, 0, false);
        assert_true(cn_test_java_undo(&java, &step));
        assert_int_equal(step.frame_count, 2);
        check_frame(step.frames[0], "com.Shop.price", 21);
        check_frame(step.frames[1], "com.Shop.sell", 11);
        check_caller(&step, STACK + 32, FP, RETURN);
        cn_test_java_close(&java);
    }
}

static void finds_the_return_address_before_there_is_a_frame(void **state)
{
    static const struct {
        unsigned off;
        uint64_t lowered[2]; /* x86_64, aarch64: bytes on the stack before the caller's */
    } cases[] = {{0, {8, 0}}, {5, {8, 0}}, {6, {16, 0}}, {8, {0, 32}}, {10, {32, 0}}};

    (void)state;
    for (int is_arm = 0; is_arm < 2; is_arm++)
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            uint64_t lowered = cases[i].lowered[is_arm];

            if (is_arm ? cases[i].off % 4 != 0 : lowered == 0)
                continue;
            open_on(is_arm);
            struct cn_unwind_step step =
                step_at(is_arm, CN_TEST_JAVA_CODE + cases[i].off, FP, true);
            step.registers.value[CN_UNWIND_ARM_LR] = RETURN;
            if (!is_arm) {
                step.registers.value[CN_UNWIND_X86_RSP] = STACK;
                cn_u64_put(stack + lowered - 8, RETURN);
            }
            assert_true(cn_test_java_undo(&java, &step));
            check_caller(&step, STACK + lowered, FP, RETURN);
            cn_test_java_close(&java);
        }
}

static void finds_the_return_address_after_the_frame(void **state)
{
    (void)state;
    for (int is_arm = 0; is_arm < 2; is_arm++) {
        open_on(is_arm);
        struct cn_unwind_step step =
            step_at(is_arm, CN_TEST_JAVA_CODE + CN_TEST_JAVA_CODE_LEN - (is_arm ? 4 : 8),
                    FP, true);
        step.registers.value[CN_UNWIND_ARM_LR] = RETURN;
        if (!is_arm)
            cn_u64_put(stack, RETURN);
        assert_true(cn_test_java_undo(&java, &step));
        check_caller(&step, STACK + (is_arm ? 0 : 8), FP, RETURN);
        cn_test_java_close(&java);
    }
}

static void finds_the_return_address_below_pushed_registers(void **state)
{
    (void)state;
    for (int is_arm = 0; is_arm < 2; is_arm++)
        for (unsigned pushed = 0; pushed <= 4; pushed++) {
            open_on(is_arm);
            cn_u64_put(stack + 16 + 8 * pushed, FP);
            cn_u64_put(stack + 24 + 8 * pushed, RETURN);
            /* Code that runs, between two calls. */
            struct cn_unwind_step step =
                step_at(is_arm, CN_TEST_JAVA_CODE + 0x20, 0, true);
            assert_true(cn_test_java_undo(&java, &step));
            check_caller(&step, STACK + 32 + 8 * pushed, FP, RETURN);
            cn_test_java_close(&java);
        }
}

static void knows_code_that_only_jumps(void **state)
{
    (void)state;
    for (int is_arm = 0; is_arm < 2; is_arm++) {
        open_on(is_arm);
        /* Loads of some registers instead of what makes a frame. */
        memset(image + (CN_TEST_JAVA_CODE - CN_TEST_JAVA_BASE), 0x0b, 12);
        cn_u64_put(stack, RETURN);
        struct cn_unwind_step step = step_at(is_arm, CN_TEST_JAVA_CODE + 8, FP, true);
        step.registers.value[CN_UNWIND_ARM_LR] = RETURN;
        assert_true(cn_test_java_undo(&java, &step));
        check_caller(&step, STACK + (is_arm ? 0 : 8), FP, RETURN);
        cn_test_java_close(&java);
    }
}

static void finds_what_deoptimisation_has_replaced(void **state)
{
    (void)state;
    open_on(true);
    cn_u64_put(stack + 8, CN_TEST_JAVA_CALL);
    cn_u64_put(stack + 24, RETURN);
    struct cn_unwind_step step = step_at(true, CN_TEST_JAVA_DEOPT, 0, false);
    assert_true(cn_test_java_undo(&java, &step));
    assert_int_equal(step.frame_count, 2);
    cn_test_java_close(&java);
}

static void names_interpreted_methods_by_slots_that_agree(void **state)
{
    static const unsigned slots[][2] = {{3, 9}, {3, 8}, {3, 7}, {4, 10}};

    (void)state;
    for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++) {
        uint64_t fp = STACK + 8 * 16;

        open_on(true);
        cn_u64_put(stack + 8 * (16 - slots[i][0]), CN_TEST_JAVA_METHOD);
        cn_u64_put(stack + 8 * (16 - slots[i][1]), CN_TEST_JAVA_BYTECODE + 40);
        cn_u64_put(stack + 8 * 15, fp + 32);
        cn_u64_put(stack + 8 * 16, FP);
        cn_u64_put(stack + 8 * 17, RETURN);
        struct cn_unwind_step step =
            step_at(true, CN_TEST_JAVA_INTERPRETER + 8, fp, false);
        assert_true(cn_test_java_undo(&java, &step));
        assert_int_equal(step.frame_count, 1);
        check_frame(step.frames[0], "com.Shop.main", 419);
        check_caller(&step, fp + 32, FP, RETURN);
        /* A bytecode of another method is not believed. */
        cn_u64_put(stack + 8 * (16 - slots[i][1]), CN_TEST_JAVA_BYTECODE + 48);
        step = step_at(true, CN_TEST_JAVA_INTERPRETER + 8, fp, false);
        assert_true(cn_test_java_undo(&java, &step));
        check_frame(step.frames[0], "[interpreter]", 0);
        cn_test_java_close(&java);
    }
}

static void leaves_java_by_the_call_stub_and_by_stubs(void **state)
{
    (void)state;
    open_on(true);
    cn_u64_put(stack + 64, FP);
    cn_u64_put(stack + 72, 0x1234);
    struct cn_unwind_step step = step_at(true, CN_TEST_JAVA_CALL_STUB, STACK + 64, false);
    assert_true(cn_test_java_undo(&java, &step));
    check_frame(step.frames[0], "[call_stub]", 0);
    check_caller(&step, STACK + 80, FP, 0x1234);
    step = step_at(true, CN_TEST_JAVA_STUB + 8, FP, true);
    step.registers.value[CN_UNWIND_ARM_LR] = RETURN;
    assert_true(cn_test_java_undo(&java, &step));
    check_frame(step.frames[0], "[copies]", 0);
    check_caller(&step, STACK, FP, RETURN);
    cn_test_java_close(&java);
}

static void knows_code_of_a_process_that_has_ended(void **state)
{
    (void)state;
    open_on(true);
    cn_u64_put(stack + 24, RETURN);
    struct cn_unwind_step step = step_at(true, CN_TEST_JAVA_CALL, 0, false);
    assert_true(cn_test_java_undo(&java, &step));
    java.image_len = 0;
    step = step_at(true, CN_TEST_JAVA_CALL, 0, false);
    assert_true(cn_test_java_undo(&java, &step));
    check_frame(step.frames[0], "com.Shop.price", 21);
    cn_test_java_close(&java);
}

static void leaves_other_code_and_unknown_machines_alone(void **state)
{
    (void)state;
    open_on(true);
    struct cn_unwind_step step = step_at(true, CN_TEST_JAVA_BASE + 8, 0, true);
    assert_false(cn_test_java_undo(&java, &step));
    assert_null(cn_language_java.hint(java.state));
    cn_test_java_close(&java);
    open_on(true);
    image[0x1400]++; /* the first name of a type: there is no code cache */
    step = step_at(true, CN_TEST_JAVA_CALL, 0, false);
    assert_false(cn_test_java_undo(&java, &step));
    char *hint = cn_language_java.hint(java.state);
    assert_non_null(strstr(hint, release == CN_TEST_JAVA_17 ? "Java 17.0.9+9 is not known"
                                                            : "Java 25+36 is not known"));
    free(hint);
    cn_test_java_close(&java);
}

static void says_where_a_compiler_has_its_method(void **state)
{
    static const struct cn_frame_read reads[] = {
        {CN_FRAME_STATE, 0, 0, 104},    {CN_FRAME_FOUND, CN_FRAME_NOWHERE, 0, 40},
        {CN_FRAME_FOUND + 1, 1, 0, 16}, {CN_FRAME_STATE, 2, 0, 72},
        {CN_FRAME_STATE, 3, 0, 80},
    };
    struct cn_frame_table table = {0};

    (void)state;
    open_on(true);
    cn_memory_begin(&java.memory, 1, 1 << 18);
    /* Frames are in copies of stacks all the same. */
    assert_int_equal(cn_language_java.describe(java.state, &table),
                     CN_LANGUAGE_TABLE_BESIDE_COPIES);
    assert_int_equal(table.root_kind, CN_FRAME_AT_THREAD);
    assert_int_equal(table.root_module, 0);
    assert_int_equal(table.root, CN_TEST_JAVA_THREAD_AT);
    assert_int_equal(table.order, CN_FRAME_NONE);
    assert_int_equal(table.head_read_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(table.head_reads[i].from, reads[i].from);
        assert_int_equal(table.head_reads[i].to, reads[i].to);
        assert_int_equal(table.head_reads[i].off, reads[i].off);
    }
    cn_test_java_close(&java);
    /* A version that does not say what compilers do. */
    open_on(true);
    for (size_t i = 0x1400; i + 8 < 0x3000; i++)
        if (memcmp(image + i, "_env", 5) == 0)
            image[i]++;
    cn_memory_begin(&java.memory, 1, 1 << 18);
    assert_int_equal(cn_language_java.describe(java.state, &table), CN_LANGUAGE_LATER);
    cn_test_java_close(&java);
}

/* A stack of five frames of the virtual machine, 0x100 bytes each. */
enum { DEPTH = 5, NATIVE = 0x5000 };

static size_t finish_compiler(const uint64_t *words, uint64_t chain[DEPTH + 1])
{
    struct cn_frames_found found = {
        .language = CN_LANGUAGE_JAVA, .head_len = 4, .word_count = 4};
    struct cn_language_sample sample = {.found = &found, .words = words};

    for (size_t i = 0; i < DEPTH; i++) {
        struct cn_unwind_step step = step_at(true, NATIVE + i, 0, i == 0);

        step.registers.value[CN_UNWIND_ARM_SP] = STACK + 0x100 * i;
        assert_false(cn_test_java_undo(&java, &step));
        chain[i] = NATIVE + i;
    }
    cn_memory_begin(&java.memory, 1, 1 << 18);
    return cn_language_java.finish(java.state, &sample, chain, DEPTH, DEPTH + 1);
}

static void names_what_a_compiler_compiles(void **state)
{
    uint64_t chain[DEPTH + 1];
    /* On the stack of the fourth frame. */
    uint64_t words[] = {STACK + 0x340, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x1000};

    (void)state;
    open_on(true);
    assert_int_equal(finish_compiler(words, chain), DEPTH + 1);
    for (uint64_t i = 0; i < DEPTH; i++)
        assert_int_equal(chain[i < 3 ? i : i + 1], NATIVE + i);
    check_frame(chain[3], "[compile com.Shop.main]", 30);
    cn_test_java_close(&java);
}

static void believes_no_method_of_other_threads(void **state)
{
    static const uint64_t cases[][4] = {
        {0, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x1000},
        /* Not on its stack; at its end; in the innermost frame; in the outermost one. */
        {STACK + 0x340, CN_TEST_JAVA_METHOD, STACK + 0x300, 0x1000},
        {STACK + 0x340, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x100},
        {STACK + 0x1000, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x1000},
        {STACK + 0x40, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x1000},
        {STACK + 0x440, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x1000},
        {STACK - 8, CN_TEST_JAVA_METHOD, STACK + 0x1000, 0x2000},
        /* No method. */
        {STACK + 0x340, CN_TEST_JAVA_METHOD + 8, STACK + 0x1000, 0x1000},
        {STACK + 0x340, UINT64_MAX, STACK + 0x1000, 0x1000},
    };
    uint64_t chain[DEPTH + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        open_on(true);
        assert_int_equal(finish_compiler(cases[i], chain), DEPTH);
        for (uint64_t k = 0; k < DEPTH; k++)
            assert_int_equal(chain[k], NATIVE + k);
        cn_test_java_close(&java);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_inlined_methods_of_a_call),
        cmocka_unit_test(finds_the_return_address_before_there_is_a_frame),
        cmocka_unit_test(finds_the_return_address_after_the_frame),
        cmocka_unit_test(finds_the_return_address_below_pushed_registers),
        cmocka_unit_test(knows_code_that_only_jumps),
        cmocka_unit_test(finds_what_deoptimisation_has_replaced),
        cmocka_unit_test(names_interpreted_methods_by_slots_that_agree),
        cmocka_unit_test(leaves_java_by_the_call_stub_and_by_stubs),
        cmocka_unit_test(knows_code_of_a_process_that_has_ended),
        cmocka_unit_test(leaves_other_code_and_unknown_machines_alone),
        cmocka_unit_test(says_where_a_compiler_has_its_method),
        cmocka_unit_test(names_what_a_compiler_compiles),
        cmocka_unit_test(believes_no_method_of_other_threads),
    };

    int failed = cmocka_run_group_tests_name("17", tests, NULL, NULL);
    release = CN_TEST_JAVA_25;
    return failed + cmocka_run_group_tests_name("25", tests, NULL, NULL);
}
