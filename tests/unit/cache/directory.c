/* The limit of a cache: what goes, what stays. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "cache/directory.h"
#include "support/scratch.h"

enum { ENTRY_LEN = 64 * 1024 };

/* An entry of ENTRY_LEN bytes, used `age_s` seconds ago. */
static void make_entry(const char *name, long age_s)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - age_s}};
    char path[64], bytes[ENTRY_LEN] = {0};
    FILE *file;

    times[1] = times[0];
    (void)snprintf(path, sizeof(path), "cache/%s", name);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof(path), "cache/%s/file", name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, sizeof(bytes), file), sizeof(bytes));
    assert_int_equal(fclose(file), 0);
    (void)snprintf(path, sizeof(path), "cache/%s", name);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool exists(const char *name)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "cache/%s/file", name);
    return access(path, F_OK) == 0;
}

static void removes_what_was_not_used_for_longest(void **state)
{
    int lock;

    (void)state;
    assert_int_equal(mkdir("cache", 0700), 0);
    make_entry("b", 300);
    make_entry("a", 200);
    make_entry("c", 100);
    cn_cache_dir_limit("cache", 3 * ENTRY_LEN);
    assert_true(exists("a") && exists("b") && exists("c"));
    lock = cn_cache_dir_use("cache/b");
    assert_true(lock > 0);
    cn_cache_dir_limit("cache", 2 * ENTRY_LEN);
    assert_false(exists("a"));
    assert_true(exists("b") && exists("c"));
    assert_int_equal(cn_scratch_count("cache"), 2);
    assert_int_equal(cn_cache_dir_use("cache/a"), -1);
    cn_cache_dir_limit("cache", 0);
    assert_true(exists("b"));
    (void)close(lock);
    cn_cache_dir_limit("cache", 0);
    assert_false(exists("b"));
}

static void keeps_what_another_process_uses(void **state)
{
    int ready[2], end[2], status;
    char byte = 0;
    pid_t user;

    (void)state;
    assert_int_equal(mkdir("cache", 0700), 0);
    make_entry("a", 200);
    make_entry("b", 100);
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    user = fork();
    if (user == 0) {
        byte = cn_cache_dir_use("cache/a") > 0;
        (void)!write(ready[1], &byte, 1);
        (void)!read(end[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 1);
    cn_cache_dir_limit("cache", 0);
    assert_true(exists("a"));
    assert_false(exists("b"));
    assert_int_equal(write(end[1], &byte, 1), 1);
    assert_int_equal(waitpid(user, &status, 0), user);
    cn_cache_dir_limit("cache", 0);
    assert_int_equal(cn_scratch_count("cache"), 0);
    for (int i = 0; i < 2; i++)
        (void)(close(ready[i]) + close(end[i]));
}

static void removes_what_was_left_behind_after_a_day(void **state)
{
    (void)state;
    assert_int_equal(mkdir("cache", 0700), 0);
    make_entry(".a.part-1", 2 * 24 * 60 * 60);
    make_entry(".b.part-2", 60);
    make_entry("c", 100);
    cn_cache_dir_limit("cache", 10 * ENTRY_LEN);
    assert_false(exists(".a.part-1"));
    assert_true(exists(".b.part-2") && exists("c"));
    cn_cache_dir_limit("nosuch", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(removes_what_was_not_used_for_longest),
        CN_SCRATCH_TEST(keeps_what_another_process_uses),
        CN_SCRATCH_TEST(removes_what_was_left_behind_after_a_day),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
