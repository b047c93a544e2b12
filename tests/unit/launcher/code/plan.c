/* Which functions without hooks can be patched: hand-made code of both processors. */

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "launcher/code/frames.h"
#include "launcher/code/plan.h"

enum { CODE = 0x1000, OTHER = 0x1100, DATA = 0x2000, ROOM = 0x200 };

static uint8_t code_bytes[ROOM], data_bytes[ROOM];

/* The code and data of one file, and what the plan for its first function is. */
struct file {
    struct cn_code code;
    struct cn_code_plan plan;
    size_t len;
};

static struct file file_of(unsigned machine, const void *bytes, size_t len)
{
    struct file file = {.code.machine = machine, .len = len};

    memset(code_bytes, 0xcc, sizeof(code_bytes));
    memset(data_bytes, 0, sizeof(data_bytes));
    memcpy(code_bytes, bytes, len);
    cn_code_add_section(
        &file.code, &(struct cn_code_section){CODE, {code_bytes, ROOM}, .is_code = true});
    cn_code_add_section(&file.code,
                        &(struct cn_code_section){DATA, {data_bytes, ROOM}, false});
    return file;
}

static const struct cn_rec_patch *plan_named(struct file *file, const char *name,
                                             enum cn_code_left expected)
{
    struct cn_code_function function = {CODE, file->len, name};

    cn_code_sort(&file->code);
    cn_code_plan_make(&file->plan, &file->code, &function, 1);
    for (int i = 0; i < CN_CODE_LEFT_COUNT; i++) {
        if (file->plan.left[i] != (i == (int)expected))
            fail_msg("%s, expected %s",
                     cn_code_left_text(i == (int)expected ? CN_CODE_PATCHED
                                                          : (enum cn_code_left)i),
                     cn_code_left_text(expected));
    }
    assert_int_equal(file->plan.count, expected == CN_CODE_PATCHED);
    return file->plan.patches;
}

static const struct cn_rec_patch *plan(struct file *file, enum cn_code_left expected)
{
    return plan_named(file, "function", expected);
}

static void done(struct file *file)
{
    cn_code_plan_done(&file->plan);
    cn_code_done(&file->code);
}

#define X86(...)                                       \
    file_of(EM_X86_64, (const uint8_t[]){__VA_ARGS__}, \
            sizeof((const uint8_t[]){__VA_ARGS__}))
#define ARM(...)                                         \
    file_of(EM_AARCH64, (const uint32_t[]){__VA_ARGS__}, \
            sizeof((const uint32_t[]){__VA_ARGS__}))

/* push %rbp; mov %rsp, %rbp; sub $16, %rsp; nop; leave; ret */
#define FRAME 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x90, 0xc9, 0xc3

static void moves_instructions_as_they_are(void **state)
{
    struct file file = X86(FRAME);
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);

    (void)state;
    assert_int_equal(patch->at, CODE);
    assert_int_equal(patch->len, 8);
    assert_int_equal(patch->code_len, 8);
    assert_int_equal(patch->fixup_count, 0);
    assert_memory_equal(patch->code, code_bytes, 8);
    assert_int_equal(patch->sum, cn_rec_patch_sum(code_bytes, 8));
    done(&file);
}

static void keeps_the_landing_place(void **state)
{
    struct file file = X86(0xf3, 0x0f, 0x1e, 0xfa, FRAME);

    (void)state;
    assert_int_equal(plan(&file, CN_CODE_PATCHED)->at, CODE + 4);
    done(&file);
}

static void changes_distances_from_the_instruction(void **state)
{
    /* cmpl $1, 0x100(%rip); ret */
    struct file file = X86(0x83, 0x3d, 0x00, 0x01, 0, 0, 0x01, 0xc3);
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);

    (void)state;
    assert_int_equal(patch->len, 7);
    assert_int_equal(patch->fixup_count, 1);
    assert_int_equal(patch->fixups[0].field, 2);
    assert_int_equal(patch->fixups[0].end, 7);
    assert_int_equal(patch->fixups[0].target, 0x107);
    done(&file);
}

static void makes_short_jumps_long(void **state)
{
    /* test %edi, %edi; je +5; mov $1, %eax; ret; ret at 10 */
    struct file file = X86(0x85, 0xff, 0x74, 6, 0xb8, 1, 0, 0, 0, 0xc3, 0xc3);
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);

    (void)state;
    assert_int_equal(patch->len, 9);
    assert_int_equal(patch->code_len, 13);
    assert_int_equal(patch->code[2], 0x0f);
    assert_int_equal(patch->code[3], 0x84);
    assert_int_equal(patch->fixups[0].field, 4);
    assert_int_equal(patch->fixups[0].end, 8);
    assert_int_equal(patch->fixups[0].target, 10);
    done(&file);
}

static void calls_return_to_where_they_were(void **state)
{
    /* sub $8, %rsp; call 0x1100; add $8, %rsp; ret */
    struct file file =
        X86(0x48, 0x83, 0xec, 0x08, 0xe8, 0xf7, 0, 0, 0, 0x48, 0x83, 0xc4, 0x08, 0xc3);
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);
    static const uint8_t expected[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0x35,
                                       5,    0,    0,    0,    0xe9};

    (void)state;
    assert_int_equal(patch->len, 9);
    assert_memory_equal(patch->code, expected, sizeof(expected));
    assert_int_equal(patch->fixups[0].target, OTHER - CODE);
    assert_int_equal(patch->fixups[0].field, 11);
    assert_int_equal(patch->fixups[1].kind, CN_REC_FIXUP_ADDRESS);
    assert_int_equal(patch->fixups[1].target, 9);
    assert_int_equal(patch->fixups[1].field, 15);
    assert_int_equal(patch->code_len, 23);
    done(&file);
}

/* One case after the other: their code is in the same memory. */
#define LEFT(reason, ...)               \
    do {                                \
        struct file left = __VA_ARGS__; \
                                        \
        (void)plan(&left, reason);      \
        done(&left);                    \
    } while (0)

static void leaves_what_cannot_be_moved(void **state)
{
    (void)state;
    LEFT(CN_CODE_TOO_SHORT, X86(0x31, 0xc0)); /* xor, without an end */
    LEFT(CN_CODE_TOO_SHORT, X86(0xeb, 0x10, 0x90, 0x90, 0x90, 0x90)); /* jmp; nops */
    LEFT(CN_CODE_CALL, X86(0xff, 0xd0, 0x90, 0x90, 0x90, 0xc3));      /* call *%rax */
    LEFT(CN_CODE_FIXED, X86(0x0f, 0x0b, 0x90, 0x90, 0x90, 0xc3));     /* ud2 */
    LEFT(CN_CODE_FIXED, X86(0x0f, 0x05, 0x90, 0x90, 0x90, 0xc3));     /* syscall */
    LEFT(CN_CODE_FIXED, X86(0x48, 0x8b, 0x04, 0x24, 0x90, 0xc3)); /* mov (%rsp), %rax */
    LEFT(CN_CODE_FIXED, X86(0xe3, 0x02, 0x90, 0x90, 0x90, 0xc3)); /* jrcxz */
    LEFT(CN_CODE_FIXED, X86(0x06, 0x90, 0x90, 0x90, 0x90, 0xc3)); /* no instruction */
}

static void fills_the_gap_after_a_short_function(void **state)
{
    struct file file = X86(0x31, 0xc0, 0xc3); /* xor %eax, %eax; ret; traps */
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);

    (void)state;
    assert_int_equal(patch->len, 5);
    assert_int_equal(patch->code_len, 3);
    assert_int_equal(patch->sum, cn_rec_patch_sum(code_bytes, 5));
    done(&file);

    file = X86(0x31, 0xc0, 0xc3); /* the next function */
    cn_code_add_address(&file.code.labels, CODE + 4);
    (void)plan(&file, CN_CODE_TOO_SHORT);
    done(&file);

    file = X86(0x31, 0xc0, 0xc3); /* other code */
    code_bytes[4] = 0xc3;
    (void)plan(&file, CN_CODE_TOO_SHORT);
    done(&file);

    file = X86(0x31, 0xc0, 0xc3); /* jmp to the gap, from elsewhere */
    code_bytes[0x100] = 0xe9;
    cn_u32_put(code_bytes + 0x101, (uint32_t)-0x101);
    (void)plan(&file, CN_CODE_JUMPED_INTO);
    done(&file);
}

static void leaves_what_is_jumped_into(void **state)
{
    (void)state;
    /* short and long, back to the second instruction */
    LEFT(CN_CODE_JUMPED_INTO, X86(FRAME, 0xeb, 0xf4));
    LEFT(CN_CODE_JUMPED_INTO, X86(FRAME, 0xe9, 0xf1, 0xff, 0xff, 0xff));
    LEFT(CN_CODE_JUMPED_INTO, X86(FRAME, 0x0f, 0x85, 0xf0, 0xff, 0xff, 0xff));
    /* lea of its address */
    LEFT(CN_CODE_JUMPED_INTO, X86(FRAME, 0x48, 0x8d, 0x05, 0xef, 0xff, 0xff, 0xff));
    LEFT(CN_CODE_LOOP, X86(FRAME, 0xeb, 0xf3));
    LEFT(CN_CODE_LOOP, X86(FRAME, 0xe9, 0xf0, 0xff, 0xff, 0xff));
    /* a call of itself is none */
    LEFT(CN_CODE_PATCHED, X86(FRAME, 0xe8, 0xf0, 0xff, 0xff, 0xff));
    /* nor is a jump to what follows the jump */
    LEFT(CN_CODE_PATCHED, X86(FRAME, 0xeb, 0xfb));
}

static void leaves_what_others_jump_into(void **state)
{
    struct file file = X86(FRAME);

    (void)state;
    code_bytes[0x100] = 0xe9; /* jmp CODE + 1 */
    cn_u32_put(code_bytes + 0x101, (uint32_t)-0x104);
    (void)plan(&file, CN_CODE_JUMPED_INTO);
    done(&file);

    file = X86(FRAME);
    file.code.has_pointers_in_data = true;
    cn_u64_put(data_bytes + 0x10, CODE + 4);
    (void)plan(&file, CN_CODE_JUMPED_INTO);
    done(&file);

    file = X86(FRAME);
    cn_code_add_address(&file.code.pointers, CODE + 4);
    (void)plan(&file, CN_CODE_JUMPED_INTO);
    done(&file);
}

/* lea DATA(%rip), %rdx; movslq (%rdx, %rax, 4), %rax; add %rdx, %rax; jmp *%rax */
#define SWITCH                                                                          \
    0x55, 0x48, 0x89, 0xe5, 0x90, 0x48, 0x8d, 0x15, 0xf4, 0x0f, 0, 0, 0x48, 0x63, 0x04, \
        0x82, 0x48, 0x01, 0xd0, 0xff, 0xe0, 0xc3

static void reads_jump_tables(void **state)
{
    struct file file = X86(SWITCH);

    (void)state;
    cn_u32_put(data_bytes, (uint32_t)(CODE + 0x15 - DATA));
    cn_u32_put(data_bytes + 4, (uint32_t)(CODE + 0x05 - DATA));
    cn_u32_put(data_bytes + 8, 0x1000000);
    (void)plan(&file, CN_CODE_PATCHED);
    done(&file);

    file = X86(SWITCH);
    cn_u32_put(data_bytes, (uint32_t)(CODE + 0x15 - DATA));
    cn_u32_put(data_bytes + 4, (uint32_t)(CODE + 0x04 - DATA));
    (void)plan(&file, CN_CODE_JUMPED_INTO);
    done(&file);

    file = X86(SWITCH); /* its entries are elsewhere */
    cn_u32_put(data_bytes, 0x1000000);
    (void)plan(&file, CN_CODE_TABLE);
    done(&file);
}

static void leaves_what_shares_code(void **state)
{
    struct file file = X86(FRAME);

    (void)state;
    cn_code_add_address(&file.code.labels, CODE);
    cn_code_add_address(&file.code.labels, CODE + 7);
    (void)plan(&file, CN_CODE_SHARED);
    done(&file);

    file = X86(FRAME);
    (void)plan_named(&file, "function.cold", CN_CODE_START);
    done(&file);
}

/* A common entry with the letters "zR", and a frame of `len` bytes with an instruction. */
static size_t put_frames(uint8_t *out, uint32_t len, uint8_t instruction)
{
    static const uint8_t common[] = {0x10, 0, 0, 0, 0,    0, 0,    0, 1, 'z',
                                     'R',  0, 1, 1, 0x10, 1, 0x1b, 0, 0, 0};

    memcpy(out, common, sizeof(common));
    cn_u32_put(out + 20, 0x10);
    cn_u32_put(out + 24, 24);
    cn_u32_put(out + 28, (uint32_t)(CODE - (DATA + 28)));
    cn_u32_put(out + 32, len);
    out[36] = 0;
    out[37] = instruction;
    return 40;
}

static void patches_only_functions_with_a_frame(void **state)
{
    struct file file = X86(FRAME);
    size_t len = put_frames(data_bytes, 11, 0x41);

    (void)state;
    cn_code_add_frames(&file.code, DATA, (struct cn_bytes){data_bytes, len});
    assert_int_equal(file.code.frame_count, 1);
    (void)plan(&file, CN_CODE_PATCHED);
    done(&file);

    file = X86(FRAME); /* its stack is not that of an entry: DW_CFA_def_cfa_offset */
    len = put_frames(data_bytes, 11, 0x0e);
    cn_code_add_frames(&file.code, DATA, (struct cn_bytes){data_bytes, len});
    (void)plan(&file, CN_CODE_NO_FRAME);
    done(&file);

    file = X86(FRAME); /* another function has one */
    len = put_frames(data_bytes, 11, 0x41);
    cn_u32_put(data_bytes + 28, (uint32_t)(OTHER - (DATA + 28)));
    cn_code_add_frames(&file.code, DATA, (struct cn_bytes){data_bytes, len});
    (void)plan(&file, CN_CODE_NO_FRAME);
    done(&file);
}

static void leaves_calls_with_handlers(void **state)
{
    /* no base, no types, numbers of variable length, one call */
    static const uint8_t handlers[] = {0xff, 0xff, 0x01, 4, 2, 3, 9, 0};
    struct cn_code_frame frame = {CODE, CODE + 11, DATA, true};
    struct file file;

    (void)state;
    for (uint8_t start = 2; start <= 8; start += 6) { /* in the prologue, after it */
        file = X86(FRAME);
        memcpy(data_bytes, handlers, sizeof(handlers));
        data_bytes[4] = start;
        file.code.frames = cn_alloc(1, sizeof(frame));
        file.code.frames[0] = frame;
        file.code.frame_count = file.code.frame_capacity = 1;
        (void)plan(&file, start == 2 ? CN_CODE_HANDLER : CN_CODE_PATCHED);
        done(&file);
    }
}

static void any_bytes_are_read_within_bounds(void **state)
{
    struct cn_code code = {.machine = EM_X86_64};
    uint8_t bytes[40];

    (void)state;
    (void)put_frames(bytes, 11, 0x41);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        for (unsigned value = 0; value < 256; value += 51) {
            uint8_t before = bytes[i];

            bytes[i] = (uint8_t)value;
            cn_code_add_frames(&code, DATA, (struct cn_bytes){bytes, sizeof(bytes)});
            cn_code_add_frames(&code, DATA, (struct cn_bytes){bytes, i});
            bytes[i] = before;
        }
    }
    cn_code_done(&code);
}

static void finds_nops_and_sleds(void **state)
{
    struct file file = X86(0xf3, 0x0f, 0x1e, 0xfa, 0x0f, 0x1f, 0x44, 0, 0, 0xc3);
    const struct cn_rec_patch *patch;

    (void)state;
    file.code.hooks = CN_CODE_NOPS;
    patch = plan(&file, CN_CODE_PATCHED);
    assert_int_equal(patch->at, CODE + 4);
    assert_int_equal(patch->code_len, 0);
    done(&file);

    file = X86(0x90, 0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0, 0xc3);
    file.code.hooks = CN_CODE_SLEDS;
    cn_code_add_address(&file.code.sleds, CODE + 1);
    patch = plan(&file, CN_CODE_PATCHED);
    assert_int_equal(patch->at, CODE + 1);
    assert_int_equal(patch->len, 11);
    done(&file);

    file = X86(FRAME);
    file.code.hooks = CN_CODE_NOPS;
    (void)plan(&file, CN_CODE_NO_HOOK);
    done(&file);
}

/* The last fixup but one is the way back, to the next instruction. */
static void check_arm(struct file file, uint32_t first, size_t len, int64_t target)
{
    const struct cn_rec_patch *patch = plan(&file, CN_CODE_PATCHED);

    assert_int_equal(patch->len, 4);
    assert_int_equal(patch->code_len, len);
    assert_int_equal(cn_u32_get(patch->code), first);
    assert_int_equal(patch->fixups[0].target, 4);
    if (target != 0)
        assert_int_equal(patch->fixups[1].target, target);
    done(&file);
}

static void moves_one_instruction_on_aarch64(void **state)
{
    (void)state;
    /* stp x29, x30, [sp, #-16]! */
    check_arm(ARM(0xa9bf7bfd, 0xd65f03c0), 0xa9bf7bfd, 8, 0);
    /* adrp x0, +0x2000; adr x3, -4: become ldr of the address */
    check_arm(ARM(0xd0000000, 0xd65f03c0), 0x58000040, 16, 0x2000);
    check_arm(ARM(0x10ffffe3, 0xd65f03c0), 0x58000043, 16, -4);
    /* ldr x5, +16; ldrsw x5, +16 */
    check_arm(ARM(0x58000085, 0xd65f03c0), 0x58000065, 20, 16);
    check_arm(ARM(0x98000085, 0xd65f03c0), 0x58000065, 20, 16);
    /* cbz x0, +8; b.ne +8; tbz w0, #3, +8: branch over the way back */
    check_arm(ARM(0xb4000040, 0xd65f03c0, 0xd65f03c0), 0xb4000040, 12, 8);
    check_arm(ARM(0x54000041, 0xd65f03c0, 0xd65f03c0), 0x54000041, 12, 8);
    check_arm(ARM(0x361800a0, 0xd65f03c0), 0x36180040, 12, 20);
}

static void leaves_functions_alone_on_aarch64(void **state)
{
    struct file file = ARM(0xd503245f, 0xa9bf7bfd, 0xd65f03c0); /* bti c; stp; ret */

    (void)state;
    assert_int_equal(plan(&file, CN_CODE_PATCHED)->at, CODE + 4);
    done(&file);
    LEFT(CN_CODE_CALL, ARM(0x94000010, 0xd65f03c0));             /* bl */
    LEFT(CN_CODE_FIXED, ARM(0xd4200000, 0xd65f03c0));            /* brk */
    LEFT(CN_CODE_FIXED, ARM(0x9c000085, 0xd65f03c0));            /* ldr q5 */
    LEFT(CN_CODE_LOOP, ARM(0xd1000400, 0xb5ffffe0, 0xd65f03c0)); /* cbnz x0, -4 */
    LEFT(CN_CODE_TOO_SHORT, ARM(0xd503245f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_instructions_as_they_are),
        cmocka_unit_test(keeps_the_landing_place),
        cmocka_unit_test(changes_distances_from_the_instruction),
        cmocka_unit_test(makes_short_jumps_long),
        cmocka_unit_test(calls_return_to_where_they_were),
        cmocka_unit_test(leaves_what_cannot_be_moved),
        cmocka_unit_test(fills_the_gap_after_a_short_function),
        cmocka_unit_test(leaves_what_is_jumped_into),
        cmocka_unit_test(leaves_what_others_jump_into),
        cmocka_unit_test(reads_jump_tables),
        cmocka_unit_test(leaves_what_shares_code),
        cmocka_unit_test(patches_only_functions_with_a_frame),
        cmocka_unit_test(leaves_calls_with_handlers),
        cmocka_unit_test(any_bytes_are_read_within_bounds),
        cmocka_unit_test(finds_nops_and_sleds),
    };
    const struct CMUnitTest arm_tests[] = {
        cmocka_unit_test(moves_one_instruction_on_aarch64),
        cmocka_unit_test(leaves_functions_alone_on_aarch64),
    };
    int failures = cmocka_run_group_tests(arm_tests, NULL, NULL);

    /* Without libcapstone, x86_64 code is unknown. */
    if (cn_prologue_is_known(EM_X86_64))
        failures += cmocka_run_group_tests(tests, NULL, NULL);
    return failures;
}
