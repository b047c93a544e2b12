#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/files/out.h"
#include "support/scratch.h"

enum { LARGE = 600 * 1024 }; /* more than any buffer */

static uint8_t *pattern(size_t len)
{
    uint8_t *data = malloc(len);

    assert_non_null(data);
    for (size_t i = 0; i < len; i++)
        data[i] = (uint8_t)(i * 31 + i / 251);
    return data;
}

/* Pieces below, at and above the size of the buffer come out as one. */
static void appends_pieces_of_any_size(void **state)
{
    static const size_t sizes[] = {1, 1000, 65536, 262143, 262144, LARGE, 0, 17};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint8_t *data = pattern(LARGE);
        size_t step = sizes[i] ? sizes[i] : 333;
        struct cn_out out = {0};

        assert_true(cn_out_open(&out, "a", &err));
        for (size_t at = 0; at < LARGE; at += step) {
            size_t len = LARGE - at < step ? LARGE - at : step;

            assert_int_equal(out.end_off, at);
            assert_true(cn_out_write(&out, data + at, len, &err));
        }
        assert_true(cn_out_write(&out, NULL, 0, &err));
        assert_true(cn_out_close(&out, &err));
        assert_true(cn_scratch_holds("a", data, LARGE));
        assert_int_equal(remove("a"), 0);
        free(data);
    }
}

static void pads_to_any_power_of_two(void **state)
{
    static const uint8_t zeros[8192];
    struct cn_out out = {0};
    struct cn_error err = {0};
    uint8_t want[8192] = {0};

    (void)state;
    want[0] = want[8] = want[64] = want[4096] = 'x';
    assert_true(cn_out_open(&out, "a", &err));
    assert_true(cn_out_pad(&out, 4096, &err)); /* nothing to do yet */
    assert_true(cn_out_write(&out, "x", 1, &err) && cn_out_pad(&out, 8, &err));
    assert_true(cn_out_write(&out, "x", 1, &err) && cn_out_pad(&out, 64, &err));
    assert_true(cn_out_write(&out, "x", 1, &err) && cn_out_pad(&out, 4096, &err));
    assert_true(cn_out_write(&out, "x", 1, &err) && cn_out_pad(&out, 4096, &err));
    assert_true(cn_out_close(&out, &err));
    assert_memory_equal(zeros, want + 4097, 4095);
    assert_true(cn_scratch_holds("a", want, sizeof(want)));
}

static void reserved_room_is_filled_later(void **state)
{
    struct cn_out out = {0};
    struct cn_error err = {0};
    uint64_t off = 0, tail = 0;

    (void)state;
    assert_true(cn_out_open(&out, "a", &err));
    assert_true(cn_out_write(&out, "head", 4, &err));
    assert_true(cn_out_reserve(&out, 6, &off, &err));
    assert_int_equal(off, 4);
    assert_true(cn_out_write(&out, "tail", 4, &err));
    assert_true(cn_out_reserve(&out, 3, &tail, &err));
    assert_int_equal(tail, 14);
    assert_true(cn_out_write_at(&out, off + 2, "ab", 2, &err));
    assert_true(cn_out_write_at(&out, 0, "H", 1, &err));
    assert_true(cn_out_close(&out, &err));
    assert_true(cn_scratch_holds("a", "Head\0\0ab\0\0tail\0\0\0", 17));
}

static void a_file_ends_where_it_was_written_not_where_expected(void **state)
{
    enum { EXPECTED = 32 * 1024 * 1024 };
    struct cn_out out = {0};
    struct cn_error err = {0};
    uint64_t off;

    (void)state;
    assert_true(cn_out_open(&out, "a", &err));
    assert_true(cn_out_write(&out, "head", 4, &err));
    cn_out_expect(&out, EXPECTED);
    assert_true(cn_out_reserve(&out, 4, &off, &err));
    assert_true(cn_out_write_at(&out, off + 1, "ab", 2, &err));
    assert_true(cn_out_close(&out, &err));
    assert_true(cn_scratch_holds("a", "head\0ab\0", 8));
}

static void never_overwrites_a_file(void **state)
{
    struct cn_out out = {0};
    struct cn_error err = {0};

    (void)state;
    cn_scratch_write("a", "old", 3);
    assert_false(cn_out_open(&out, "a", &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    assert_string_equal(err.text, "a: File exists");
    assert_true(cn_scratch_holds("a", "old", 3));
    cn_out_abandon(&out);
}

static void opens_below_a_folder(void **state)
{
    struct cn_out out = {0};
    struct cn_error err = {0};
    char dir[5000];

    (void)state;
    assert_int_equal(mkdir("db", 0777), 0);
    assert_true(cn_out_open_at(&out, "db", "meta.db", &err));
    assert_true(cn_out_close(&out, &err));
    assert_true(cn_scratch_holds("db/meta.db", "", 0));
    assert_false(cn_out_open_at(&out, "none", "meta.db", &err));
    assert_string_equal(err.text, "none/meta.db: No such file or directory");
    memset(dir, 'd', sizeof(dir));
    dir[sizeof(dir) - 1] = '\0';
    assert_false(cn_out_open_at(&out, dir, "meta.db", &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
}

static void an_abandoned_file_releases_its_memory(void **state)
{
    struct cn_out out = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_out_open(&out, "a", &err));
    assert_true(cn_out_write(&out, "x", 1, &err));
    cn_out_abandon(&out);
    assert_null(out.buffer);
    cn_out_abandon(&out);
}

/* A limit on the size of files stands in for a full disk. */
static rlim_t limit_files_to(rlim_t len)
{
    struct rlimit limit;
    rlim_t before;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = len;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    return before;
}

static void a_full_disk_is_noticed_while_writing(void **state)
{
    uint8_t *data = pattern(LARGE);
    struct cn_out out = {0};
    struct cn_error err = {0};
    rlim_t before = limit_files_to(1000);
    bool ok;

    (void)state;
    assert_true(cn_out_open(&out, "a", &err));
    ok = cn_out_write(&out, data, LARGE, &err);
    (void)limit_files_to(before);
    assert_false(ok);
    assert_int_equal(err.kind, CN_ERR_IO);
    assert_string_equal(err.text,
                        "a: cannot write 613400 bytes at 0x3e8: File too large");
    cn_out_abandon(&out);
    free(data);
}

static void a_full_disk_is_noticed_when_closing(void **state)
{
    uint8_t *data = pattern(2000);
    struct cn_out out = {0};
    struct cn_error err = {0};
    rlim_t before = limit_files_to(1000);
    bool ok;

    (void)state;
    assert_true(cn_out_open(&out, "a", &err));
    assert_true(cn_out_write(&out, data, 2000, &err)); /* still in the buffer */
    ok = cn_out_close(&out, &err);
    (void)limit_files_to(before);
    assert_false(ok);
    assert_int_equal(err.kind, CN_ERR_IO);
    assert_null(out.buffer);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(appends_pieces_of_any_size),
        CN_SCRATCH_TEST(pads_to_any_power_of_two),
        CN_SCRATCH_TEST(reserved_room_is_filled_later),
        CN_SCRATCH_TEST(a_file_ends_where_it_was_written_not_where_expected),
        CN_SCRATCH_TEST(never_overwrites_a_file),
        CN_SCRATCH_TEST(opens_below_a_folder),
        CN_SCRATCH_TEST(an_abandoned_file_releases_its_memory),
        CN_SCRATCH_TEST(a_full_disk_is_noticed_while_writing),
        CN_SCRATCH_TEST(a_full_disk_is_noticed_when_closing),
    };

    (void)signal(SIGXFSZ, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
