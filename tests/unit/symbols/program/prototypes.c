/* Prototypes, from the debug information of this test itself. */

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/skip.h"
#include "symbols/program/prototypes.h"

enum { MANY = 36 };

/* More parameters than are listed. */
__attribute__((noinline)) static double
take_many(char p01, short p02, int p03, long p04, float p05, double p06, int p07, int p08,
          int p09, int p10, int p11, int p12, int p13, int p14, int p15, int p16, int p17,
          int p18, int p19, int p20, int p21, int p22, int p23, int p24, int p25, int p26,
          int p27, int p28, int p29, int p30, int p31, const char *p32, int p33, int p34,
          int p35, int p36)
{
    return p01 + p02 + p03 + (double)p04 + p05 + p06 + p07 + p08 + p09 + p10 + p11 + p12 +
           p13 + p14 + p15 + p16 + p17 + p18 + p19 + p20 + p21 + p22 + p23 + p24 + p25 +
           p26 + p27 + p28 + p29 + p30 + p31 + p32[0] + p33 + p34 + p35 + p36;
}

/* The first address of the program, which is listed first. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t *begin = arg;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum && *begin == 0; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            *begin = info->dlpi_addr + (info->dlpi_phdr[i].p_vaddr & ~(uintptr_t)4095);
    return 1;
}

static void a_function_of_many_parameters_has_the_first_ones(void **state)
{
    struct cn_prototypes *prototypes = cn_prototypes_open("/proc/self/exe");
    uintptr_t begin = 0, at = (uintptr_t)&take_many;
    struct cn_prototype found;

    (void)state;
    if (!prototypes)
        CN_SKIP("no debug information of this program");
    (void)dl_iterate_phdr(find_program, &begin);
    assert_true(cn_prototypes_find(prototypes, at - begin, 100, at - begin, &found));
    assert_int_equal(found.count, MANY);
    assert_true(found.has_usual_calls);
    assert_int_equal(found.result.kind, CN_VALUE_FLOAT);
    assert_int_equal(found.parameters[0].type.kind, CN_VALUE_CHAR);
    assert_int_equal(found.parameters[3].type.size, sizeof(long));
    assert_int_equal(found.parameters[CN_PARAMETERS_MAX - 1].type.kind, CN_VALUE_STRING);
    /* libdw does not always find the first file in the output of clang. */
    if (found.file)
        assert_non_null(strstr(found.file, "/prototypes.c"));
    cn_prototypes_close(prototypes);
    assert_true(take_many(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                          1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "\1", 1, 1, 1, 1) == MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_of_many_parameters_has_the_first_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
