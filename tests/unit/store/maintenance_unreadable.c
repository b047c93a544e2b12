/* Files of a store that cannot be read now are not taken for files that are missing: nothing is
 * left out silently, written anew or removed. Folders in the place of files, and links to
 * themselves, cannot be read by root either. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes/cbor.h"
#include "base/text.h"
#include "store/bucket/manifest.h"
#include "store/maintenance/maintenance.h"
#include "store/maintenance/unsealed_list.h"
#include "store/maintenance/upload.h"
#include "store/segment/reader.h"
#include "store/segment/segment.h"
#include "store/segment/segments.h"
#include "store/write/writer.h"
#include "support/made_traces.h"
#include "support/scratch.h"

enum { TRACES = 20 };

/* Segments of `each` traces, sealed but for the last one. */
static void make_store_of(uint32_t trace_count, uint32_t each)
{
    struct cn_store_writer *writer;
    struct cn_store_added added = {0};
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;

    assert_true(cn_store_init("store", NULL, &err) &&
                cn_store_writer_open(&writer, "store", NULL, &err));
    for (uint32_t i = 0; i < trace_count; i++) {
        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_made_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, &added, &err));
        if ((i + 1) % each == 0 && i + 1 < trace_count)
            assert_true(cn_store_writer_rotate(writer, &err));
    }
    assert_true(cn_store_writer_close(writer, &err));
    cn_trace_done(&trace);
}

/* Two segments. */
static void make_store(void)
{
    make_store_of(TRACES, TRACES - 2);
}

/* The path of a file in the oldest segment. */
static char *path_in_oldest(const char *name)
{
    struct cn_text path = {0};
    struct cn_error err = {0};
    uint32_t *numbers;
    size_t count;
    char *dir;

    assert_true(cn_segments_list("store", &numbers, &count, &err));
    assert_in_range(count, 2, 3);
    dir = cn_segment_dir("store", numbers[0]);
    cn_text_printf(&path, "%s%s%s", dir, *name ? "/" : "", name);
    free(dir);
    free(numbers);
    return path.chars;
}

/* Move a file aside, and put a folder in its place. */
static void hide(const char *path)
{
    assert_int_equal(rename(path, "aside"), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void show(const char *path)
{
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rename("aside", path), 0);
}

static void a_segment_that_vanished_is_skipped_others_are_not(void **state)
{
    char *path;
    struct cn_store *store;
    struct cn_error err = {0};

    (void)state;
    make_store();
    path = path_in_oldest("");
    assert_int_equal(rename(path, "aside"), 0);
    /* As if it were removed between listing and opening. */
    assert_int_equal(symlink("nowhere", path), 0);
    if (!cn_store_open(&store, "store", &err))
        fail_msg("%s", err.text);
    assert_int_equal(cn_store_segment_count(store), 1);
    cn_store_close(store);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(strrchr(path, '/') + 1, path), 0);
    assert_false(cn_store_open(&store, "store", &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    free(path);
}

static void recovery_does_not_replace_a_config_that_it_cannot_read(void **state)
{
    struct cn_store_recovery counts;
    struct cn_error err = {0};
    char *path;

    (void)state;
    make_store();
    hide("store/config.props");
    assert_false(cn_store_recover("store", &counts, &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    show("store/config.props");
    path = path_in_oldest("config.props");
    hide(path);
    assert_false(cn_store_recover("store", &counts, &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    show(path);
    assert_true(cn_store_recover("store", &counts, &err));
    /* A damaged one is written anew. */
    cn_scratch_write(path, "", 0);
    if (!cn_store_recover("store", &counts, &err))
        fail_msg("%s", err.text);
    free(path);
}

static void flip(const char *path, size_t at)
{
    FILE *file = fopen(path, "r+");
    int byte;

    assert_non_null(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
    (void)fclose(file);
}

/* True if the oldest segment opens, and a row of it cannot be read. */
static bool has_bad_row(void)
{
    struct cn_segment *segment;
    struct cn_store_row row;
    struct cn_error err = {0};
    uint32_t *numbers;
    size_t count;
    bool ok = true;

    assert_true(cn_segments_list("store", &numbers, &count, &err));
    bool is_open = cn_segment_open(&segment, "store", numbers[0], &err);
    free(numbers);
    if (!is_open)
        return false;
    for (uint32_t i = 0; ok && i < cn_segment_row_count(segment); i++)
        ok = cn_segment_row(segment, i, &row, &err);
    cn_segment_close(segment);
    return !ok;
}

/* Damage a block of rows. Returns where. */
static size_t spoil_row(const char *path, size_t len)
{
    for (size_t at = len / 64; at < len; at += len / 64) {
        flip(path, at);
        if (has_bad_row())
            return at;
        flip(path, at);
    }
    fail_msg("no damage of %s is seen", path);
    return 0;
}

/* Rows are checked block by block; a damaged one may have been that of the pinned trace. */
static void expiry_does_not_remove_rows_that_may_be_pinned(void **state)
{
    enum { MANY = 30000 }; /* blocks that are not checked when the rows are opened */
    struct cn_store_limits limits = {.before_ns = UINT64_MAX};
    struct cn_store_expiry counts;
    struct cn_error err = {0};
    struct stat st;
    char *path;

    (void)state;
    make_store_of(MANY, MANY - 2);
    path = path_in_oldest("meta.dat");
    assert_int_equal(stat(path, &st), 0);
    assert_true(cn_store_pin("store", UINT64_C(0xabcdef0000000000) + 2, ~UINT64_C(2),
                             true, NULL, &err));
    size_t at = spoil_row(path, (size_t)st.st_size);
    assert_false(cn_store_expire("store", &limits, &counts, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_true(cn_scratch_exists(path));
    flip(path, at);
    assert_true(cn_store_expire("store", &limits, &counts, &err));
    assert_int_equal(counts.pinned_count, 1);
    free(path);
}

static uint64_t row_count(void)
{
    struct cn_segment *segment;
    struct cn_error err = {0};
    uint64_t rows = 0;
    uint32_t *numbers;
    size_t count;

    assert_true(cn_segments_list("store", &numbers, &count, &err));
    for (size_t i = 0; i < count; i++) {
        assert_true(cn_segment_open(&segment, "store", numbers[i], &err));
        rows += cn_segment_row_count(segment);
        cn_segment_close(segment);
    }
    free(numbers);
    return rows;
}

/* Limits are met when the oldest segment goes; what prevents that once prevents it again. */
static void expiry_removes_no_newer_segment_in_place_of_one_that_stays(void **state)
{
    enum { EACH = 10, SEGMENTS = 3 };
    struct cn_store_limits limits = {0};
    struct cn_store_expiry counts;
    struct cn_error err = {0};
    uint32_t *numbers;
    size_t count;
    char *path;

    (void)state;
    make_store_of(SEGMENTS * EACH, EACH);
    path = path_in_oldest(".config.props.new");
    assert_int_equal(mkdir(path, 0700), 0);
    limits.count_max = row_count() / 2;
    assert_false(cn_store_expire("store", &limits, &counts, &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    assert_true(cn_segments_list("store", &numbers, &count, &err));
    assert_int_equal(count, SEGMENTS);
    free(numbers);
    assert_int_equal(rmdir(path), 0);
    assert_true(cn_store_expire("store", &limits, &counts, &err));
    assert_int_equal(counts.segments, 1);
    free(path);
}

static void an_id_that_cannot_be_read_is_not_chosen_again(void **state)
{
    char id[CN_MANIFEST_ID_LEN + 1], same[CN_MANIFEST_ID_LEN + 1];
    char *dir, *path;
    struct cn_cbor_out list = {0};
    struct cn_error err = {0};
    bool is_named;

    (void)state;
    make_store();
    dir = path_in_oldest("");
    path = path_in_oldest("upload");
    assert_true(cn_upload_id(dir, id, &is_named, &err));
    hide(path);
    assert_false(cn_upload_id(dir, same, &is_named, &err));
    assert_int_equal(err.kind, CN_ERR_IO);
    /* A list without it would look complete. */
    assert_false(cn_fresh_list("store", "a", &list, &err));
    show(path);
    assert_true(cn_upload_id(dir, same, &is_named, &err));
    assert_string_equal(id, same);
    assert_true(cn_fresh_list("store", "a", &list, &err));
    cn_cbor_out_done(&list);
    free(dir);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_segment_that_vanished_is_skipped_others_are_not),
        CN_SCRATCH_TEST(recovery_does_not_replace_a_config_that_it_cannot_read),
        CN_SCRATCH_TEST(expiry_does_not_remove_rows_that_may_be_pinned),
        CN_SCRATCH_TEST(expiry_removes_no_newer_segment_in_place_of_one_that_stays),
        CN_SCRATCH_TEST(an_id_that_cannot_be_read_is_not_chosen_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
