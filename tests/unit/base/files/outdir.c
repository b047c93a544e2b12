#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/outdir.h"
#include "support/scratch.h"

/* Write the file `name` into a directory under construction. */
static void put(const struct cn_outdir *dir, const char *name, const char *text)
{
    char path[PATH_MAX];

    assert_true(snprintf(path, sizeof(path), "%s/%s", dir->path, name) > 0);
    cn_scratch_write(path, text, strlen(text));
}

static void appears_complete_when_committed(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_outdir_begin(&dir, "db", false, &err));
    put(&dir, "meta.db", "new");
    assert_int_equal(access("db", F_OK), -1);
    assert_true(cn_outdir_commit(&dir, &err));
    assert_true(cn_scratch_holds("db/meta.db", "new", 3));
    assert_int_equal(cn_scratch_count("."), 1);
    cn_outdir_abandon(&dir);
    assert_true(cn_scratch_holds("db/meta.db", "new", 3));
}

static void lies_beside_its_target(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(mkdir("runs", 0777), 0);
    assert_true(cn_outdir_begin(&dir, "runs/db//", false, &err));
    assert_memory_equal(dir.path, "runs/.db.part-", 14);
    assert_string_equal(dir.target, "runs/db");
    assert_true(cn_outdir_commit(&dir, &err));
    assert_int_equal(access("runs/db", F_OK), 0);
    assert_int_equal(cn_scratch_count("runs"), 1);
}

static void nothing_is_left_when_abandoned(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};
    char sub[PATH_MAX];

    (void)state;
    assert_true(cn_outdir_begin(&dir, "db", false, &err));
    assert_true(snprintf(sub, sizeof(sub), "%s/metrics", dir.path) > 0);
    assert_int_equal(mkdir(sub, 0777), 0);
    put(&dir, "metrics/default.yaml", "x");
    cn_outdir_abandon(&dir);
    assert_int_equal(cn_scratch_count("."), 0);
    cn_outdir_abandon(&dir);
}

static void an_existing_target_is_refused(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(mkdir("db", 0777), 0);
    assert_false(cn_outdir_begin(&dir, "db", false, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, "db: exists already");
    assert_null(dir.path);
    assert_int_equal(cn_scratch_count("."), 1);
}

static void a_dangling_link_counts_as_existing(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(symlink("nowhere", "db"), 0);
    assert_false(cn_outdir_begin(&dir, "db", false, &err));
    assert_string_equal(err.text, "db: exists already");
}

static void only_a_directory_is_replaced(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("db", "precious", 8);
    assert_false(cn_outdir_begin(&dir, "db", true, &err));
    assert_string_equal(err.text, "db: exists and is not a directory");
    assert_true(cn_scratch_holds("db", "precious", 8));
}

static void a_replaced_directory_is_gone(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(mkdir("db", 0777), 0);
    cn_scratch_write("db/old", "old", 3);
    assert_true(cn_outdir_begin(&dir, "db", true, &err));
    put(&dir, "new", "new");
    assert_true(cn_scratch_holds("db/old", "old", 3)); /* until the last moment */
    assert_true(cn_outdir_commit(&dir, &err));
    assert_true(cn_scratch_holds("db/new", "new", 3));
    assert_int_equal(cn_scratch_count("db"), 1);
    assert_int_equal(cn_scratch_count("."), 1);
}

static void replacing_works_where_nothing_was(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_outdir_begin(&dir, "db", true, &err));
    assert_true(cn_outdir_commit(&dir, &err));
    assert_int_equal(cn_scratch_count("."), 1);
}

static void a_target_that_appeared_meanwhile_is_kept(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_outdir_begin(&dir, "db", false, &err));
    put(&dir, "new", "new");
    assert_int_equal(mkdir("db", 0777), 0);
    cn_scratch_write("db/other", "other", 5);
    assert_false(cn_outdir_commit(&dir, &err));
    assert_string_equal(err.text, "db: cannot put it in place: File exists");
    assert_true(cn_scratch_holds("db/other", "other", 5));
    assert_int_equal(cn_scratch_count("."), 1);
}

static void says_when_there_is_no_place_for_it(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_outdir_begin(&dir, "none/db", false, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_string_equal(err.text, "none/db: cannot create it: No such file or directory");
}

static void others_may_read_it_as_the_umask_says(void **state)
{
    struct cn_outdir dir = {0};
    struct cn_error err = {0};
    struct stat st;
    mode_t before = umask(027);

    (void)state;
    assert_true(cn_outdir_begin(&dir, "db", false, &err));
    assert_true(cn_outdir_commit(&dir, &err));
    assert_int_equal(umask(before), 027);
    assert_int_equal(stat("db", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(appears_complete_when_committed),
        CN_SCRATCH_TEST(lies_beside_its_target),
        CN_SCRATCH_TEST(nothing_is_left_when_abandoned),
        CN_SCRATCH_TEST(an_existing_target_is_refused),
        CN_SCRATCH_TEST(a_dangling_link_counts_as_existing),
        CN_SCRATCH_TEST(only_a_directory_is_replaced),
        CN_SCRATCH_TEST(a_replaced_directory_is_gone),
        CN_SCRATCH_TEST(replacing_works_where_nothing_was),
        CN_SCRATCH_TEST(a_target_that_appeared_meanwhile_is_kept),
        CN_SCRATCH_TEST(says_when_there_is_no_place_for_it),
        CN_SCRATCH_TEST(others_may_read_it_as_the_umask_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
