/* The table of system calls, and what calls add to the metrics of files, sockets and disks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/io/calls.h"
#include "model/io/system_calls.h"

static void names_and_numbers_are_of_one_call(void **state)
{
    (void)state;
    for (unsigned machine = 0; machine < CN_SYSTEM_MACHINE_COUNT; machine++) {
        struct cn_system_numbers numbers;

        cn_system_numbers_init(&numbers, (enum cn_system_machine)machine);
        for (uint16_t i = 0; i < cn_system_call_count(); i++) {
            const struct cn_system_call *call = cn_system_call(i);

            assert_int_equal(cn_system_call_named(call->name), i);
            if (call->numbers[machine] >= 0)
                assert_int_equal(
                    cn_system_call_find(&numbers, (uint64_t)call->numbers[machine]), i);
            assert_true(strlen(cn_io_kind_name((enum cn_io_kind)call->kind)) > 0);
            if (cn_io_class_of((enum cn_io_kind)call->kind) != CN_IO_SYSTEM_CALLS)
                assert_int_equal(call->numbers[machine], -1);
        }
        assert_int_equal(cn_system_call_find(&numbers, CN_SYSTEM_NUMBER_MAX),
                         CN_SYSTEM_CALL_NONE);
        assert_int_equal(cn_system_call_find(&numbers, UINT64_MAX), CN_SYSTEM_CALL_NONE);
    }
    assert_int_equal(cn_system_call_named("no such call"), CN_SYSTEM_CALL_NONE);
}

static struct cn_io_call made(const char *name, uint64_t end_ns, int64_t result)
{
    return (struct cn_io_call){.begin_ns = 1000,
                               .end_ns = end_ns,
                               .result = result,
                               .call = cn_system_call_named(name)};
}

static void expect(struct cn_io_call call, const double values[CN_IO_METRIC_COUNT])
{
    for (unsigned i = 0; i < CN_IO_METRIC_COUNT; i++)
        assert_float_equal(cn_io_metric_of(&call, (enum cn_io_metric)i), values[i],
                           1e-15);
}

static void disks_have_metrics_of_their_own(void **state)
{
    static const double read[] = {500e-9, 1, 70, 0}, write[] = {500e-9, 1, 0, 70},
                        failed[] = {500e-9, 1}, endless[] = {0, 1},
                        disk[] = {0, 0, 0, 0, 500e-9, 1, 70, 0},
                        page[] = {0, 0, 0, 0, 500e-9, 1, 70, 0},
                        flush[] = {0, 0, 0, 0, 500e-9, 1, 0, 0};
    double values[CN_IO_METRIC_COUNT];
    static const struct {
        const char *name;
        uint64_t end_ns;
        int64_t result;
        const double *values;
        size_t count;
    } cases[] = {
        {"read", 1500, 70, read, 4},        {"write", 1500, 70, write, 4},
        {"recvfrom", 1500, -11, failed, 2}, {"read", 0, 0, endless, 2},
        {"disk read", 1500, 70, disk, 8},   {CN_IO_FAULT_NAME, 1500, 70, page, 8},
        {"disk flush", 1500, 70, flush, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        memset(values, 0, sizeof(values));
        memcpy(values, cases[i].values, cases[i].count * sizeof(double));
        expect(made(cases[i].name, cases[i].end_ns, cases[i].result), values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_are_of_one_call),
        cmocka_unit_test(disks_have_metrics_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
