/* Tables of call frame information: built, cached, used. */

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "support/scratch.h"
#include "support/skip.h"
#include "support/tiny_elf.h"
#include "unwind/expression.h"
#include "unwind/table.h"

static struct cn_bytes bytes_of(const struct cn_text *text)
{
    return (struct cn_bytes){(const uint8_t *)text->chars, text->len};
}

static void build_tiny(struct cn_unwind_table *table, enum cn_unwind_machine machine,
                       bool has_sections)
{
    struct cn_text text = cn_test_elf(machine, has_sections);
    struct cn_unwind_elf elf;

    assert_true(cn_unwind_elf_open(&elf, bytes_of(&text)));
    assert_int_equal(elf.machine, machine);
    cn_unwind_table_build(table, &elf);
    cn_text_done(&text);
}

static void check_cfa(const struct cn_unwind_table *table, uint64_t address,
                      unsigned number, int32_t offset, unsigned saved_count)
{
    const uint32_t *rule = cn_unwind_table_find(table, address);

    assert_non_null(rule);
    assert_int_equal(cn_unwind_rule_cfa(rule[0]), CN_UNWIND_CFA_REGISTER);
    assert_int_equal(cn_unwind_rule_cfa_register(rule[0]), number);
    assert_int_equal((int32_t)rule[1], offset);
    assert_int_equal(cn_unwind_rule_flags(rule[0]) & CN_UNWIND_COUNT_MASK, saved_count);
}

static void rows_are_the_states_between_locations(void **state)
{
    struct cn_unwind_table table;

    (void)state;
    for (unsigned has_sections = 0; has_sections < 2; has_sections++) {
        build_tiny(&table, CN_UNWIND_X86_64, has_sections);
        assert_null(cn_unwind_table_find(&table, CN_TEST_ELF_CODE - 1));
        check_cfa(&table, CN_TEST_ELF_CODE, 7, 8, 1);
        check_cfa(&table, CN_TEST_ELF_CODE + 1, 7, 16, 2);
        check_cfa(&table, CN_TEST_ELF_CODE + 3, 7, 16, 2);
        check_cfa(&table, CN_TEST_ELF_CODE + 4, 6, 16, 2);
        check_cfa(&table, CN_TEST_ELF_CODE + 0x20, 7, 8, 1);
        check_cfa(&table, CN_TEST_ELF_CODE + 0x28, 6, 16, 2);
        check_cfa(&table, CN_TEST_ELF_CODE + 0x3f, 6, 16, 2);
        assert_null(cn_unwind_table_find(&table, CN_TEST_ELF_CODE + 0x40));
        assert_null(cn_unwind_table_find(&table, CN_TEST_ELF_SIGNAL - 1));
        assert_non_null(cn_unwind_table_find(&table, CN_TEST_ELF_SIGNAL));
        assert_null(cn_unwind_table_find(&table, CN_TEST_ELF_SIGNAL + 0x10));
        cn_unwind_table_done(&table);
    }
}

static void signed_return_addresses_are_known(void **state)
{
    struct cn_unwind_table table;
    const uint32_t *rule;

    (void)state;
    build_tiny(&table, CN_UNWIND_AARCH64, true);
    check_cfa(&table, CN_TEST_ELF_CODE, 31, 0, 0);
    check_cfa(&table, CN_TEST_ELF_CODE + 8, 31, 32, 2);
    check_cfa(&table, CN_TEST_ELF_CODE + 12, 31, 32, 3);
    rule = cn_unwind_table_find(&table, CN_TEST_ELF_CODE);
    assert_int_equal(cn_unwind_rule_return(rule[0]), 30);
    assert_false(cn_unwind_rule_flags(rule[0]) & CN_UNWIND_IS_SIGNED);
    rule = cn_unwind_table_find(&table, CN_TEST_ELF_CODE + 4);
    assert_true(cn_unwind_rule_flags(rule[0]) & CN_UNWIND_IS_SIGNED);
    cn_unwind_table_done(&table);
}

static void a_cached_table_is_the_same_and_damage_is_refused(void **state)
{
    struct cn_unwind_table table, decoded;
    struct cn_error err = {0};
    struct cn_text text = {0}, again = {0};

    (void)state;
    build_tiny(&table, CN_UNWIND_X86_64, true);
    cn_unwind_table_encode(&table, &text);
    assert_true(cn_unwind_table_decode(&decoded, bytes_of(&text), &err));
    cn_unwind_table_encode(&decoded, &again);
    assert_int_equal(text.len, again.len);
    assert_memory_equal(text.chars, again.chars, text.len);
    cn_unwind_table_done(&decoded);
    for (size_t len = 0; len < text.len; len++)
        assert_false(cn_unwind_table_decode(
            &decoded, (struct cn_bytes){(const uint8_t *)text.chars, len}, &err));
    for (size_t bit = 0; bit < 8 * text.len; bit++) {
        text.chars[bit / 8] = (char)(text.chars[bit / 8] ^ (1 << bit % 8));
        assert_false(cn_unwind_table_decode(&decoded, bytes_of(&text), &err));
        text.chars[bit / 8] = (char)(text.chars[bit / 8] ^ (1 << bit % 8));
    }
    cn_text_done(&text);
    cn_text_done(&again);
    cn_unwind_table_done(&table);
}

/* A space with a tiny file, written to the scratch folder, mapped at its own addresses. */
static struct cn_unwind_space *map_tiny(struct cn_unwinder *unwinder,
                                        enum cn_unwind_machine machine)
{
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_text text = cn_test_elf(machine, true);
    char path[4096];

    cn_scratch_write("tiny", text.chars, text.len);
    assert_non_null(getcwd(path, sizeof(path) - 8));
    (void)strcat(path, "/tiny");
    cn_unwind_space_map(space, 0x401000, 0x402000, 0, path, "");
    cn_text_done(&text);
    return space;
}

/* A module that is not at its path, and whose copy perf has made. */
static void files_are_found_by_build_id(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_unwind_registers registers = {.machine = CN_UNWIND_X86_64,
                                            .known = 0x1ffff};
    struct cn_text text = cn_test_elf(CN_UNWIND_X86_64, true);
    uint8_t stack[16] = {0};
    uint64_t found[4];
    enum cn_unwind_end end;
    char home[4096];

    (void)state;
    cn_unwinder_set_no_cache(unwinder);
    assert_non_null(getcwd(home, sizeof(home)));
    assert_int_equal(setenv("HOME", home, 1), 0);
    assert_int_equal(system("mkdir -p .debug/.build-id/01/23456789"), 0);
    cn_scratch_write(".debug/.build-id/01/23456789/elf", text.chars, text.len);
    cn_unwind_space_map(space, 0x401000, 0x402000, 0, "/nowhere/tiny", "0123456789");
    registers.value[CN_UNWIND_X86_RIP] = CN_TEST_ELF_CODE;
    registers.value[CN_UNWIND_X86_RSP] = 0x7000;
    cn_u64_put(stack, CN_TEST_ELF_CODE + 0x30);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 16},
                               found, 4, &end),
                     2);
    assert_int_equal(found[1], CN_TEST_ELF_CODE + 0x30);
    cn_text_done(&text);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void frames_are_left_by_their_rules(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space;
    struct cn_unwind_registers registers = {.machine = CN_UNWIND_X86_64,
                                            .known = 0x1ffff};
    uint8_t stack[512] = {0};
    uint64_t found[8];
    enum cn_unwind_end end;

    (void)state;
    cn_unwinder_set_no_cache(unwinder);
    space = map_tiny(unwinder, CN_UNWIND_X86_64);
    /* In the handler of a signal that interrupted a frame at its first instruction. */
    registers.value[CN_UNWIND_X86_RIP] = CN_TEST_ELF_CODE + 0x10;
    registers.value[CN_UNWIND_X86_RSP] = 0x7000;
    registers.value[CN_UNWIND_X86_RBP] = 0x7010;
    cn_u64_put(stack + 0x10, 0x7fff);                 /* rbp */
    cn_u64_put(stack + 0x18, CN_TEST_ELF_SIGNAL + 1); /* after the handler */
    cn_u64_put(stack + 0x20 + 160, 0x7100);           /* rsp of what was interrupted */
    cn_u64_put(stack + 0x20 + 168, CN_TEST_ELF_CODE);
    cn_u64_put(stack + 0x100, CN_TEST_ELF_CODE + 2);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 512},
                               found, 8, &end),
                     4);
    assert_int_equal(found[1], CN_TEST_ELF_SIGNAL + 1);
    assert_int_equal(found[2], CN_TEST_ELF_CODE);
    assert_int_equal(found[3], CN_TEST_ELF_CODE + 2);
    /* The copy ends where the return address of the interrupted function is. */
    assert_int_equal(cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 0x104},
                               found, 8, &end),
                     3);
    assert_int_equal(end, CN_UNWIND_CUT);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void authentication_codes_are_removed(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space;
    struct cn_unwind_registers registers = {.machine = CN_UNWIND_AARCH64,
                                            .known = 0x1ffffffff};
    uint8_t stack[128] = {0};
    uint64_t found[8];
    enum cn_unwind_end end;

    (void)state;
    cn_unwinder_set_no_cache(unwinder);
    space = map_tiny(unwinder, CN_UNWIND_AARCH64);
    registers.value[CN_UNWIND_ARM_PC] = CN_TEST_ELF_CODE;
    registers.value[CN_UNWIND_ARM_LR] = CN_TEST_ELF_CODE + 0x20;
    registers.value[CN_UNWIND_ARM_SP] = 0x7000;
    cn_u64_put(stack, 0);                                                  /* x29 */
    cn_u64_put(stack + 8, 0x00a5000000000000 | (CN_TEST_ELF_CODE + 0x30)); /* x30 */
    cn_u64_put(stack + 0x28, 0);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 128},
                               found, 8, &end),
                     3);
    assert_int_equal(found[1], CN_TEST_ELF_CODE + 0x20);
    assert_int_equal(found[2], CN_TEST_ELF_CODE + 0x30);
    assert_int_equal(end, CN_UNWIND_WHOLE);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

/* The memory of a recorder: one word, which may have changed. */
static bool read_word(void *arg, uint64_t address, uint64_t *out)
{
    assert_int_equal(address, 0x9000);
    *out = *(const uint64_t *)arg;
    return *out != 0;
}

static void replaced_return_addresses_are_found(void **state)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space;
    struct cn_unwind_registers registers = {.machine = CN_UNWIND_X86_64,
                                            .known = 0x1ffff};
    uint64_t found[4], word = CN_TEST_ELF_AFTER_CALL - 1;
    uint8_t stack[64] = {0};
    struct cn_bytes copy = {stack, sizeof(stack)};
    enum cn_unwind_end end;

    (void)state;
    cn_unwinder_set_no_cache(unwinder);
    space = map_tiny(unwinder, CN_UNWIND_X86_64);
    registers.value[CN_UNWIND_X86_RIP] = CN_TEST_ELF_CODE;
    registers.value[CN_UNWIND_X86_RSP] = 0x7000;
    registers.value[CN_UNWIND_X86_RBP] = 0x7010;
    cn_u64_put(stack, CN_TEST_ELF_REPLACED + 1);
    cn_u64_put(stack + 0x18, 0); /* the caller's return address */
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 4, &end), 2);
    assert_int_equal(end, CN_UNWIND_BAD);
    cn_unwind_space_set_memory(space, read_word, &word);
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 4, &end), 2);
    assert_int_equal(end, CN_UNWIND_WHOLE);
    assert_int_equal(found[1], CN_TEST_ELF_AFTER_CALL);
    /* No call is before it: the function has returned, and another word is there. */
    word++;
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 4, &end), 2);
    assert_int_equal(end, CN_UNWIND_UNKNOWN);
    assert_int_equal(found[1], CN_TEST_ELF_REPLACED + 1);
    /* It returns to itself for ever. */
    word = CN_TEST_ELF_REPLACED_CALL - 1;
    assert_int_equal(cn_unwind(space, &registers, 0x7000, copy, found, 4, &end), 1);
    assert_int_equal(end, CN_UNWIND_CUT);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void signal_frames_have_the_layout_of_the_kernel(void **state)
{
    enum { X86_RSP_OFF = 40 + 8 * 15, ARM_SP_OFF = 312 + 8 * 31 };

    (void)state;
    for (unsigned is_arm = 0; is_arm < 2; is_arm++) {
        struct cn_unwinder *unwinder = cn_unwinder_new();
        struct cn_unwind_space *space;
        struct cn_unwind_registers registers = {.machine = is_arm ? CN_UNWIND_AARCH64
                                                                  : CN_UNWIND_X86_64,
                                                .known = UINT64_MAX};
        uint8_t stack[1024] = {0}, *saved = stack + (is_arm ? ARM_SP_OFF : X86_RSP_OFF);
        uint64_t found[8];
        enum cn_unwind_end end;

        cn_unwinder_set_no_cache(unwinder);
        space = map_tiny(unwinder, registers.machine);
        registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] =
            CN_TEST_ELF_RETURN;
        registers.value[is_arm ? CN_UNWIND_ARM_SP : CN_UNWIND_X86_RSP] = 0x7000;
        cn_u64_put(saved, 0x7300);
        cn_u64_put(saved + 8,
                   CN_TEST_ELF_CODE); /* the instruction that was interrupted */
        cn_u64_put(saved - 8, is_arm ? CN_TEST_ELF_CODE + 0x20 : 0);  /* lr */
        cn_u64_put(stack + 0x300, is_arm ? 0 : CN_TEST_ELF_CODE + 2); /* return address */
        (void)cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 1024}, found,
                        3, &end);
        assert_int_equal(found[0], CN_TEST_ELF_RETURN);
        assert_int_equal(found[1], CN_TEST_ELF_CODE);
        assert_int_equal(found[2], CN_TEST_ELF_CODE + (is_arm ? 0x20 : 2));
        cn_unwind_space_free(space);
        cn_unwinder_free(unwinder);
    }
}

/* The vDSO and the PLT have no tables on aarch64. */
static void arm_code_without_tables_is_read(void **state)
{
    enum { FUNCTION = 0x401800, PLT = 0x401840, RETURN = 0x401884, BASE = 0x401000 };
    static const uint32_t function[] = {0xd503233f, 0xa9bf7bfd, 0x910003fd, 0x71005c1f};
    static const uint32_t plt[] = {0x90000010, 0xf9400211, 0x91000210, 0xd61f0220};
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_text text = cn_test_elf(CN_UNWIND_AARCH64, true);
    uint8_t image[0xa00] = {0}, stack[64] = {0};
    char path[4096];

    (void)state;
    assert_true(text.len <= FUNCTION - BASE);
    memcpy(image, text.chars, text.len);
    for (unsigned i = 0; i < 4; i++) {
        cn_u32_put(image + FUNCTION - BASE + 4 * i, function[i]);
        cn_u32_put(image + PLT - BASE + 4 * i, plt[i]);
    }
    cn_u32_put(image + RETURN - BASE - 4, 0x94000000); /* bl */
    cn_scratch_write("tiny", (const char *)image, sizeof(image));
    assert_non_null(getcwd(path, sizeof(path) - 8));
    (void)strcat(path, "/tiny");
    cn_unwinder_set_no_cache(unwinder);
    cn_unwind_space_map(space, 0x401000, 0x402000, 0, path, "");
    cn_u64_put(stack, 0x7100); /* the caller's frame pointer */
    cn_u64_put(stack + 8, RETURN);
    for (unsigned i = 0; i < 8; i++) {
        struct cn_unwind_registers registers = {.machine = CN_UNWIND_AARCH64,
                                                .known = UINT64_MAX};
        bool is_pushed = i == 2 || i == 3;
        uint64_t found[4] = {0};
        enum cn_unwind_end end;

        registers.value[CN_UNWIND_ARM_PC] = i < 4 ? FUNCTION + 4 * i : PLT + 4 * (i - 4);
        registers.value[CN_UNWIND_ARM_SP] = 0x7000;
        registers.value[CN_UNWIND_ARM_FP] = i == 3 ? 0x7000 : 0x7100;
        registers.value[CN_UNWIND_ARM_LR] = is_pushed ? 0 : RETURN;
        (void)cn_unwind(space, &registers, 0x7000, (struct cn_bytes){stack, 64}, found, 4,
                        &end);
        assert_int_equal(found[1], RETURN);
    }
    cn_text_done(&text);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static bool no_memory(const void *arg, uint64_t address, uint64_t *out)
{
    (void)arg;
    *out = address + 1;
    return address != 0;
}

static void expressions_compute(void **state)
{
    static const struct {
        uint8_t code[12];
        uint8_t len;
        bool ok;
        uint64_t value;
    } cases[] = {
        /* What linkers write for PLT entries: rsp + 8 + (rip % 16 >= 11) * 8. */
        {{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 11, true, 0x7010},
        {{0x08, 0xff, 0x09, 0xff, 0x22}, 5, true, 0xfe}, /* 255 + -1 */
        {{0x11, 0x7f, 0x06}, 3, true, 0},                /* the word at -1 */
        {{0x30, 0x06}, 2, false, 0},                     /* the word at 0 */
        {{0x35, 0x32, 0x1b}, 3, true, 2},                /* 5 / 2 */
        {{0x35, 0x30, 0x1b}, 3, false, 0},               /* 5 / 0 */
        {{0x31, 0x28, 1, 0, 0x30, 0x35}, 6, true, 5},    /* a branch that is taken */
        {{0x2f, 0xfd, 0xff}, 3, false, 0},               /* a cycle */
        {{0x35, 0x36, 0x37, 0x17}, 4, true, 6},          /* rotate */
        {{0x35, 0x36, 0x15, 1}, 4, true, 5},             /* pick */
        {{0x22}, 1, false, 0},
        {{0x92, 0x80}, 2, false, 0},
        {{0x92, 0x21, 0}, 3, false, 0}, /* a register without a value */
        {{0}, 0, false, 0},
    };
    struct cn_unwind_registers registers = {.machine = CN_UNWIND_X86_64,
                                            .known = 0x1ffff};

    (void)state;
    registers.value[CN_UNWIND_X86_RSP] = 0x7000;
    registers.value[CN_UNWIND_X86_RIP] = 0x40100b;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t value = 0;

        assert_int_equal(
            cn_unwind_evaluate((struct cn_bytes){cases[i].code, cases[i].len}, &registers,
                               NULL, no_memory, NULL, &value),
            cases[i].ok);
        if (cases[i].ok)
            assert_int_equal(value, cases[i].value);
    }
}

static bool is_file(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Unwind one frame of a library, which loads its table. */
static void use_table(const char *library, const char *build_id)
{
    struct cn_unwinder *unwinder = cn_unwinder_new();
    struct cn_unwind_space *space = cn_unwind_space_new(unwinder);
    struct cn_unwind_registers registers = {.machine = cn_unwind_machine_here(),
                                            .known = UINT64_MAX};
    uint64_t found[2];
    enum cn_unwind_end end;

    cn_unwind_space_map(space, 0x1000, UINT32_MAX, 0, library, build_id);
    for (size_t i = 0; i < CN_UNWIND_REGISTER_MAX; i++)
        registers.value[i] = 0x2000;
    (void)cn_unwind(space, &registers, 0x2000, (struct cn_bytes){(const uint8_t *)"", 0},
                    found, 2, &end);
    cn_unwind_space_free(space);
    cn_unwinder_free(unwinder);
}

static void tables_are_cached_and_damaged_ones_replaced(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_unwind_table table;
    struct cn_unwind_elf elf;
    char folder[4096], path[4096 + 256];
    Dl_info library;

    (void)state;
    assert_int_not_equal(dladdr((const void *)(uintptr_t)qsort, &library), 0);
    assert_true(cn_file_open(&file, library.dli_fname, &err));
    assert_true(cn_unwind_elf_open(&elf, file.bytes));
    cn_unwind_table_build(&table, &elf);
    if (!elf.build_id[0] || table.row_count < 4096)
        CN_SKIP("the C library has no build id, or too few rows to be stored");
    cn_unwind_table_done(&table);
    cn_file_close(&file);
    assert_non_null(getcwd(folder, sizeof(folder)));
    assert_int_equal(setenv("XDG_CACHE_HOME", folder, 1), 0);
    (void)snprintf(path, sizeof(path), "%s/cairn/unwind/%s", folder, elf.build_id);
    /* A build-id that is not that of the file is not stored, nor is it a path. */
    use_table(library.dli_fname, "00000000000000000000");
    use_table(library.dli_fname, "../../../../oh");
    assert_false(is_file(path));
    for (unsigned round = 0; round < 3; round++) {
        use_table(library.dli_fname, round % 2 ? elf.build_id : "");
        assert_true(cn_file_open(&file, path, &err));
        assert_true(cn_unwind_table_decode(&table, file.bytes, &err));
        cn_unwind_table_done(&table);
        cn_file_close(&file);
        cn_scratch_write(path, "damaged", 7);
    }
}

/* This program itself. */
static void real_files_have_tables(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_unwind_table table, decoded;
    struct cn_unwind_elf elf;
    struct cn_text text = {0};

    (void)state;
    assert_true(cn_file_open(&file, "/proc/self/exe", &err));
    assert_true(cn_unwind_elf_open(&elf, file.bytes));
    cn_unwind_table_build(&table, &elf);
    assert_true(table.row_count > 1000);
    cn_unwind_table_encode(&table, &text);
    assert_true(cn_unwind_table_decode(&decoded, bytes_of(&text), &err));
    for (size_t i = 0; i < table.row_count; i++) {
        const uint32_t *rule = cn_unwind_table_find(&table, table.base + table.begins[i]);

        assert_int_equal(rule ? rule - table.words : 0, table.rules[i]);
        assert_int_equal(decoded.rules[i], table.rules[i]);
    }
    cn_text_done(&text);
    cn_unwind_table_done(&table);
    cn_unwind_table_done(&decoded);
    cn_file_close(&file);
}

/* As the vDSO has it: a function that saves its frame and returns in its middle, and the way out of
 * signal handlers. */
static void code_of_the_vdso_tells_its_frames(void **state)
{
    static const uint32_t code[] = {
        0xd503233f, /* paciasp */
        0xa9be7bfd, /* stp x29, x30, [sp, #-32]! */
        0xd503201f, /* nop */
        0xa8c27bfd, /* ldp x29, x30, [sp], #32 */
        0xd50323bf, /* autiasp */
        0xd65f03c0, /* ret */
        0xd503201f, /* nop, with the frame */
        0xd503201f, /* nop, before the trampoline */
        0xd2801168, /* mov x8, #139 */
        0xd4000001, /* svc #0 */
        0xd503233f, /* paciasp */
    };
    static const int32_t frames[] = {0, 0, 32, 32, 0, 0, 32, -1, -1, -1, 0};
    const struct cn_unwind_elf elf = {
        .machine = CN_UNWIND_AARCH64,
        .segments = {{.address = 0x400, .file_off = 0, .len = sizeof(code)}},
        .segment_count = 1,
        .file = {(const uint8_t *)code, sizeof(code)},
    };
    struct cn_unwind_table table;

    (void)state;
    cn_unwind_table_build(&table, &elf);
    assert_int_equal(table.row_count, 0);
    cn_unwind_table_add_code(&table, &elf);
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
        if (frames[i] < 0)
            assert_null(cn_unwind_table_find(&table, 0x400 + 4 * i));
        else
            check_cfa(&table, 0x400 + 4 * i, CN_UNWIND_ARM_SP, frames[i],
                      frames[i] > 0 ? 2 : 0);
    }
    cn_unwind_table_done(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_states_between_locations),
        cmocka_unit_test(signed_return_addresses_are_known),
        cmocka_unit_test(code_of_the_vdso_tells_its_frames),
        cmocka_unit_test(a_cached_table_is_the_same_and_damage_is_refused),
        CN_SCRATCH_TEST(frames_are_left_by_their_rules),
        CN_SCRATCH_TEST(files_are_found_by_build_id),
        CN_SCRATCH_TEST(authentication_codes_are_removed),
        CN_SCRATCH_TEST(replaced_return_addresses_are_found),
        CN_SCRATCH_TEST(signal_frames_have_the_layout_of_the_kernel),
        CN_SCRATCH_TEST(arm_code_without_tables_is_read),
        cmocka_unit_test(expressions_compute),
        CN_SCRATCH_TEST(tables_are_cached_and_damaged_ones_replaced),
        cmocka_unit_test(real_files_have_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
