#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/host/disk_usage.h"
#include "support/scratch.h"

static void counts_files_at_any_depth_but_no_links(void **state)
{
    struct cn_disk_usage usage;

    (void)state;
    assert_int_equal(mkdir("db", 0777), 0);
    assert_int_equal(mkdir("db/src", 0777), 0);
    cn_scratch_write("db/meta.db", "12345", 5);
    cn_scratch_write("db/src/a.c", "123", 3);
    assert_int_equal(symlink("meta.db", "db/link"), 0);
    usage = cn_disk_usage("db");
    assert_int_equal(usage.file_count, 2);
    assert_int_equal(usage.bytes, 8);
    assert_int_equal(cn_disk_usage("db/meta.db").bytes, 5);
}

static void counts_nothing_where_nothing_is(void **state)
{
    struct cn_disk_usage usage = cn_disk_usage("missing");

    (void)state;
    assert_int_equal(usage.file_count, 0);
    assert_int_equal(usage.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(counts_files_at_any_depth_but_no_links),
        CN_SCRATCH_TEST(counts_nothing_where_nothing_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
