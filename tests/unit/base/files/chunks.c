#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/chunks.h"
#include "base/files/file.h"
#include "support/scratch.h"

enum { CHUNKS = 5, CHUNK_MAX = 64 };

/* Chunk i is a text of its own. */
static struct cn_bytes text_of(int i, char text[static CHUNK_MAX])
{
    int len = snprintf(text, CHUNK_MAX, "chunk %d %.*s", i, 7 * i,
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");

    return (struct cn_bytes){(const uint8_t *)text, (size_t)len};
}

static void write_file(const char *path, uint32_t flags)
{
    struct cn_chunk_writer writer;
    struct cn_error err = {0};
    char text[CHUNK_MAX];

    assert_true(cn_chunk_writer_create(&writer, path, flags, 0, &err));
    for (int i = 0; i < CHUNKS; i++)
        assert_true(cn_chunk_writer_add(&writer, text_of(i, text), &err));
    assert_true(cn_chunk_writer_close(&writer, &err));
}

/* The bytes of a file on the heap, where reading beyond them is noticed. */
static struct cn_bytes load(const char *path)
{
    struct cn_file file = {0};
    struct cn_error err = {0};
    struct cn_bytes bytes;

    assert_true(cn_file_open(&file, path, &err));
    bytes.len = file.bytes.len;
    bytes.ptr = memcpy(cn_alloc(bytes.len, 1), file.bytes.ptr, bytes.len);
    cn_file_close(&file);
    return bytes;
}

static void unload(struct cn_bytes bytes)
{
    free((void *)(uintptr_t)bytes.ptr);
}

/* Which of the written chunks are there, as bits; anything else fails the test. */
static unsigned chunks_in(struct cn_bytes bytes, enum cn_chunk_dialect dialect,
                          size_t *failures)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    struct cn_chunk_file file;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_error err = {0};
    char out[CHUNK_MAX], text[CHUNK_MAX];
    unsigned found = 0;

    *failures = 0;
    assert_true(cn_chunk_file_init(&file, cn_content_of(bytes), dialect, &err));
    cn_chunk_walk_begin(&walk, &file);
    while (!cn_chunk_walk_is_at_end(&walk)) {
        if (!cn_chunk_walk_next(&walk, true, &chunk, &err) ||
            chunk.plain_len > CHUNK_MAX ||
            !cn_chunk_read(&file, &chunk, decompressor, (uint8_t *)out, &err)) {
            ++*failures;
            continue;
        }
        for (int i = 0; i < CHUNKS; i++) {
            struct cn_bytes want = text_of(i, text);

            if (want.len == chunk.plain_len && memcmp(want.ptr, out, want.len) == 0)
                found |= 1U << i;
        }
    }
    cn_decompressor_free(decompressor);
    return found;
}

static void reads_what_it_wrote(void **state)
{
    static const uint32_t flags[] = {0, 1, 2, 0x10, 0x11, 0x12};
    size_t failures;

    (void)state;
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        char path[16];
        struct cn_bytes bytes;

        (void)snprintf(path, sizeof(path), "f%zu", i);
        write_file(path, flags[i]);
        bytes = load(path);
        assert_int_equal(chunks_in(bytes, CN_CHUNK_DIALECT_SPEC, &failures), 0x1f);
        assert_int_equal(failures, 0);
        unload(bytes);
    }
}

static void writes_the_bytes_of_the_specification(void **state)
{
    static const uint8_t want[] = {
        'Z',  'T',  'S',  '0',  0,   0,   0,   0x10, 0,   0,   0,   0,   0,  0,
        0,    0,    'Z',  'C',  'H', '0', 0,   0,    0,   9,   0,   0,   0,  9,
        0xcb, 0xf4, 0x39, 0x26, '1', '2', '3', '4',  '5', '6', '7', '8', '9'};
    struct cn_bytes digits = {(const uint8_t *)"123456789", 9};
    struct cn_chunk_writer writer;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_chunk_writer_create(&writer, "f", CN_CHUNK_FLAG_CRC32, 0, &err));
    assert_true(cn_chunk_writer_add(&writer, digits, &err));
    assert_int_equal(writer.end_off, sizeof(want));
    assert_true(cn_chunk_writer_close(&writer, &err));
    assert_true(cn_scratch_holds("f", want, sizeof(want)));
}

static void the_original_has_the_methods_exchanged(void **state)
{
    size_t failures;
    struct cn_bytes bytes;

    (void)state;
    write_file("f", CN_CHUNK_FLAG_DEFLATE | CN_CHUNK_FLAG_CRC32);
    bytes = load("f");
    ((uint8_t *)(uintptr_t)bytes.ptr)[7] = 0x11;
    assert_int_equal(chunks_in(bytes, CN_CHUNK_DIALECT_ORIGINAL, &failures), 0x1f);
    assert_int_not_equal(chunks_in(bytes, CN_CHUNK_DIALECT_SPEC, &failures), 0x1f);
    unload(bytes);
}

static void finds_a_chunk_by_its_offset(void **state)
{
    struct cn_chunk_file file;
    struct cn_chunk chunk;
    struct cn_error err = {0};
    struct cn_bytes bytes;

    (void)state;
    write_file("f", CN_CHUNK_FLAG_CRC32);
    bytes = load("f");
    assert_true(
        cn_chunk_file_init(&file, cn_content_of(bytes), CN_CHUNK_DIALECT_SPEC, &err));
    assert_true(cn_chunk_file_at(&file, 16, &chunk, &err));
    assert_memory_equal(chunk.stored.ptr, "chunk 0 ", 8);
    assert_true(cn_chunk_check(&file, &chunk, &err));
    assert_false(cn_chunk_file_at(&file, 17, &chunk, &err));
    assert_string_equal(err.text, "chunk at 0x11: 0x43483000 is not ZCH0");
    assert_false(cn_chunk_file_at(&file, UINT64_MAX, &chunk, &err));
    unload(bytes);
}

static void every_truncation_leaves_the_chunks_before_it(void **state)
{
    struct cn_bytes bytes;
    struct cn_error err = {0};
    struct cn_chunk_file file;
    char text[CHUNK_MAX];

    (void)state;
    write_file("f", CN_CHUNK_FLAG_CRC32);
    bytes = load("f");
    for (size_t len = 0; len < 16; len++)
        assert_false(cn_chunk_file_init(&file,
                                        cn_content_of((struct cn_bytes){bytes.ptr, len}),
                                        CN_CHUNK_DIALECT_SPEC, &err));
    for (size_t len = 16; len <= bytes.len; len++) {
        struct cn_bytes part = {memcpy(cn_alloc(len, 1), bytes.ptr, len), len};
        size_t end = 16, failures, whole = 0;

        while (whole < CHUNKS && end + 16 + text_of((int)whole, text).len <= len)
            end += 16 + text_of((int)whole++, text).len;
        assert_int_equal(chunks_in(part, CN_CHUNK_DIALECT_SPEC, &failures),
                         (1U << whole) - 1);
        assert_int_equal(failures, end < len ? 1 : 0);
        unload(part);
    }
    unload(bytes);
}

static void every_flipped_bit_costs_one_chunk_at_most(void **state)
{
    struct cn_bytes bytes;

    (void)state;
    write_file("f", CN_CHUNK_FLAG_CRC32);
    bytes = load("f");
    for (size_t bit = 16 * 8; bit < bytes.len * 8; bit++) {
        uint8_t *byte = (uint8_t *)(uintptr_t)bytes.ptr + bit / 8;
        unsigned lost;
        size_t failures;

        *byte ^= (uint8_t)(1 << bit % 8);
        lost = 0x1f & ~chunks_in(bytes, CN_CHUNK_DIALECT_SPEC, &failures);
        assert_int_equal(lost & (lost - 1), 0);
        assert_true(lost == 0 || failures > 0);
        *byte ^= (uint8_t)(1 << bit % 8);
    }
    unload(bytes);
}

static void going_on_cuts_off_a_torn_tail(void **state)
{
    struct cn_chunk_writer writer;
    struct cn_error err = {0};
    struct cn_bytes bytes;
    uint64_t cut_len;
    size_t failures;
    char text[CHUNK_MAX];

    (void)state;
    write_file("f", CN_CHUNK_FLAG_LZ4 | CN_CHUNK_FLAG_CRC32);
    bytes = load("f");
    cn_scratch_write("g", bytes.ptr, bytes.len - 3);
    unload(bytes);
    assert_true(cn_chunk_writer_reopen(&writer, "g", 0, &cut_len, &err));
    assert_in_range(cut_len, 1, 100);
    assert_true(cn_chunk_writer_add(&writer, text_of(4, text), &err));
    assert_true(cn_chunk_writer_close(&writer, &err));
    bytes = load("g");
    assert_int_equal(chunks_in(bytes, CN_CHUNK_DIALECT_SPEC, &failures), 0x1f);
    assert_int_equal(failures, 0);
    unload(bytes);
    assert_true(cn_chunk_writer_reopen(&writer, "g", 0, &cut_len, &err));
    assert_int_equal(cut_len, 0);
    cn_chunk_writer_abandon(&writer);
}

static void refuses_what_is_no_chunk_file(void **state)
{
    static const uint8_t wrong[16] = "ZTS1";
    uint8_t flags[16] = "ZTS0";
    struct cn_chunk_writer writer;
    struct cn_chunk_file file;
    struct cn_error err = {0};
    uint64_t cut_len;

    (void)state;
    assert_false(cn_chunk_file_init(&file, cn_content_of((struct cn_bytes){wrong, 16}),
                                    CN_CHUNK_DIALECT_SPEC, &err));
    assert_string_equal(err.text, "not a chunk file: it does not begin with ZTS0");
    flags[7] = 0x20;
    assert_false(cn_chunk_file_init(&file, cn_content_of((struct cn_bytes){flags, 16}),
                                    CN_CHUNK_DIALECT_SPEC, &err));
    assert_string_equal(err.text, "chunk file with unknown flags 0x20");
    flags[7] = 0x03;
    assert_false(cn_chunk_file_init(&file, cn_content_of((struct cn_bytes){flags, 16}),
                                    CN_CHUNK_DIALECT_SPEC, &err));
    cn_scratch_write("w", wrong, 16);
    assert_false(cn_chunk_writer_reopen(&writer, "w", 0, &cut_len, &err));
    assert_string_equal(err.text, "w: not a chunk file: it does not begin with ZTS0");
    assert_false(cn_chunk_writer_create(&writer, "w", 0, 0, &err));
    assert_string_equal(err.text, "w: File exists");
}

static void checks_are_linear_in_a_file_full_of_headers(void **state)
{
    enum { COUNT = 4000, LEN = 16 + COUNT * 16 };
    uint8_t *bytes = cn_alloc(LEN, 1);
    struct cn_chunk_file_header head = {.magic = CN_CHUNK_FILE_MAGIC,
                                        .flags = CN_CHUNK_FLAG_CRC32};
    struct cn_chunk_file file;
    struct cn_chunk_walk walk;
    struct cn_chunk chunk;
    struct cn_error err = {0};

    (void)state;
    cn_chunk_file_header_encode(&head, bytes);
    /* Each claims all the rest but a little, so that its end is no boundary. */
    for (uint32_t i = 0; i < COUNT; i++) {
        struct cn_chunk_header chunk_head = {.magic = CN_CHUNK_MAGIC, .checksum = 1};
        uint32_t rest = LEN - 16 - i * 16 - 16;

        chunk_head.stored_len = rest > 7 ? rest - 7 : rest;
        cn_chunk_header_encode(&chunk_head, bytes + 16 + (size_t)i * 16);
    }
    assert_true(cn_chunk_file_init(&file, cn_content_of((struct cn_bytes){bytes, LEN}),
                                   CN_CHUNK_DIALECT_SPEC, &err));
    cn_chunk_walk_begin(&walk, &file);
    while (!cn_chunk_walk_is_at_end(&walk))
        assert_false(cn_chunk_walk_next(&walk, true, &chunk, &err));
    assert_in_range(walk.wasted_len, LEN / 2, 2 * LEN);
    assert_int_equal(walk.lost_len, LEN - 16);
    free(bytes);
}

static void refuses_chunks_beyond_the_limit(void **state)
{
    uint8_t bytes[64] = {0};
    struct cn_chunk_header head = {
        .magic = CN_CHUNK_MAGIC, .stored_len = 4, .plain_len = CN_CHUNK_LEN_MAX + 1U};
    struct cn_chunk_file file = {.content = {bytes, sizeof(bytes), NULL}};
    struct cn_chunk chunk;
    struct cn_error err = {0};

    (void)state;
    cn_chunk_header_encode(&head, bytes + 16);
    assert_false(cn_chunk_file_at(&file, 16, &chunk, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    head.plain_len = 4;
    head.stored_len = UINT32_MAX;
    cn_chunk_header_encode(&head, bytes + 16);
    assert_false(cn_chunk_file_at(&file, 16, &chunk, &err));
    assert_string_equal(err.text,
                        "chunk at 0x10: 4294967295 bytes, but the file ends after 32");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(reads_what_it_wrote),
        CN_SCRATCH_TEST(writes_the_bytes_of_the_specification),
        CN_SCRATCH_TEST(the_original_has_the_methods_exchanged),
        CN_SCRATCH_TEST(finds_a_chunk_by_its_offset),
        CN_SCRATCH_TEST(every_truncation_leaves_the_chunks_before_it),
        CN_SCRATCH_TEST(every_flipped_bit_costs_one_chunk_at_most),
        CN_SCRATCH_TEST(going_on_cuts_off_a_torn_tail),
        CN_SCRATCH_TEST(refuses_what_is_no_chunk_file),
        CN_SCRATCH_TEST(checks_are_linear_in_a_file_full_of_headers),
        CN_SCRATCH_TEST(refuses_chunks_beyond_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
