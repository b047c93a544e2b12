#include "sampler/languages/runtimes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/exchange/perf/stored_names.h"

enum {
    LIBRARY = 0x7000,
    LIBRARY_LEN = CN_MEMORY_BLOCK_LEN,
    STACK = 0x100000,
    WORDS = 2048,
    AFTER_CALL =
        LIBRARY + 16, /* code[AFTER_CALL - LIBRARY] follows a call by a register */
    ELSEWHERE = LIBRARY + 32,
};

struct machine {
    enum cn_unwind_machine machine;
    unsigned pc, sp;
    uint8_t call[4];
};

static const struct machine machines[] = {
    {CN_UNWIND_X86_64,
     CN_UNWIND_X86_RIP,
     CN_UNWIND_X86_RSP,
     {0x90, 0x41, 0xff, 0xd2}}, /* call *%r10 */
    {CN_UNWIND_AARCH64,
     CN_UNWIND_ARM_PC,
     CN_UNWIND_ARM_SP,
     {0x60, 0x00, 0x3f, 0xd6}}, /* blr x3 */
};

static bool copy_code(void *arg, uint64_t address, void *out, size_t len)
{
    uint8_t *code = arg;

    if (address < LIBRARY || address - LIBRARY > LIBRARY_LEN ||
        len > LIBRARY_LEN - (address - LIBRARY))
        return false;
    memcpy(out, code + (address - LIBRARY), len);
    return true;
}

struct fixture {
    uint8_t code[LIBRARY_LEN];
    uint64_t stack[WORDS];
    struct cn_memory memory;
    struct cn_stored_names names;
    struct cn_unwind_step step;
    void *pcre;
};

static void begin(struct fixture *f, const struct machine *machine)
{
    const struct cn_language_mapping mapping = {
        .begin = LIBRARY, .end = LIBRARY + LIBRARY_LEN, .path = "/lib/libpcre2-8.so.0"};

    *f = (struct fixture){0};
    memcpy(f->code + AFTER_CALL - LIBRARY - 4, machine->call, sizeof(machine->call));
    f->memory.copy = copy_code;
    f->memory.arg = f->code;
    cn_memory_begin(&f->memory, 1, 1 << 16);
    f->pcre = cn_language_pcre.open(&f->memory, &mapping, &f->names);
    f->step.registers.machine = machine->machine;
    f->step.registers.known = UINT64_C(1) << machine->sp | UINT64_C(1) << machine->pc;
    f->step.registers.value[machine->sp] = STACK;
    f->step.registers.value[machine->pc] = 0x500000;
    f->step.stack_begin = STACK;
    f->step.stack = (struct cn_bytes){(const uint8_t *)f->stack, sizeof(f->stack)};
}

static void done(struct fixture *f)
{
    cn_language_pcre.close(f->pcre);
    cn_stored_names_done(&f->names);
}

static void leaves_code_of_expressions_by_the_place_that_called_it(void **state)
{
    static struct fixture f;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct machine *machine = &machines[i];
        bool is_arm = machine->machine == CN_UNWIND_AARCH64;
        unsigned frame = is_arm ? CN_UNWIND_ARM_FP : machine->sp;

        begin(&f, machine);
        f.stack[3] = ELSEWHERE; /* in the library, but no place that calls */
        f.stack[8] = STACK + 0x400;
        f.stack[9] = AFTER_CALL;
        assert_true(cn_language_pcre.undo(f.pcre, &f.step));
        assert_int_equal(f.step.registers.value[machine->pc], AFTER_CALL);
        assert_int_equal(f.step.registers.value[frame],
                         is_arm ? STACK + 0x400 : STACK + 10 * 8);
        /* On aarch64 the stack pointer of the caller is not known. */
        assert_int_equal(f.step.registers.known,
                         UINT64_C(1) << machine->pc | UINT64_C(1) << frame);
        assert_int_equal(f.step.frame_count, 1);
        assert_string_equal(f.names.frames[0].function, "(regexp)");
        done(&f);
    }
}

static void leaves_other_code_alone(void **state)
{
    static struct fixture f;

    (void)state;
    assert_true(cn_language_pcre.is_runtime("/lib/libpcre2-16.so.0.11.2"));
    assert_false(cn_language_pcre.is_runtime("/lib/libpcre.so.3"));
    for (size_t i = 0; i < 2; i++) {
        begin(&f, &machines[i]);
        assert_false(cn_language_pcre.undo(f.pcre, &f.step)); /* nothing called it */
        f.stack[WORDS - 1] = AFTER_CALL;
        assert_false(cn_language_pcre.undo(f.pcre, &f.step)); /* too far away */
        f.stack[8] = STACK + 0x400;
        f.stack[9] = AFTER_CALL;
        f.step.has_rule = true;
        assert_false(cn_language_pcre.undo(f.pcre, &f.step)); /* tables know it */
        f.step.has_rule = false;
        f.step.stack.len = 9 * 8;
        assert_false(cn_language_pcre.undo(f.pcre, &f.step)); /* a short copy */
        f.step.stack.len = sizeof(f.stack);
        f.memory.left = 0;
        cn_memory_begin(&f.memory, 1, 0);
        assert_false(cn_language_pcre.undo(f.pcre, &f.step)); /* no memory */
        done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_code_of_expressions_by_the_place_that_called_it),
        cmocka_unit_test(leaves_other_code_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
