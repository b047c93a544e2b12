#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/path.h"

static void names_end_paths(void **state)
{
    (void)state;
    assert_string_equal(cn_path_name("/a/b"), "b");
    assert_string_equal(cn_path_name("b"), "b");
    assert_string_equal(cn_path_name("a/"), "a/");
    assert_string_equal(cn_path_name("/"), "/");
    assert_string_equal(cn_path_name(""), "");
}

static void folders_come_before_names(void **state)
{
    (void)state;
    assert_int_equal(cn_path_folder_len("/a/b"), 3);
    assert_int_equal(cn_path_folder_len("/b"), 1);
    assert_int_equal(cn_path_folder_len("b"), 0);
    assert_int_equal(cn_path_folder_len(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_end_paths),
        cmocka_unit_test(folders_come_before_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
