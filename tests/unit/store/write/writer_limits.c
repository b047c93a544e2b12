/* What a store does at its limits: chunks that claim or hold far more than they should, and segments
 * that are old enough. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/chunk_format.h"
#include "base/files/compress.h"
#include "base/files/file.h"
#include "model/traces/trace.h"
#include "store/segment/reader.h"
#include "store/segment/segments.h"
#include "store/write/writer.h"
#include "support/random_traces.h"
#include "support/scratch.h"

enum { DATA_OFF = cn_chunk_file_header_size };

static void make_store(const struct cn_store_options *options, size_t count,
                       bool is_sealed)
{
    struct cn_store_writer *writer;
    struct cn_trace trace = {0};
    struct cn_error err = {0};
    struct cn_words *words;

    assert_true(cn_store_init("store", options, &err));
    assert_true(cn_store_writer_open(&writer, "store", NULL, &err));
    for (size_t i = 0; i < count; i++) {
        struct timespec moment = {.tv_nsec = 2000000};

        assert_true(cn_store_writer_begin(writer, &words, &err));
        cn_random_trace(&trace, words, i);
        assert_true(cn_store_writer_add(writer, &trace, NULL, &err));
        (void)nanosleep(&moment, NULL);
    }
    cn_trace_done(&trace);
    assert_true(!is_sealed || cn_store_writer_rotate(writer, &err));
    assert_true(cn_store_writer_close(writer, &err));
}

static size_t segment_count(void)
{
    struct cn_error err = {0};
    uint32_t *numbers;
    size_t count;

    assert_true(cn_segments_list("store", &numbers, &count, &err));
    free(numbers);
    return count;
}

static void a_segment_that_is_old_enough_is_sealed(void **state)
{
    struct cn_store_options options = {.rotate_ns = 1000000};
    struct cn_store *store;
    struct cn_error err = {0};
    uint64_t rows = 0;

    (void)state;
    make_store(&options, 6, false);
    assert_true(segment_count() >= 5);
    assert_true(cn_store_open(&store, "store", &err));
    for (size_t i = 0; i < cn_store_segment_count(store); i++) {
        rows += cn_segment_row_count(cn_store_segment(store, i));
        assert_true(cn_segment_is_sealed(cn_store_segment(store, i)) ==
                    (i + 1 < cn_store_segment_count(store)));
    }
    assert_int_equal(rows, 6);
    cn_store_close(store);
}

static void a_segment_that_is_not_old_enough_goes_on(void **state)
{
    struct cn_store_options options = {.rotate_ns = UINT64_C(3600000000000)};

    (void)state;
    make_store(&options, 6, false);
    assert_int_equal(segment_count(), 1);
}

/* Load the first row; the store itself opens. */
static bool load_first(struct cn_error *err)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct cn_trace trace = {0};
    struct cn_store *store;
    bool ok;

    assert_true(cn_store_open(&store, "store", err));
    ok = cn_segment_load(loader, cn_store_segment(store, 0), 0, &trace, err);
    cn_trace_done(&trace);
    cn_segment_loader_free(loader);
    cn_store_close(store);
    return ok;
}

static void replace_data(const uint8_t *chunk, size_t len)
{
    struct cn_file file;
    struct cn_error err = {0};
    uint8_t *bytes;
    size_t all;

    assert_true(cn_file_open(&file, "store/000000/traces.dat", &err));
    all = file.bytes.len > DATA_OFF + len ? file.bytes.len : DATA_OFF + len;
    bytes = cn_alloc(all, 1);
    memcpy(bytes, file.bytes.ptr, file.bytes.len);
    memcpy(bytes + DATA_OFF, chunk, len);
    cn_file_close(&file);
    cn_scratch_write("store/000000/traces.dat", bytes, all);
    free(bytes);
}

static void a_chunk_that_claims_too_much_is_refused(void **state)
{
    struct cn_error err = {0};
    struct cn_file file;
    struct cn_chunk_header head;
    struct cn_bytes rest;
    uint8_t bytes[cn_chunk_header_size];

    (void)state;
    make_store(NULL, 3, true);
    assert_true(load_first(&err));
    assert_true(cn_file_open(&file, "store/000000/traces.dat", &err));
    assert_true(cn_bytes_from(file.bytes, DATA_OFF, &rest));
    assert_true(cn_chunk_header_decode(rest, &head));
    cn_file_close(&file);
    head.plain_len = CN_CHUNK_LEN_MAX;
    cn_chunk_header_encode(&head, bytes);
    replace_data(bytes, sizeof(bytes));
    assert_false(load_first(&err));
    assert_non_null(
        strstr(err.text, "chunk at 0x10: 268435456 bytes do not come out of"));
    head.plain_len = CN_CHUNK_LEN_MAX + 1U;
    cn_chunk_header_encode(&head, bytes);
    replace_data(bytes, sizeof(bytes));
    assert_false(load_first(&err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    assert_non_null(strstr(err.text, "at most 268435456 are allowed"));
}

/* A chunk that is sound, and a thousand times as long when it is plain. */
static void a_bomb_costs_its_chunk_alone(void **state)
{
    enum { LEN = 32 << 20 };
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_DEFLATE, 1);
    size_t room = cn_compressor_bound(compressor, LEN), len;
    uint8_t *zeros = cn_alloc(LEN, 1);
    uint8_t *bomb = cn_alloc(cn_chunk_header_size + room, 1);
    struct cn_error err = {0};
    struct rusage usage;

    (void)state;
    make_store(NULL, 3, true);
    assert_true(cn_compress(compressor, (struct cn_bytes){zeros, LEN},
                            bomb + cn_chunk_header_size, &len, &err));
    assert_in_range(len, 1, LEN / 500);
    cn_chunk_header_encode(
        &(struct cn_chunk_header){
            .magic = CN_CHUNK_MAGIC,
            .stored_len = (uint32_t)len,
            .plain_len = LEN,
            .checksum = cn_crc32((struct cn_bytes){bomb + cn_chunk_header_size, len}),
        },
        bomb);
    replace_data(bomb, cn_chunk_header_size + len);
    assert_false(load_first(&err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_non_null(strstr(err.text, "store/000000/traces.dat: row 0"));
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_in_range(usage.ru_maxrss, 1, 1 << 20); /* KiB, with the sanitizers' own */
    cn_compressor_free(compressor);
    free(bomb);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_segment_that_is_old_enough_is_sealed),
        CN_SCRATCH_TEST(a_segment_that_is_not_old_enough_goes_on),
        CN_SCRATCH_TEST(a_chunk_that_claims_too_much_is_refused),
        CN_SCRATCH_TEST(a_bomb_costs_its_chunk_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
