/* Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/uftrace/packed/file.h"
#include "formats/uftrace/packed/format.h"
#include "formats/uftrace/packed/record_source.h"
#include "support/data.h"
#include "support/listing.h"
#include "support/random_calls.h"
#include "support/scratch.h"

enum { RECORDS = 150000 };

/* Records and what they are packed. */
struct pair {
    uint8_t *made;
    struct cn_bytes plain;
    struct cn_file file;
    struct cn_uft_records records;
};

static void make_pair(struct pair *pair, unsigned kinds)
{
    struct cn_error err = {0};

    *pair = (struct pair){0};
    pair->made = cn_random_calls(RECORDS, kinds, 11, &pair->plain.len);
    pair->plain.ptr = pair->made;
    assert_true(
        cn_uft_pack_file(pair->plain, false, CN_COMPRESSION_ZSTD, 1, "12.zts", &err));
    assert_true(cn_file_open(&pair->file, "12.zts", &err));
    assert_true(cn_uft_records_init(&pair->records, "12.zts",
                                    cn_content_of(pair->file.bytes), false, &err));
}

static void drop_pair(struct pair *pair)
{
    cn_file_close(&pair->file);
    free(pair->made);
}

/* Read everything, leaving `left` bytes of each block unused, and compare. */
static void check_blocks(const struct pair *pair, size_t left, uint64_t stored_off)
{
    struct cn_uft_record_reader *reader =
        cn_uft_record_reader_new(&pair->records, stored_off);
    struct cn_uft_record_block block;
    struct cn_error err = {0};
    uint64_t end_off = 0;
    size_t used_len = 0;
    enum cn_step step;

    while ((step = cn_uft_record_reader_next(reader, used_len, &block, &err)) ==
           CN_ITEM) {
        assert_int_equal(end_off ? block.off : end_off, end_off);
        assert_in_range(block.off + block.bytes.len, block.off, pair->plain.len);
        assert_memory_equal(block.bytes.ptr, pair->plain.ptr + block.off,
                            block.bytes.len);
        used_len = block.bytes.len > left ? block.bytes.len - left : 0;
        end_off = block.off + used_len;
        if (block.bytes.len == left)
            break;
    }
    assert_int_equal(end_off + left, pair->plain.len);
    if (step == CN_ITEM)
        step = cn_uft_record_reader_next(reader, 0, &block, &err);
    assert_int_equal(step, CN_END);
    cn_uft_record_reader_free(reader);
}

static void a_packed_file_reads_like_the_plain_one(void **state)
{
    struct pair pair;

    (void)state;
    make_pair(&pair, CN_CALLS_PAYLOADS | CN_CALLS_ODDITIES | CN_CALLS_GARBAGE);
    assert_true(pair.records.is_packed);
    check_blocks(&pair, 0, 0);
    check_blocks(&pair, 24, 0);
    check_blocks(&pair, 1000, 0);
    drop_pair(&pair);
}

static void a_plain_file_is_one_block(void **state)
{
    struct cn_uft_record_reader *reader;
    struct cn_uft_record_block block;
    struct cn_uft_records records;
    struct cn_error err = {0};
    struct cn_bytes plain;
    uint8_t *made = cn_random_calls(100, 0, 1, &plain.len);

    (void)state;
    plain.ptr = made;
    assert_true(
        cn_uft_records_init(&records, "12.dat", cn_content_of(plain), false, &err));
    assert_int_equal(cn_uft_records_find(&records, UINT64_MAX), 0);
    reader = cn_uft_record_reader_new(&records, 32);
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_ITEM);
    assert_int_equal(block.off, 32);
    assert_ptr_equal(block.bytes.ptr, made + 32);
    assert_int_equal(block.bytes.len, plain.len - 32);
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_END);
    cn_uft_record_reader_free(reader);
    cn_uft_record_reader_free(NULL);
    free(made);
}

static void knows_files_of_tasks_by_their_name(void **state)
{
    static const char *const others[] = {"4294967296.zts", "007.dat", "0.dat", ".zts",
                                         "-1.zts",         "1.ztsx",  "1"};
    uint32_t tid = 7;

    (void)state;
    assert_int_equal(cn_uft_task_file("123.zts", &tid), CN_UFT_PACKED_TASK);
    assert_int_equal(tid, 123);
    assert_int_equal(cn_uft_task_file("4294967295.dat", &tid), CN_UFT_PLAIN_TASK);
    assert_int_equal(tid, UINT32_MAX);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(cn_uft_task_file(others[i], &tid), CN_UFT_NO_TASK);
}

static uint64_t time_at(const struct pair *pair, uint64_t off)
{
    return cn_u64_get(pair->plain.ptr + off);
}

static void begins_with_the_chunk_of_a_time(void **state)
{
    struct cn_uft_record_reader *reader;
    struct cn_uft_record_block block;
    struct cn_error err = {0};
    struct pair pair;
    uint64_t off;

    (void)state;
    make_pair(&pair, 0);
    assert_int_equal(cn_uft_records_find(&pair.records, 0), 0);
    assert_int_equal(cn_uft_records_find(&pair.records, 1), cn_chunk_file_header_size);
    assert_int_equal(cn_uft_records_find(&pair.records, UINT64_MAX), pair.file.bytes.len);
    /* The first record of the second chunk, and the one before. */
    off =
        cn_uft_records_find(&pair.records, time_at(&pair, 16 * CN_UFT_PACKED_ITEMS_MAX));
    assert_in_range(off, cn_chunk_file_header_size + 1, pair.file.bytes.len);
    assert_int_equal(
        cn_uft_records_find(&pair.records,
                            time_at(&pair, 16 * CN_UFT_PACKED_ITEMS_MAX - 16)),
        cn_chunk_file_header_size);
    reader = cn_uft_record_reader_new(&pair.records, off);
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_ITEM);
    assert_int_equal(block.off, 16 * CN_UFT_PACKED_ITEMS_MAX);
    assert_int_equal(block.stored_off, off);
    assert_non_null(block.open_words);
    cn_uft_record_reader_free(reader);
    drop_pair(&pair);
}

static void damage_costs_one_chunk(void **state)
{
    struct cn_uft_record_reader *reader;
    struct cn_uft_record_block block;
    struct cn_error err = {0};
    struct pair pair;
    uint8_t *copy;

    (void)state;
    make_pair(&pair, 0);
    copy = memcpy(cn_alloc(pair.file.bytes.len, 1), pair.file.bytes.ptr,
                  pair.file.bytes.len);
    copy[2000] ^= 1;
    assert_true(cn_uft_records_init(
        &pair.records, "12.zts",
        cn_content_of((struct cn_bytes){copy, pair.file.bytes.len}), false, &err));
    reader = cn_uft_record_reader_new(&pair.records, 0);
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_FAIL);
    assert_memory_equal(err.text, "12.zts: chunk at 0x10: checksum is 0x", 37);
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_ITEM);
    assert_int_equal(block.off, 16 * CN_UFT_PACKED_ITEMS_MAX);
    assert_memory_equal(block.bytes.ptr, pair.plain.ptr + block.off, block.bytes.len);
    cn_uft_record_reader_free(reader);
    free(copy);
    drop_pair(&pair);
}

static void notices_a_chunk_that_is_missing(void **state)
{
    struct cn_uft_record_reader *reader;
    struct cn_uft_record_block block;
    struct cn_chunk first, second;
    struct cn_error err = {0};
    struct pair pair;
    uint8_t *copy;
    size_t cut_len, used_len = 0;
    enum cn_step step;

    (void)state;
    make_pair(&pair, 0);
    assert_true(cn_chunk_file_at(&pair.records.chunks, 16, &first, &err));
    assert_true(
        cn_chunk_file_at(&pair.records.chunks, 32 + first.stored.len, &second, &err));
    cut_len = 16 + second.stored.len;
    copy = cn_alloc(pair.file.bytes.len - cut_len, 1);
    memcpy(copy, pair.file.bytes.ptr, second.off);
    memcpy(copy + second.off, pair.file.bytes.ptr + second.off + cut_len,
           pair.file.bytes.len - second.off - cut_len);
    assert_true(cn_uft_records_init(
        &pair.records, "12.zts",
        cn_content_of((struct cn_bytes){copy, pair.file.bytes.len - cut_len}), false,
        &err));
    reader = cn_uft_record_reader_new(&pair.records, 0);
    do {
        step = cn_uft_record_reader_next(reader, used_len, &block, &err);
        used_len = block.bytes.len;
    } while (step == CN_ITEM);
    assert_int_equal(step, CN_FAIL);
    assert_non_null(
        strstr(err.text, "packed records continue at byte 2097152 instead of 1048576"));
    /* The records after the gap are read. */
    assert_int_equal(cn_uft_record_reader_next(reader, 0, &block, &err), CN_ITEM);
    assert_int_equal(block.off, 2097152);
    assert_memory_equal(block.bytes.ptr, pair.plain.ptr + block.off, block.bytes.len);
    cn_uft_record_reader_free(reader);
    free(copy);
    drop_pair(&pair);
}

static void refuses_what_is_not_packed(void **state)
{
    struct cn_uft_records records;
    struct cn_error err = {0};
    uint8_t head[16] = "ZTS0";

    (void)state;
    assert_false(cn_uft_records_init(
        &records, "1.zts", cn_content_of((struct cn_bytes){head, 3}), false, &err));
    assert_string_equal(err.text, "1.zts: not a chunk file: it does not begin with ZTS0");
    head[7] = 1;
    assert_false(cn_uft_records_init(
        &records, "1.zts", cn_content_of((struct cn_bytes){head, 16}), false, &err));
    assert_string_equal(err.text,
                        "1.zts: packed records do not support lz4 in the chunk file");
}

/* True if all blocks together are `plain`; false at the first damage. */
static bool unpacks_to(const struct cn_uft_records *records, struct cn_bytes plain,
                       struct cn_error *err)
{
    struct cn_uft_record_reader *reader = cn_uft_record_reader_new(records, 0);
    struct cn_uft_record_block block = {0};
    enum cn_step step;
    size_t len = 0;

    while ((step = cn_uft_record_reader_next(reader, block.bytes.len, &block, err)) ==
           CN_ITEM) {
        assert_true(block.bytes.len <= plain.len - len);
        assert_memory_equal(block.bytes.ptr, plain.ptr + len, block.bytes.len);
        len += block.bytes.len;
    }
    cn_uft_record_reader_free(reader);
    return step == CN_END && len == plain.len;
}

static void packs_a_directory_in_place(void **state)
{
    struct cn_error err = {0};
    struct cn_uft_records records;
    struct cn_file file = {0};
    struct cn_bytes plain;
    uint8_t *made =
        cn_random_calls(3000, CN_CALLS_PAYLOADS | CN_CALLS_BIG_ENDIAN, 2, &plain.len);

    (void)state;
    assert_int_equal(mkdir("d", 0777), 0);
    cn_scratch_write("d/5.dat", made, plain.len);
    cn_scratch_write("d/6.dat", made, 0);
    cn_scratch_write("d/perf-cpu0.dat", "x", 1);
    cn_scratch_write("d/info", "y", 1);
    assert_true(cn_uft_pack_directory("d", true, 2, NULL, &err));
    assert_int_equal(cn_scratch_count("d"), 4);
    assert_true(cn_scratch_holds("d/perf-cpu0.dat", "x", 1));
    assert_true(cn_file_open(&file, "d/5.zts", &err));
    assert_true(
        cn_uft_records_init(&records, "5.zts", cn_content_of(file.bytes), true, &err));
    plain.ptr = made;
    assert_true(unpacks_to(&records, plain, &err));
    /* The byte order is part of the file. */
    records.is_big_endian = false;
    assert_false(unpacks_to(&records, plain, &err));
    assert_string_equal(err.text,
                        "5.zts: chunk at 0x10: packed records of the other byte order");
    cn_file_close(&file);
    assert_true(cn_file_open(&file, "d/6.zts", &err));
    assert_int_equal(file.bytes.len, cn_chunk_file_header_size);
    cn_file_close(&file);
    assert_false(cn_uft_pack_directory("nowhere", false, 1, NULL, &err));
    free(made);
}

/* Recordings come back byte for byte. */
static void check_file(const char *dir, const char *name)
{
    struct cn_file file = {0}, packed = {0};
    struct cn_uft_records records;
    struct cn_error err = {0};

    assert_true(cn_file_open_at(&file, dir, name, &err));
    assert_true(
        cn_uft_pack_file(file.bytes, false, CN_COMPRESSION_ZSTD, 1, "1.zts", &err));
    assert_true(cn_file_open(&packed, "1.zts", &err));
    assert_true(
        cn_uft_records_init(&records, "1.zts", cn_content_of(packed.bytes), false, &err));
    assert_true(unpacks_to(&records, file.bytes, &err));
    cn_file_close(&packed);
    cn_file_close(&file);
    assert_int_equal(remove("1.zts"), 0);
}

static size_t check_recording(const char *dir)
{
    struct cn_listing files = cn_listing_of(dir);
    size_t count = 0;

    for (size_t i = 0; i < files.count; i++) {
        const char *name = files.names[i];
        size_t digits = strspn(name, "0123456789");

        if (digits == 0 || strcmp(name + digits, ".dat") != 0)
            continue;
        check_file(dir, name);
        count++;
    }
    cn_listing_done(&files);
    return count;
}

static void gives_back_all_recordings(void **state)
{
    char *folder = cn_test_data("uftrace");
    struct cn_listing recordings = cn_listing_of_recordings(folder);
    size_t count = 0;

    (void)state;
    for (size_t i = 0; i < recordings.count; i++) {
        char path[512];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, recordings.names[i]);
        count += check_recording(path);
    }
    cn_listing_done(&recordings);
    free(folder);
    assert_in_range(count, 20, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_packed_file_reads_like_the_plain_one),
        cmocka_unit_test(a_plain_file_is_one_block),
        cmocka_unit_test(knows_files_of_tasks_by_their_name),
        CN_SCRATCH_TEST(begins_with_the_chunk_of_a_time),
        CN_SCRATCH_TEST(damage_costs_one_chunk),
        CN_SCRATCH_TEST(notices_a_chunk_that_is_missing),
        cmocka_unit_test(refuses_what_is_not_packed),
        CN_SCRATCH_TEST(packs_a_directory_in_place),
    };
    const struct CMUnitTest on_data[] = {
        CN_SCRATCH_TEST(gives_back_all_recordings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
