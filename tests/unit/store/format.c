/* What counts as a store. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "store/format.h"
#include "store/write/writer.h"
#include "support/scratch.h"

static void a_folder_with_a_name_of_six_hex_digits_is_no_store(void **state)
{
    (void)state;
    assert_int_equal(mkdir("photos", 0777), 0);
    assert_int_equal(mkdir("photos/facade", 0777), 0);
    cn_scratch_write("photos/decade", "", 0);
    assert_false(cn_store_probe("photos"));
    assert_false(cn_store_probe("photos/facade"));
    assert_false(cn_store_probe("nothing"));
    cn_scratch_write("photos/facade/traces.dat", "", 0);
    assert_true(cn_store_probe("photos"));
    assert_true(cn_store_probe("photos/facade"));
}

static void a_store_is_one_before_it_has_segments(void **state)
{
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_store_init("store", NULL, &err));
    assert_true(cn_store_probe("store"));
}

static void files_of_the_original_make_a_store(void **state)
{
    (void)state;
    assert_int_equal(mkdir("java", 0777), 0);
    cn_scratch_write("java/text-00000001.wal", "", 0);
    assert_false(cn_store_probe("java"));
    cn_scratch_write("java/traces.dat", "", 0);
    assert_true(cn_store_probe("java"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_folder_with_a_name_of_six_hex_digits_is_no_store),
        CN_SCRATCH_TEST(a_store_is_one_before_it_has_segments),
        CN_SCRATCH_TEST(files_of_the_original_make_a_store),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
