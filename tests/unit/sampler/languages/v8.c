/* Frames of JavaScript in a heap of V8, and in heaps that are not what they seem. */

#include "sampler/languages/v8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "formats/exchange/perf/stored_names.h"
#include "support/v8_image.h"

enum {
    ENTRY = CN_V8_IMAGE_BUILTINS, /* which enters the interpreter */
    HANDLER = ENTRY + 256,
    BUILTIN = HANDLER + 256,
    FP = CN_V8_IMAGE_STACK + 128,
    CALLER_FP = CN_V8_IMAGE_STACK + 256,
    INLINED_OFF = 16, /* in the compiled code */
    ENTRY_MARKER = 2,
    STUB_MARKER = 34,
};

static struct cn_v8_image image;
static struct cn_memory memory;
static struct cn_stored_names names;
static struct cn_v8 v8;
static uint8_t stack[CN_V8_IMAGE_STACK_LEN];

static void put(uint64_t address, uint64_t word)
{
    cn_u64_put(stack + (address - CN_V8_IMAGE_STACK), word);
}

static int set_up(void **state)
{
    (void)state;
    cn_v8_image_fill(&image);
    memory = (struct cn_memory){0};
    cn_v8_image_open(&image, &v8, &memory, &names);
    assert_true(cn_v8_layout_end(&v8.layout));
    memset(stack, 0, sizeof(stack));
    put(FP, CALLER_FP);
    put(FP + 8, ENTRY + 8);
    put(FP - 16, image.function);
    put(FP - 32, image.bytecodes);
    put(FP - 40, (uint64_t)(53 + 4) << 32);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cn_v8_done(&v8);
    cn_stored_names_done(&names);
    names = (struct cn_stored_names){0};
    return 0;
}

static struct cn_unwind_step step_at(enum cn_unwind_machine machine, uint64_t pc,
                                     bool is_innermost)
{
    bool is_arm = machine == CN_UNWIND_AARCH64;
    struct cn_unwind_step step = {
        .registers = {.machine = machine, .known = UINT64_MAX >> 1},
        .stack_begin = CN_V8_IMAGE_STACK,
        .stack = {stack, sizeof(stack)},
        .is_innermost = is_innermost,
    };

    step.registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = pc;
    step.registers.value[is_arm ? CN_UNWIND_ARM_FP : CN_UNWIND_X86_RBP] = FP;
    step.registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP] =
        CN_V8_IMAGE_STACK;
    return step;
}

static struct cn_unwind_step undo_at(uint64_t pc, bool is_innermost)
{
    struct cn_unwind_step step = step_at(CN_UNWIND_AARCH64, pc, is_innermost);

    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.registers.value[CN_UNWIND_ARM_FP], CALLER_FP);
    assert_int_equal(step.registers.value[CN_UNWIND_ARM_PC], ENTRY + 8);
    return step;
}

static void expect_frame(const struct cn_unwind_step *step, size_t at,
                         const char *function, uint32_t line)
{
    assert_true(at < step->frame_count);
    for (size_t i = 0; i < names.count; i++) {
        struct cn_stored_frame frame = names.frames[i];

        if (cn_stored_names_address(&names, &frame) != step->frames[at])
            continue;
        assert_string_equal(frame.function, function);
        assert_string_equal(frame.file ? frame.file : "", line ? "/x/words.js" : "");
        assert_int_equal(frame.line, line);
        return;
    }
    fail_msg("frame %zu has no name", at);
}

static void names_interpreted_functions_with_their_lines(void **state)
{
    struct cn_unwind_step step = undo_at(ENTRY + 8, false);

    (void)state;
    assert_int_equal(step.frame_count, 1);
    expect_frame(&step, 0, "outer", 2);
    /* While a handler runs, a register has the offset. */
    step = step_at(CN_UNWIND_AARCH64, HANDLER + 8, true);
    step.registers.value[19] = 53;
    assert_true(cn_v8_undo(&v8, &step));
    expect_frame(&step, 0, "outer", 1);
}

static void a_handler_with_a_frame_is_part_of_the_function(void **state)
{
    struct cn_unwind_step step;

    (void)state;
    put(CALLER_FP, CALLER_FP + 64);
    put(CALLER_FP + 8, BUILTIN + 4);
    put(CALLER_FP - 16, image.function);
    put(FP - 8, STUB_MARKER);
    put(FP - 16, 0);
    step = step_at(CN_UNWIND_AARCH64, HANDLER + 8, false);
    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.frame_count, 1);
    expect_frame(&step, 0, "outer", 1);
    assert_int_equal(step.registers.value[CN_UNWIND_ARM_PC], BUILTIN + 4);
}

static void built_ins_keep_their_address(void **state)
{
    struct cn_unwind_step step = undo_at(BUILTIN + 8, true);

    (void)state;
    /* Without a frame of its own it was called by the function. */
    assert_int_equal(step.frame_count, 2);
    assert_int_equal(step.frames[0], BUILTIN + 8);
    expect_frame(&step, 1, "outer", 2);
    put(FP - 8, STUB_MARKER);
    put(FP - 16, 0);
    step = undo_at(BUILTIN + 8, true);
    assert_int_equal(step.frame_count, 1);
    assert_int_equal(step.frames[0], BUILTIN + 8);
}

static void the_entry_from_c_is_not_the_function_that_it_calls(void **state)
{
    (void)state;
    put(FP - 8, STUB_MARKER);
    struct cn_unwind_step step = undo_at(BUILTIN + 8, false);
    assert_int_equal(step.frame_count, 1);
    assert_int_equal(step.frames[0], BUILTIN + 8);
    put(FP - 8, image.script); /* a context */
    step = undo_at(BUILTIN + 8, false);
    assert_int_equal(step.frame_count, 1);
    expect_frame(&step, 0, "outer", 2);
}

static void shows_what_was_inlined(void **state)
{
    struct cn_unwind_step step = undo_at(CN_V8_IMAGE_CODE + 8, true);

    (void)state;
    assert_int_equal(step.frame_count, 1);
    expect_frame(&step, 0, "outer", 1);
    step = undo_at(CN_V8_IMAGE_CODE + INLINED_OFF + 4, true);
    assert_int_equal(step.frame_count, 2);
    expect_frame(&step, 0, "inner", 3);
    expect_frame(&step, 1, "outer", 2);
    /* A return address is after its call. */
    step = undo_at(CN_V8_IMAGE_CODE + INLINED_OFF, false);
    assert_int_equal(step.frame_count, 1);
}

static void reads_strings_of_all_kinds(void **state)
{
    uint64_t shared = image.shared - 1, scope;

    (void)state;
    scope = cn_u64_get(image.bytes + (shared + 16 - CN_V8_IMAGE_BASE)) - 1;
    for (size_t i = 0; i < sizeof(image.names) / sizeof(*image.names); i++) {
        cn_v8_image_set(&image, scope + 32, image.names[i]);
        /* Another object with another name. */
        cn_v8_image_set(&image, shared + 32, image.script + (i % 2 ? 2 : 0));
        cn_memory_begin(&memory, 0, 1 << 18);
        uint32_t function = cn_v8_shared_of(&v8, image.shared);
        assert_true(function < v8.function_count);
        assert_string_equal(v8.functions[function].name, "outer");
    }
    assert_int_equal(v8.function_count, sizeof(image.names) / sizeof(*image.names));
}

static void an_entry_leads_back_to_c(void **state)
{
    struct cn_unwind_step step;

    (void)state;
    put(FP - 8, ENTRY_MARKER);
    put(FP - 16, 0);
    put(FP + 8, 0x400000);
    for (unsigned i = 0; i < 10; i++)
        put(FP + 16 + 8 * i, 1000 + i);
    step = step_at(CN_UNWIND_AARCH64, BUILTIN + 8, false);
    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.registers.value[CN_UNWIND_ARM_SP], FP + 160);
    assert_int_equal(step.registers.value[19], 1000);
    assert_int_equal(step.registers.value[28], 1009);
    assert_true(step.registers.known >> 28 & 1);
    for (unsigned i = 0; i < 5; i++)
        put(FP - 24 - 8 * i, 2000 + i);
    step = step_at(CN_UNWIND_X86_64, BUILTIN + 8, false);
    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.registers.value[CN_UNWIND_X86_RSP], FP + 16);
    assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP], 0x400000);
    assert_int_equal(step.registers.value[12], 2000);
    assert_int_equal(step.registers.value[3], 2004);
}

/* Code whose frame is not made yet, or not there any more. */
static void code_without_a_frame_has_its_caller_in_a_register(void **state)
{
    static const uint32_t arm[] = {0xd503201f, 0xa9bf7bfd, 0x910003fd,
                                   0xd503201f, 0xa8c17bfd, 0xd65f03c0};
    /* Offset, and whether the frame is there. */
    static const bool has_frame[] = {false, false, false, true, true, false};
    struct cn_unwind_step step;

    (void)state;
    for (size_t i = 0; i < sizeof(arm) / sizeof(*arm); i++)
        cn_u32_put(image.bytes + (CN_V8_IMAGE_CODE - CN_V8_IMAGE_BASE) + 4 * i, arm[i]);
    put(CN_V8_IMAGE_STACK, FP);
    put(CN_V8_IMAGE_STACK + 8, BUILTIN + 16);
    for (size_t i = 0; i < sizeof(arm) / sizeof(*arm); i++) {
        step = step_at(CN_UNWIND_AARCH64, CN_V8_IMAGE_CODE + 4 * i, true);
        step.registers.value[CN_UNWIND_ARM_LR] = BUILTIN + 16;
        assert_true(cn_v8_undo(&v8, &step));
        assert_int_equal(step.registers.value[CN_UNWIND_ARM_PC],
                         has_frame[i] ? ENTRY + 8 : BUILTIN + 16);
        expect_frame(&step, step.frame_count - 1, "outer", i < 4 ? 1 : 2);
    }
}

static void code_without_a_frame_has_its_caller_on_the_stack(void **state)
{
    static const uint8_t x86[] = {0x90, 0x55, 0x48, 0x89, 0xe5, 0x90, 0x5d, 0xc3};
    struct cn_unwind_step step;

    (void)state;
    memcpy(image.bytes + (CN_V8_IMAGE_CODE - CN_V8_IMAGE_BASE), x86, sizeof(x86));
    put(CN_V8_IMAGE_STACK, BUILTIN + 16);
    put(CN_V8_IMAGE_STACK + 8, BUILTIN + 24);
    for (unsigned at = 0; at < sizeof(x86); at++) {
        bool is_bare = at < 2 || at == 7, is_pushed = at == 2;

        if (at == 3 || at == 4) /* within an instruction */
            continue;
        step = step_at(CN_UNWIND_X86_64, CN_V8_IMAGE_CODE + at, true);
        assert_true(cn_v8_undo(&v8, &step));
        assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP], is_bare ? BUILTIN + 16
                                                                  : is_pushed
                                                                      ? BUILTIN + 24
                                                                      : ENTRY + 8);
        assert_int_equal(step.registers.value[CN_UNWIND_X86_RSP],
                         is_bare     ? CN_V8_IMAGE_STACK + 8
                         : is_pushed ? CN_V8_IMAGE_STACK + 16
                                     : FP + 16);
    }
}

/* What enters interpreted functions looks at the function before it makes its frame. */
static void a_function_that_is_entered_is_in_a_register(void **state)
{
    enum { OFF = 110, FUNCTION_AT = 2 /* rcx */ };
    static const uint8_t x86[] = {0x55, 0x48, 0x89, 0xe5};
    struct cn_unwind_step step;

    (void)state;
    v8.ranges[0] =
        (struct cn_v8_range){CN_V8_IMAGE_CODE, CN_V8_IMAGE_CODE + CN_V8_IMAGE_CODE_LEN,
                             CN_V8_BUILTIN, ENTRY - CN_V8_IMAGE_CODE};
    memset(image.bytes + (CN_V8_IMAGE_CODE - CN_V8_IMAGE_BASE), 0x90, OFF);
    memcpy(image.bytes + (CN_V8_IMAGE_CODE - CN_V8_IMAGE_BASE) + OFF, x86, sizeof(x86));
    put(CN_V8_IMAGE_STACK, BUILTIN + 16);
    put(CN_V8_IMAGE_STACK + 8, BUILTIN + 24);
    for (unsigned at = 0; at <= OFF + 1; at++) {
        step = step_at(CN_UNWIND_X86_64, CN_V8_IMAGE_CODE + at, true);
        step.registers.value[FUNCTION_AT] = image.function;
        assert_true(cn_v8_undo(&v8, &step));
        assert_int_equal(step.frame_count, 1);
        expect_frame(&step, 0, "outer", 1);
        assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP],
                         at <= OFF ? BUILTIN + 16 : BUILTIN + 24);
    }
    /* With a frame that does not have the function yet. */
    step = step_at(CN_UNWIND_X86_64, CN_V8_IMAGE_CODE + OFF + 4, true);
    step.registers.value[CN_UNWIND_X86_RSP] = FP;
    step.registers.value[FUNCTION_AT] = image.function;
    put(FP + 8, BUILTIN + 32);
    assert_true(cn_v8_undo(&v8, &step));
    expect_frame(&step, 0, "outer", 1);
    assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP], BUILTIN + 32);
    put(FP + 8, ENTRY + 8);
    /* Something else is in the register; or this is a handler, which what enters calls. */
    step = step_at(CN_UNWIND_X86_64, CN_V8_IMAGE_CODE, true);
    step.registers.value[FUNCTION_AT] = image.script;
    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP], ENTRY + 8);
    put(CN_V8_IMAGE_STACK, ENTRY + 64);
    step = step_at(CN_UNWIND_X86_64, CN_V8_IMAGE_CODE, true);
    step.registers.value[FUNCTION_AT] = image.function;
    assert_true(cn_v8_undo(&v8, &step));
    assert_int_equal(step.registers.value[CN_UNWIND_X86_RIP], ENTRY + 8);
}

static void what_has_moved_is_not_named(void **state)
{
    struct cn_unwind_step step = undo_at(CN_V8_IMAGE_CODE + 8, true);

    (void)state;
    expect_frame(&step, 0, "outer", 1);
    /* Other code is where it was, and something else where the function was. */
    cn_v8_image_set(&image, CN_V8_IMAGE_CODE - 8, image.script);
    cn_v8_image_set(&image, image.function - 1, 0);
    cn_memory_begin(&memory, 0, 1 << 18);
    step = undo_at(CN_V8_IMAGE_CODE + 8, true);
    assert_int_equal(step.frame_count, 1);
    expect_frame(&step, 0, "(JavaScript)", 0);
    step = undo_at(ENTRY + 8, false);
    assert_int_equal(step.frames[0], ENTRY + 8);
}

static void functions_of_a_process_that_has_ended_have_names(void **state)
{
    (void)state;
    (void)undo_at(ENTRY + 8, false);
    (void)undo_at(CN_V8_IMAGE_CODE + 8, true);
    image.len = 0;
    cn_memory_begin(&memory, 0, 1 << 18);
    struct cn_unwind_step step = undo_at(ENTRY + 8, false);
    expect_frame(&step, 0, "outer", 1);
    step = undo_at(CN_V8_IMAGE_CODE + 8, true);
    expect_frame(&step, 0, "outer", 1);
    /* It is there, and may not be read for this sample. */
    cn_memory_begin(&memory, 0, 0);
    step = undo_at(ENTRY + 8, false);
    assert_int_equal(step.frames[0], ENTRY + 8);
}

static void searches_are_limited_for_each_stack(void **state)
{
    (void)state;
    /* Code that begins nowhere, at many addresses; then code that does. */
    cn_v8_image_set(&image, CN_V8_IMAGE_CODE - 16, 0);
    for (unsigned i = 0; i < 64; i++)
        assert_null(cn_v8_code_at(&v8, CN_V8_IMAGE_BASE, CN_V8_IMAGE_BASE + 64 * i));
    assert_true(v8.search_count > 0 && v8.search_count < 64);
    cn_v8_image_fill(&image);
    assert_null(cn_v8_code_at(&v8, CN_V8_IMAGE_BASE, CN_V8_IMAGE_CODE + 192));
    cn_memory_begin(&memory, 0, 1 << 18);
    assert_non_null(cn_v8_code_at(&v8, CN_V8_IMAGE_BASE, CN_V8_IMAGE_CODE + 192));
}

static void code_of_others_is_left_to_the_tables(void **state)
{
    struct cn_unwind_step step = step_at(CN_UNWIND_AARCH64, 0x400000, true);

    (void)state;
    assert_false(cn_v8_undo(&v8, &step));
    assert_int_equal(step.frame_count, 0);
    /* The frame is not in the copy of the stack. */
    step = step_at(CN_UNWIND_AARCH64, ENTRY + 8, false);
    step.stack.len = 8;
    assert_false(cn_v8_undo(&v8, &step));
}

static void a_layout_that_is_not_described_is_refused(void **state)
{
    struct cn_v8_layout layout = v8.layout;

    (void)state;
    layout.shared_name = CN_V8_UNKNOWN;
    assert_false(cn_v8_layout_end(&layout));
    layout = v8.layout;
    layout.tagged_len = 4; /* compressed pointers */
    assert_false(cn_v8_layout_end(&layout));
    layout = v8.layout;
    layout.script_name = 1 << 20;
    assert_false(cn_v8_layout_end(&layout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CN_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CN_TEST(names_interpreted_functions_with_their_lines),
        CN_TEST(a_handler_with_a_frame_is_part_of_the_function),
        CN_TEST(built_ins_keep_their_address),
        CN_TEST(the_entry_from_c_is_not_the_function_that_it_calls),
        CN_TEST(shows_what_was_inlined),
        CN_TEST(reads_strings_of_all_kinds),
        CN_TEST(an_entry_leads_back_to_c),
        CN_TEST(code_without_a_frame_has_its_caller_in_a_register),
        CN_TEST(code_without_a_frame_has_its_caller_on_the_stack),
        CN_TEST(a_function_that_is_entered_is_in_a_register),
        CN_TEST(what_has_moved_is_not_named),
        CN_TEST(functions_of_a_process_that_has_ended_have_names),
        CN_TEST(searches_are_limited_for_each_stack),
        CN_TEST(code_of_others_is_left_to_the_tables),
        CN_TEST(a_layout_that_is_not_described_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
