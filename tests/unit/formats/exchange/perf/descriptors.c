/* Descriptors of processes: the names of paths stay short, however deep a process enters directories. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/exchange/perf/descriptors.h"
#include "model/contexts/context.h"

enum { PID = 7, LONGEST = 4200 };

static void paths_begin_at_the_working_directory(void **state)
{
    struct cn_perf_descriptors all = {0};
    uint32_t name;

    (void)state;
    cn_perf_descriptors_enter(&all, PID, cn_names_add(&all.names, "/home"));
    name = cn_perf_descriptors_path(&all, PID, NULL, "./notes");
    assert_string_equal(all.names.list[name], "/home/notes");
    name = cn_perf_descriptors_path(&all, PID, NULL, "/notes");
    assert_string_equal(all.names.list[name], "/notes");
    cn_perf_descriptors_done(&all);
}

static void paths_of_deep_directories_are_bounded(void **state)
{
    struct cn_perf_descriptors all = {0};

    (void)state;
    cn_perf_descriptors_enter(&all, PID, cn_names_add(&all.names, "/"));
    for (unsigned i = 0; i < LONGEST; i++) {
        uint32_t name = cn_perf_descriptors_path(&all, PID, NULL, "deep");

        assert_true(strlen(all.names.list[name]) <= LONGEST);
        cn_perf_descriptors_enter(&all, PID, name);
    }
    cn_perf_descriptors_done(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_begin_at_the_working_directory),
        cmocka_unit_test(paths_of_deep_directories_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
