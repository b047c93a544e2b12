#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "base/bytes/digits.h"
#include "base/files/file.h"
#include "base/files/sink.h"
#include "base/text.h"
#include "support/scratch.h"

static void a_file_appears_when_it_is_complete(void **state)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    (void)state;
    assert_true(cn_sink_open(&sink, "a.txt", false, &err));
    assert_true(cn_sink_write(&sink, "hello", 5, &err));
    assert_false(cn_scratch_holds("a.txt", "hello", 5));
    assert_true(cn_sink_commit(&sink, &err));
    assert_true(cn_scratch_holds("a.txt", "hello", 5));
    assert_int_equal(cn_scratch_count("."), 1);
}

static void one_that_is_abandoned_leaves_nothing(void **state)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    (void)state;
    assert_true(cn_sink_open(&sink, "a.txt.gz", false, &err));
    assert_true(cn_sink_write(&sink, "hello", 5, &err));
    cn_sink_abandon(&sink);
    assert_int_equal(cn_scratch_count("."), 0);
    cn_sink_abandon(&sink);
}

static void an_existing_file_is_replaced_when_asked_for(void **state)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    (void)state;
    cn_scratch_write("a.txt", "old", 3);
    assert_false(cn_sink_open(&sink, "a.txt", false, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_true(cn_sink_open(&sink, "a.txt", true, &err));
    assert_true(cn_sink_write(&sink, "new", 3, &err));
    assert_true(cn_scratch_holds("a.txt", "old", 3));
    assert_true(cn_sink_commit(&sink, &err));
    assert_true(cn_scratch_holds("a.txt", "new", 3));
}

static void a_file_that_appears_meanwhile_stays(void **state)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    (void)state;
    assert_true(cn_sink_open(&sink, "a.txt", false, &err));
    cn_scratch_write("a.txt", "theirs", 6);
    assert_false(cn_sink_commit(&sink, &err));
    assert_true(cn_scratch_holds("a.txt", "theirs", 6));
    assert_int_equal(cn_scratch_count("."), 1);
}

static void fails_where_there_is_no_folder(void **state)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    (void)state;
    assert_false(cn_sink_open(&sink, "nowhere/a.txt", false, &err));
    assert_non_null(strstr(err.text, "nowhere/a.txt"));
}

/* Longer than the buffer, and not all the same. */
enum { LONG_LEN = 3 << 20 };

static char *long_text(void)
{
    char *text = malloc(LONG_LEN);

    for (size_t i = 0; i < LONG_LEN; i++)
        text[i] = (char)('a' + i * i % 23);
    return text;
}

static void write_long(const char *path, const char *text)
{
    struct cn_sink sink = {0};
    struct cn_error err;

    assert_true(cn_sink_open(&sink, path, false, &err));
    for (size_t at = 0; at < LONG_LEN; at += LONG_LEN / 8)
        assert_true(cn_sink_write(&sink, text + at, LONG_LEN / 8, &err));
    assert_true(cn_sink_commit(&sink, &err));
}

static void gz_is_gzip(void **state)
{
    char *text = long_text(), *back = malloc(LONG_LEN + 1);
    gzFile file;

    (void)state;
    write_long("a.gz", text);
    file = gzopen("a.gz", "rb");
    assert_int_equal(gzread(file, back, LONG_LEN + 1), LONG_LEN);
    assert_memory_equal(back, text, LONG_LEN);
    assert_false(gzdirect(file));
    assert_int_equal(gzclose(file), Z_OK);
    free(text);
    free(back);
}

static void zst_is_zstd(void **state)
{
    char *text = long_text(), *back = malloc(LONG_LEN + 1);
    struct cn_file file = {0};
    struct cn_error err;

    (void)state;
    write_long("a.zst", text);
    assert_true(cn_file_open(&file, "a.zst", &err));
    assert_int_equal(ZSTD_decompress(back, LONG_LEN + 1, file.bytes.ptr, file.bytes.len),
                     LONG_LEN);
    assert_memory_equal(back, text, LONG_LEN);
    cn_file_close(&file);
    free(text);
    free(back);
}

static void plain_paths_have_no_suffix(void **state)
{
    (void)state;
    assert_int_equal(cn_sink_plain_len("a.json.gz"), 6);
    assert_int_equal(cn_sink_plain_len("a.json.zst"), 6);
    assert_int_equal(cn_sink_plain_len("a.json"), 6);
    assert_int_equal(cn_sink_plain_len(".gz"), 3);
}

static void digits_are_those_of_printf(void **state)
{
    uint64_t value = 0;

    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        char want[40], have[CN_MICROSECONDS_MAX + 1];

        (void)snprintf(want, sizeof(want), "%" PRIu64, value);
        have[cn_digits_put(have, value)] = '\0';
        assert_string_equal(have, want);
        (void)snprintf(want, sizeof(want), "%" PRIu64 ".%03u", value / 1000,
                       (unsigned)(value % 1000));
        have[cn_microseconds_put(have, value)] = '\0';
        assert_string_equal(have, want);
        value = i < 150 ? value * 10 + i % 10 : UINT64_MAX - i * value;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_file_appears_when_it_is_complete),
        CN_SCRATCH_TEST(one_that_is_abandoned_leaves_nothing),
        CN_SCRATCH_TEST(an_existing_file_is_replaced_when_asked_for),
        CN_SCRATCH_TEST(a_file_that_appears_meanwhile_stays),
        CN_SCRATCH_TEST(fails_where_there_is_no_folder),
        CN_SCRATCH_TEST(gz_is_gzip),
        CN_SCRATCH_TEST(zst_is_zstd),
        cmocka_unit_test(plain_paths_have_no_suffix),
        cmocka_unit_test(digits_are_those_of_printf),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
