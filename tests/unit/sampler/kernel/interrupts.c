/* Symbols of kernels as /proc/kallsyms prints them, with and without rights. */

#include "sampler/kernel/interrupts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sampler/kernel/shared.h"

static bool parse(struct cn_kernel_interrupts *out, const char *text)
{
    FILE *file = tmpfile();

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    rewind(file);
    bool ok = cn_kernel_interrupts_parse(out, file);
    (void)fclose(file);
    return ok;
}

static void test_symbols(void **state)
{
    struct cn_kernel_interrupts found;

    (void)state;
    assert_true(parse(&found, "0000000000000000 A fixed_percpu_data\n"
                              "ffffffff81000300 T __irqentry_text_start\n"
                              "ffffffff81000300 T asm_exc_divide_error\n"
                              "ffffffff81000f70 T __irqentry_text_end\n"
                              "ffffffff81360020 t handle_softirqs\n"
                              "ffffffff81360020 t alias\n"
                              "ffffffff81360400 t ksoftirqd\n"
                              "ffffffff81360800 t later\n"
                              "ffffffff82202160 T __do_softirq\n"
                              "ffffffffc0000000 t __irqentry_text_start\t[module]\n"));
    assert_int_equal(found.list[0].begin, 0xffffffff81000300);
    assert_int_equal(found.list[0].end, 0xffffffff81000f70);
    assert_int_equal(found.list[1].end, 0);
    assert_int_equal(found.list[2].begin, 0xffffffff81360020);
    assert_int_equal(found.list[2].end, 0xffffffff81360400);
    /* Nothing follows it. */
    assert_int_equal(found.list[3].end, 0);
}

static void test_unknown(void **state)
{
    struct cn_kernel_interrupts found;

    (void)state;
    assert_false(parse(&found, "0000000000000000 T __irqentry_text_start\n"
                               "0000000000000000 T __irqentry_text_end\n"
                               "0000000000000000 t handle_softirqs\n"
                               "0000000000000000 t next\n"));
    assert_false(parse(&found, "ffffffff81360020 t handle_softirqs\n"
                               "ffffffff81360400 t next\n"));
    assert_false(parse(&found, "ffffffff81000300 T __irqentry_text_start\n"
                               "ffffffff81000f70 T __irqentry_text_end\n"));
    assert_false(parse(&found, "no symbol\n\n"));
    assert_false(parse(&found, "ffffffff81000f70 T __irqentry_text_start\n"
                               "ffffffff81000f80 T __irqentry_text_end"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
