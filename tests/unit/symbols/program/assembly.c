#include "symbols/program/assembly.h"
#include "support/skip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { AT = 0x1000 };

static void decode(struct cn_assembly *assembly, const uint8_t *code, size_t len,
                   bool is_x86)
{
    struct cn_error err = {0};

    *assembly = (struct cn_assembly){.offset = AT, .size = len};
    if (cn_assembly_decode(assembly, (struct cn_bytes){code, len}, is_x86, &err))
        return;
    assert_non_null(strstr(err.text, "libcapstone"));
    CN_SKIP(err.text);
}

static void code_of_x86_64_is_printed(void **state)
{
    static const uint8_t code[] = {
        0x55,                         /* push %rbp */
        0x48, 0x89, 0xe5,             /* mov %rsp, %rbp */
        0x83, 0xef, 0x01,             /* sub $1, %edi */
        0x75, 0xfb,                   /* jne, to the subtraction */
        0xe8, 0xf2, 0x0f, 0x00, 0x00, /* call of 0x2000 */
        0x5d,                         /* pop %rbp */
        0xc3,                         /* ret */
    };
    struct cn_assembly assembly;

    (void)state;
    decode(&assembly, code, sizeof(code), true);
    assert_int_equal(assembly.count, 7);
    assert_string_equal(assembly.list[1].text, "movq %rsp, %rbp");
    assert_int_equal(assembly.list[2].offset, AT + 4);
    assert_int_equal(assembly.list[2].len, 3);
    assert_int_equal(assembly.list[2].jump, CN_NO_JUMP);
    assert_int_equal(assembly.list[3].jump, 2);
    assert_int_equal(assembly.list[3].target, AT + 4);
    assert_int_equal(assembly.list[4].jump, CN_NO_JUMP);
    assert_int_equal(assembly.list[4].target, 0x2000);
    assert_string_equal(assembly.list[6].text, "retq");
    cn_assembly_done(&assembly);
}

static void code_of_aarch64_is_printed(void **state)
{
    static const uint8_t code[] = {
        0x00, 0x04, 0x00, 0xd1, /* sub x0, x0, #1 */
        0xe0, 0xff, 0xff, 0xb5, /* cbnz, to the subtraction */
        0xc0, 0x03, 0x5f, 0xd6, /* ret */
    };
    struct cn_assembly assembly;

    (void)state;
    decode(&assembly, code, sizeof(code), false);
    assert_int_equal(assembly.count, 3);
    assert_string_equal(assembly.list[0].text, "sub x0, x0, #1");
    assert_int_equal(assembly.list[1].jump, 0);
    assert_string_equal(assembly.list[2].text, "ret");
    cn_assembly_done(&assembly);
}

static void bytes_that_are_no_instruction_are_skipped(void **state)
{
    static const uint8_t x86[] = {0x06, 0x90, 0x0f}, arm[] = {0, 0, 0, 0xff, 1, 2};
    struct cn_assembly assembly;

    (void)state;
    decode(&assembly, x86, sizeof(x86), true);
    assert_int_equal(assembly.count, 3);
    assert_string_equal(assembly.list[0].text, "(bad)");
    assert_string_equal(assembly.list[1].text, "nop");
    assert_string_equal(assembly.list[2].text, "(bad)");
    cn_assembly_done(&assembly);
    decode(&assembly, arm, sizeof(arm), false);
    assert_int_equal(assembly.count, 2);
    assert_int_equal(assembly.list[1].len, 2);
    cn_assembly_done(&assembly);
}

/* Samples may be anywhere. */
static void an_offset_belongs_to_the_instruction_around_it(void **state)
{
    static const uint8_t code[] = {0x48, 0x89, 0xe5, 0x90};
    struct cn_assembly assembly;

    (void)state;
    decode(&assembly, code, sizeof(code), true);
    assert_int_equal(cn_assembly_find(&assembly, AT - 1), CN_NO_JUMP);
    assert_int_equal(cn_assembly_find(&assembly, AT), 0);
    assert_int_equal(cn_assembly_find(&assembly, AT + 2), 0);
    assert_int_equal(cn_assembly_find(&assembly, AT + 3), 1);
    assert_int_equal(cn_assembly_find(&assembly, AT + 4), CN_NO_JUMP);
    cn_assembly_done(&assembly);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_x86_64_is_printed),
        cmocka_unit_test(code_of_aarch64_is_printed),
        cmocka_unit_test(bytes_that_are_no_instruction_are_skipped),
        cmocka_unit_test(an_offset_belongs_to_the_instruction_around_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
