#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/open.h"
#include "support/compare.h"
#include "support/open_database.h"
#include "support/sample.h"
#include "support/sample_recording.h"
#include "support/scratch.h"

enum { PAGE_LEN = 64, CACHED_LEN = 1024, LEN = 10000 };

static void write_file(const char *path)
{
    uint8_t bytes[LEN];

    for (size_t i = 0; i < LEN; i++)
        bytes[i] = (uint8_t)(i * 7 + i / 256);
    cn_scratch_write(path, bytes, LEN);
}

/* Each slice is what is there, also after others were asked for. */
static void a_slice_stays_for_a_while(void **state)
{
    struct cn_file mapped = {0}, ranged = {0};
    struct cn_bytes slices[CN_CONTENT_SLICES];
    struct cn_error err = {0};
    struct cn_content content;

    (void)state;
    write_file("a");
    assert_true(cn_file_open(&mapped, "a", &err));
    cn_ranges_begin(PAGE_LEN, CACHED_LEN);
    assert_true(cn_file_open_content(&ranged, "a", &err));
    assert_int_equal(ranged.bytes.len, 0);
    content = cn_file_content(&ranged);
    assert_int_equal(content.len, LEN);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t off = i * 677 % LEN, len = i * 31 % 300;
        struct cn_bytes *slice = &slices[i % CN_CONTENT_SLICES], before;

        if (len > LEN - off)
            len = LEN - off;
        assert_true(cn_content_slice(content, off, len, slice));
        assert_int_equal(slice->len, len);
        for (uint64_t j = 0; j < CN_CONTENT_SLICES && j <= i; j++) {
            uint64_t old = i - j, old_off = old * 677 % LEN;

            before = slices[old % CN_CONTENT_SLICES];
            if (before.len > 0)
                assert_memory_equal(before.ptr, mapped.bytes.ptr + old_off, before.len);
        }
    }
    cn_file_close(&ranged);
    cn_ranges_begin(0, 0);
    cn_file_close(&mapped);
}

static void what_is_kept_stays(void **state)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_bytes kept, part;

    (void)state;
    write_file("a");
    cn_ranges_begin(PAGE_LEN, CACHED_LEN);
    assert_true(cn_file_open_content(&file, "a", &err));
    assert_true(cn_content_keep(cn_file_content(&file), 100, 700, &kept));
    for (uint64_t off = 0; off < LEN; off += 50)
        assert_true(cn_content_slice(cn_file_content(&file), off, 10, &part));
    for (size_t i = 0; i < kept.len; i++)
        assert_int_equal(kept.ptr[i], (uint8_t)((i + 100) * 7 + (i + 100) / 256));
    assert_false(cn_content_slice(cn_file_content(&file), LEN, 1, &part));
    assert_false(cn_content_keep(cn_file_content(&file), 1, LEN, &part));
    assert_false(cn_content_slice(cn_file_content(&file), 1, UINT64_MAX, &part));
    assert_false(cn_content_array(cn_file_content(&file), 0, UINT64_MAX / 2, 3, &part));
    assert_true(cn_content_slice(cn_file_content(&file), LEN, 0, &part));
    cn_file_close(&file);
    cn_ranges_begin(0, 0);
}

static void offsets_have_64_bits(void **state)
{
    static const uint64_t far = UINT64_C(5) << 30;
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_bytes part;

    (void)state;
    cn_scratch_write("far", "", 0);
    assert_int_equal(truncate("far", (off_t)far), 0);
    {
        FILE *to = fopen("far", "ab");

        assert_non_null(to);
        assert_int_equal(fwrite("here", 1, 4, to), 4);
        assert_int_equal(fclose(to), 0);
    }
    cn_ranges_begin(PAGE_LEN, CACHED_LEN);
    assert_true(cn_file_open_content(&file, "far", &err));
    assert_true(cn_content_slice(cn_file_content(&file), far - 1, 5, &part));
    assert_memory_equal(part.ptr, "\0here", 5);
    assert_true(cn_content_slice(cn_file_content(&file), far, 4, &part));
    assert_memory_equal(part.ptr, "here", 4);
    cn_file_close(&file);
    cn_ranges_begin(0, 0);
}

static void a_database_is_the_same(void **state)
{
    struct cn_database *mapped, *ranged;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_sample_write("db", &err));
    assert_true(cn_open_database("db", &mapped, &err));
    cn_ranges_begin(PAGE_LEN, CACHED_LEN);
    assert_true(cn_open_database("db", &ranged, &err));
    if (!cn_compare_databases(mapped, ranged, false, &err) ||
        !cn_compare_planes(ranged, &err))
        fail_msg("%s", err.text);
    cn_database_close(ranged);
    cn_ranges_begin(0, 0);
    cn_database_close(mapped);
}

static void a_recording_is_the_same(void **state)
{
    struct cn_recording *mapped, *ranged;
    struct cn_call_batch expected, batch;
    struct cn_error err = {0};
    size_t at = 0;

    (void)state;
    assert_true(cn_sample_recording_write("run", &err));
    assert_true(cn_open_recording("run", NULL, &mapped, &err));
    cn_ranges_begin(PAGE_LEN, CACHED_LEN);
    assert_true(cn_open_recording("run", NULL, &ranged, &err));
    assert_int_equal(mapped->task_count, ranged->task_count);
    for (uint32_t task = 0; task < mapped->task_count; task++) {
        struct cn_call_stream *a, *b;

        assert_true(cn_recording_stream_open(mapped, task, cn_time_always, &a, &err));
        assert_true(cn_recording_stream_open(ranged, task, cn_time_always, &b, &err));
        batch = (struct cn_call_batch){0};
        at = 0;
        while (cn_call_stream_next(a, &expected, &err) == CN_ITEM)
            for (size_t i = 0; i < expected.count; i++) {
                if (at == batch.count) {
                    assert_int_equal(cn_call_stream_next(b, &batch, &err), CN_ITEM);
                    at = 0;
                }
                assert_int_equal(batch.calls[at].time_ns, expected.calls[i].time_ns);
                assert_int_equal(batch.calls[at].address, expected.calls[i].address);
                assert_int_equal(batch.calls[at].data_len, expected.calls[i].data_len);
                at++;
            }
        assert_int_equal(at, batch.count);
        assert_int_equal(cn_call_stream_next(b, &batch, &err), CN_END);
        cn_call_stream_close(a);
        cn_call_stream_close(b);
    }
    cn_recording_close(ranged);
    cn_ranges_begin(0, 0);
    cn_recording_close(mapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_slice_stays_for_a_while),
        CN_SCRATCH_TEST(what_is_kept_stays),
        CN_SCRATCH_TEST(offsets_have_64_bits),
        CN_SCRATCH_TEST(a_database_is_the_same),
        CN_SCRATCH_TEST(a_recording_is_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
