#include "sampler/languages/erlang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "formats/exchange/perf/stored_names.h"
#include "sampler/languages/runtimes.h"
#include "support/erlang_image.h"

struct fixture {
    struct cn_text image;
    size_t len; /* of what can be read */
    struct cn_memory memory;
    struct cn_stored_names names;
    struct cn_unwind_step step;
    void *erlang;
};

static bool copy_image(void *arg, uint64_t address, void *out, size_t len)
{
    const struct fixture *f = arg;

    if (address < CN_ERLANG_BASE || address - CN_ERLANG_BASE > f->len ||
        len > f->len - (address - CN_ERLANG_BASE))
        return false;
    memcpy(out, f->image.chars + (address - CN_ERLANG_BASE), len);
    return true;
}

static struct fixture *begin(void)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->image = cn_erlang_image();
    f->len = f->image.len;
    f->memory.copy = copy_image;
    f->memory.arg = f;
    f->erlang = cn_erlang_open(&f->memory, CN_ERLANG_DESCRIPTOR, &f->names);
    return f;
}

static void done(struct fixture *f)
{
    cn_language_erlang.close(f->erlang);
    cn_stored_names_done(&f->names);
    cn_text_done(&f->image);
    free(f);
}

/* The frame of a program counter, NULL if it is none of Erlang. */
static const struct cn_stored_frame *frame_at(struct fixture *f, uint64_t pc,
                                              bool is_innermost, bool *is_undone)
{
    bool is_arm = cn_unwind_machine_here() == CN_UNWIND_AARCH64;

    f->step = (struct cn_unwind_step){.is_innermost = is_innermost};
    f->step.registers.machine = cn_unwind_machine_here();
    f->step.registers.known = UINT64_MAX;
    f->step.registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = pc;
    cn_memory_begin(&f->memory, 1, 1 << 18);
    *is_undone = cn_language_erlang.undo(f->erlang, &f->step);
    if (f->step.frame_count == 0)
        return NULL;
    for (size_t i = 0; i < f->names.count; i++)
        if (cn_stored_names_address(&f->names, &f->names.frames[i]) == f->step.frames[0])
            return &f->names.frames[i];
    return NULL;
}

static void expect(struct fixture *f, uint64_t pc, bool is_innermost, const char *name,
                   uint32_t line)
{
    bool is_undone;
    const struct cn_stored_frame *frame = frame_at(f, pc, is_innermost, &is_undone);

    assert_non_null(frame);
    assert_string_equal(frame->function, name);
    assert_int_equal(frame->line, line);
    if (line > 0)
        assert_string_equal(frame->file, "shop.erl");
    assert_true(is_undone);
    /* Its caller is not in the copy of the stack, which is empty. */
    assert_int_equal(f->step.registers.known & ~(UINT64_C(1) << CN_UNWIND_X86_RSP), 0);
}

/* The frames of a copy of a stack, from a program counter on; "?" ends them as unknown. */
static void expect_stack(const uint64_t *words, size_t count, uint64_t pc,
                         const char *frames)
{
    enum { STACK = 0x9000 };
    const uint64_t has_pc = UINT64_C(1) << CN_UNWIND_X86_RIP;
    struct fixture *f = begin();
    struct cn_unwind_step step = {
        .is_innermost = true,
        .stack_begin = STACK,
        .stack = {(const uint8_t *)words, count * sizeof(*words)},
    };
    struct cn_text seen = {0};

    step.registers.machine = CN_UNWIND_X86_64;
    step.registers.value[CN_UNWIND_X86_RIP] = pc;
    step.registers.value[CN_UNWIND_X86_RSP] = STACK;
    step.registers.known = has_pc;
    while (step.registers.known & has_pc &&
           step.registers.value[CN_UNWIND_X86_RIP] != 0) {
        step.frame_count = 0;
        cn_memory_begin(&f->memory, 1, 1 << 18);
        assert_true(cn_language_erlang.undo(f->erlang, &step));
        assert_int_equal(step.frame_count, 1);
        for (size_t k = 0; k < f->names.count; k++)
            if (cn_stored_names_address(&f->names, &f->names.frames[k]) == step.frames[0])
                cn_text_printf(&seen, "%s ", f->names.frames[k].function);
        step.is_innermost = false;
    }
    if (!(step.registers.known & has_pc))
        cn_text_char(&seen, '?');
    assert_string_equal(cn_text_str(&seen), frames);
    cn_text_done(&seen);
    done(f);
}

static void finds_callers_on_the_stack_of_a_process(void **state)
{
    enum { CALL = CN_ERLANG_CODE + 0x48, LAST = CN_ERLANG_CODE + 0x84, NIL = 0x3b };
    const uint64_t whole[] = {NIL, CALL, 0x7e2f, NIL, CALL, LAST, 0x1001};
    const uint64_t shared[] = {CALL + 1, CALL, LAST};
    const uint64_t strange[] = {NIL, 0x70000, CALL, LAST};
    const uint64_t unaligned[] = {NIL, CALL + 1, NIL};

    (void)state;
    expect_stack(whole, 7, CN_ERLANG_CODE + 0x40,
                 "shop:total/1 shop:total/1 shop:total/1 erts_beamasm:normal_exit/0 ");
    expect_stack(whole, 3, CN_ERLANG_CODE + 0x40, "shop:total/1 shop:total/1 ?");
    expect_stack(shared, 3, CN_ERLANG_SHARED + 8,
                 "global::call_light_bif_shared shop:total/1 shop:total/1 "
                 "erts_beamasm:normal_exit/0 ");
    expect_stack(strange, 4, CN_ERLANG_CODE + 0x40, "shop:total/1 ?");
    expect_stack(unaligned, 3, CN_ERLANG_CODE + 0x40, "shop:total/1 ?");
}

static void names_functions_with_their_lines(void **state)
{
    struct fixture *f = begin();
    bool is_undone;
    char *hint;

    (void)state;
    assert_null(cn_language_erlang.hint(f->erlang));
    expect(f, CN_ERLANG_CODE + 0x40, true, "shop:total/1", 12);
    expect(f, CN_ERLANG_CODE + 0x48, true, "shop:total/1", 13);
    expect(f, CN_ERLANG_CODE + 0x48, false, "shop:total/1", 12); /* after a call */
    expect(f, CN_ERLANG_CODE + 0x7f, true, "shop:total/1", 14);
    expect(f, CN_ERLANG_CODE + 0x20, true, "shop:total/1", 12); /* before it */
    expect(f, CN_ERLANG_CODE + 0x90, true, "(Erlang)", 0);      /* in no range */
    assert_null(frame_at(f, CN_ERLANG_CODE + 0x100, true, &is_undone));
    /* Code on the way to C has a frame while it calls. */
    expect(f, CN_ERLANG_SHARED + 8, true, "global::call_light_bif_shared", 0);
    assert_null(frame_at(f, CN_ERLANG_CODE - 1, true, &is_undone)); /* a stack of C */
    assert_string_equal(frame_at(f, CN_ERLANG_SHARED + 8, false, &is_undone)->function,
                        "global::call_light_bif_shared");
    assert_false(is_undone);
    hint = cn_language_erlang.hint(f->erlang);
    assert_non_null(strstr(hint, "without their callers"));
    free(hint);
    /* What was read is known after the end of the process. */
    f->len = 0;
    expect(f, CN_ERLANG_CODE + 0x40, true, "shop:total/1", 12);
    done(f);
}

static void forgets_modules_that_were_unloaded(void **state)
{
    struct fixture *f = begin();
    uint8_t *entry = (uint8_t *)f->image.chars + 0x40;
    bool is_undone;

    (void)state;
    expect(f, CN_ERLANG_CODE + 0x40, true, "shop:total/1", 12);
    cn_u64_put(entry + 16, 0x7777);
    assert_null(frame_at(f, CN_ERLANG_CODE + 0x40, true, &is_undone));
    done(f);
}

static void survives_any_memory(void **state)
{
    (void)state;
    for (size_t at = 0; at < 0x400; at++)
        for (unsigned kind = 0; kind < 3; kind++) {
            struct fixture *f = begin();
            bool is_undone;

            f->image.chars[at] = (char)(kind == 0 ? 0xff : kind == 1 ? 0x40 : 0x10);
            for (int i = 0; i < 3; i++) {
                (void)frame_at(f, CN_ERLANG_CODE + 0x48, true, &is_undone);
                (void)frame_at(f, CN_ERLANG_SHARED, true, &is_undone);
            }
            done(f);
        }
}

static void tells_an_erlang_without_compiled_code(void **state)
{
    struct cn_memory memory = {0};
    void *erlang = cn_erlang_open(&memory, 0, NULL);
    struct cn_unwind_step step = {0};
    char *hint = cn_language_erlang.hint(erlang);

    (void)state;
    assert_non_null(strstr(hint, "not supported"));
    assert_false(cn_language_erlang.undo(erlang, &step));
    assert_true(cn_language_erlang.is_runtime("/usr/lib/erlang/erts-13/bin/beam.smp"));
    assert_false(cn_language_erlang.is_runtime("/usr/bin/erl"));
    free(hint);
    cn_language_erlang.close(erlang);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_functions_with_their_lines),
        cmocka_unit_test(finds_callers_on_the_stack_of_a_process),
        cmocka_unit_test(forgets_modules_that_were_unloaded),
        cmocka_unit_test(survives_any_memory),
        cmocka_unit_test(tells_an_erlang_without_compiled_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
