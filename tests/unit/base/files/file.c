#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "support/scratch.h"

static void maps_what_is_in_the_file(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("a", "hello", 5);
    assert_true(cn_file_open(&file, "a", &err));
    assert_int_equal(file.bytes.len, 5);
    assert_memory_equal(file.bytes.ptr, "hello", 5);
    cn_file_close(&file);
    assert_null(file.bytes.ptr);
    cn_file_close(&file);
}

static void finds_a_file_in_a_folder(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};

    (void)state;
    assert_int_equal(mkdir("db", 0777), 0);
    cn_scratch_write("db/meta.db", "x", 1);
    assert_true(cn_file_open_at(&file, "db", "meta.db", &err));
    assert_int_equal(file.bytes.len, 1);
    cn_file_close(&file);
}

static void an_empty_file_is_fine(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_bytes part;

    (void)state;
    cn_scratch_write("empty", "", 0);
    assert_true(cn_file_open(&file, "empty", &err));
    assert_int_equal(file.bytes.len, 0);
    assert_true(cn_bytes_slice(file.bytes, 0, 0, &part));
    cn_file_forget(file.bytes);
    cn_file_close(&file);
}

static void refuses(const char *path, enum cn_error_kind kind, const char *text)
{
    struct cn_file file = {0};
    struct cn_error err = {0};

    assert_false(cn_file_open(&file, path, &err));
    assert_int_equal(err.kind, kind);
    assert_string_equal(err.text, text);
    assert_null(file.bytes.ptr);
}

static void says_why_it_cannot_open(void **state)
{
    (void)state;
    assert_int_equal(mkdir("dir", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    refuses("none", CN_ERR_NOT_FOUND, "none: No such file or directory");
    refuses("dir", CN_ERR_IO, "dir: is a directory");
    refuses("pipe", CN_ERR_IO, "pipe: not a regular file");
    refuses("/dev/null", CN_ERR_IO, "/dev/null: not a regular file");
}

static void refuses_a_path_that_is_too_long(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    char dir[5000];

    (void)state;
    memset(dir, 'd', sizeof(dir));
    dir[sizeof(dir) - 1] = '\0';
    assert_false(cn_file_open_at(&file, dir, "meta.db", &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
}

static void forgotten_pages_are_read_again(void **state)
{
    enum { LEN = 300 * 1024 };
    static char data[LEN];
    struct cn_file file = {0};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < LEN; i++)
        data[i] = (char)(i * 7);
    cn_scratch_write("large", data, LEN);
    assert_true(cn_file_open(&file, "large", &err));
    assert_memory_equal(file.bytes.ptr, data, LEN);
    cn_file_forget((struct cn_bytes){file.bytes.ptr + 3, LEN - 7});
    cn_file_forget((struct cn_bytes){file.bytes.ptr + 3, 5});
    assert_memory_equal(file.bytes.ptr, data, LEN);
    cn_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(maps_what_is_in_the_file),
        CN_SCRATCH_TEST(finds_a_file_in_a_folder),
        CN_SCRATCH_TEST(an_empty_file_is_fine),
        CN_SCRATCH_TEST(says_why_it_cannot_open),
        cmocka_unit_test(refuses_a_path_that_is_too_long),
        CN_SCRATCH_TEST(forgotten_pages_are_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
