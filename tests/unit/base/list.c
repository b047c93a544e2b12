#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

static void finds_names(void **state)
{
    static const char *const names[] = {"one", "two", "three"};

    (void)state;
    assert_int_equal(CN_COUNT_OF(names), 3);
    assert_int_equal(cn_list_find(names, 3, "three"), 2);
    assert_int_equal(cn_list_find(names, 2, "three"), 2);
    assert_true(cn_list_has(names, 3, "one"));
    assert_false(cn_list_has(names, 3, "on"));
    assert_false(cn_list_has(names, 0, "one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
