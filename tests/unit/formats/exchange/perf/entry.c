#include "formats/exchange/perf/entry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void knows_where_stacks_begin(void **state)
{
    static const char *const threads[] = {"start_thread", "runtime.goexit",
                                          "make_fcontext", /* fibers, as those of PHP */
                                          "created by main.main", /* goroutines */
                                          "ret_from_fork_asm"};

    (void)state;
    assert_int_equal(cn_perf_entry_of("_start"), CN_ENTRY_MAIN_THREAD);
    for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
        assert_int_equal(cn_perf_entry_of(threads[i]), CN_ENTRY_APPLICATION_THREAD);
    assert_int_equal(cn_perf_entry_of("work"), CN_ENTRY_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(knows_where_stacks_begin)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
