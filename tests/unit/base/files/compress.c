#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/files/compress.h"
#include "support/random_calls.h"

static const enum cn_compression methods[] = {
    CN_COMPRESSION_NONE,
    CN_COMPRESSION_LZ4,
    CN_COMPRESSION_DEFLATE,
    CN_COMPRESSION_ZSTD,
};
enum { METHOD_COUNT = sizeof(methods) / sizeof(*methods) };

/* Bytes that compress, but not to nothing. */
static uint8_t *make_text(size_t len)
{
    uint8_t *text = cn_alloc(len + 1, 1);
    uint64_t state = len;

    for (size_t i = 0; i < len; i++)
        text[i] = (uint8_t) "etaoin shrdlu"[cn_random_next(&state) % 13];
    return text;
}

static uint8_t *compress_with(enum cn_compression method, struct cn_bytes in, size_t *len)
{
    struct cn_compressor *compressor = cn_compressor_new(method, 0);
    uint8_t *out = cn_alloc(cn_compressor_bound(compressor, in.len) + 1, 1);
    struct cn_error err = {0};

    assert_true(cn_compress(compressor, in, out, len, &err));
    cn_compressor_free(compressor);
    return out;
}

static bool gives(enum cn_compression method, struct cn_bytes in, struct cn_bytes want)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    uint8_t *out = cn_alloc(want.len + 1, 1);
    struct cn_error err = {0};
    bool ok = cn_decompress(decompressor, method, in, out, want.len, &err);

    if (ok)
        assert_memory_equal(out, want.ptr, want.len);
    else
        assert_int_not_equal(err.text[0], '\0');
    free(out);
    cn_decompressor_free(decompressor);
    return ok;
}

static void every_method_gives_back_what_it_got(void **state)
{
    static const size_t lens[] = {0, 1, 2, 100, 4096, 300000};

    (void)state;
    for (size_t m = 0; m < METHOD_COUNT; m++)
        for (size_t i = 0; i < sizeof(lens) / sizeof(*lens); i++) {
            struct cn_bytes text = {make_text(lens[i]), lens[i]};
            size_t len;
            uint8_t *small = compress_with(methods[m], text, &len);

            assert_true(gives(methods[m], (struct cn_bytes){small, len}, text));
            if (lens[i] == 300000 && methods[m] != CN_COMPRESSION_NONE)
                assert_in_range(len, 1, lens[i] - 1);
            free(small);
            free((void *)(uintptr_t)text.ptr);
        }
}

static void any_other_length_is_refused(void **state)
{
    enum { LEN = 5000 };
    uint8_t *text = make_text(LEN + 1);

    (void)state;
    for (size_t m = 0; m < METHOD_COUNT; m++) {
        size_t len;
        uint8_t *small = compress_with(methods[m], (struct cn_bytes){text, LEN}, &len);
        struct cn_bytes in = {small, len};

        assert_false(gives(methods[m], in, (struct cn_bytes){text, LEN - 1}));
        assert_false(gives(methods[m], in, (struct cn_bytes){text, LEN + 1}));
        assert_false(gives(methods[m], in, (struct cn_bytes){text, 0}));
        free(small);
    }
    free(text);
}

static void a_bomb_does_not_go_off(void **state)
{
    enum { LEN = 8 << 20, ROOM = 1000 };
    uint8_t *zeros = cn_alloc(LEN, 1);

    (void)state;
    for (size_t m = 1; m < METHOD_COUNT; m++) {
        size_t len;
        uint8_t *small = compress_with(methods[m], (struct cn_bytes){zeros, LEN}, &len);

        assert_in_range(len, 1, LEN / 200);
        assert_false(gives(methods[m], (struct cn_bytes){small, len},
                           (struct cn_bytes){zeros, ROOM}));
        free(small);
    }
    free(zeros);
}

static void every_truncation_is_refused(void **state)
{
    enum { LEN = 700 };
    uint8_t *text = make_text(LEN);

    (void)state;
    for (size_t m = 0; m < METHOD_COUNT; m++) {
        size_t len;
        uint8_t *small = compress_with(methods[m], (struct cn_bytes){text, LEN}, &len);

        for (size_t i = 0; i < len; i++) {
            /* A copy of its own, so that reading on is noticed. */
            uint8_t *part = cn_alloc(i + 1, 1);

            memcpy(part, small, i);
            /* The end mark of deflate may be missing: it takes up to two bytes. */
            if (methods[m] != CN_COMPRESSION_DEFLATE || i + 2 < len)
                assert_false(gives(methods[m], (struct cn_bytes){part, i},
                                   (struct cn_bytes){text, LEN}));
            free(part);
        }
        free(small);
    }
    free(text);
}

static void survives_every_flipped_bit(void **state)
{
    enum { LEN = 300 };
    struct cn_decompressor *decompressor = cn_decompressor_new();
    uint8_t *text = make_text(LEN), *out = cn_alloc(LEN, 1);
    struct cn_error err = {0};

    (void)state;
    for (size_t m = 1; m < METHOD_COUNT; m++) {
        size_t len, refused = 0;
        uint8_t *small = compress_with(methods[m], (struct cn_bytes){text, LEN}, &len);

        for (size_t bit = 0; bit < 8 * len; bit++) {
            small[bit / 8] ^= (uint8_t)(1 << bit % 8);
            refused += !cn_decompress(decompressor, methods[m],
                                      (struct cn_bytes){small, len}, out, LEN, &err);
            small[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_in_range(refused, 1, 8 * len);
        free(small);
    }
    free(text);
    free(out);
    cn_decompressor_free(decompressor);
}

static void reads_deflate_that_was_flushed_but_never_finished(void **state)
{
    enum { LEN = 20000 };
    uint8_t *text = make_text(LEN), *out = cn_alloc(2 * LEN, 1);
    z_stream stream = {0};
    size_t len;

    (void)state;
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, 0), Z_OK);
    stream.next_in = text;
    stream.avail_in = LEN;
    stream.next_out = out;
    stream.avail_out = 2 * LEN;
    assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    len = stream.total_out;
    assert_true(gives(CN_COMPRESSION_DEFLATE, (struct cn_bytes){out, len},
                      (struct cn_bytes){text, LEN}));
    assert_false(gives(CN_COMPRESSION_DEFLATE, (struct cn_bytes){out, len},
                       (struct cn_bytes){text, LEN - 1}));
    (void)deflateEnd(&stream);
    free(text);
    free(out);
}

static void refuses_a_method_it_does_not_know(void **state)
{
    struct cn_decompressor *decompressor = cn_decompressor_new();
    struct cn_error err = {0};
    uint8_t out[4];

    (void)state;
    assert_false(cn_decompress(decompressor, (enum cn_compression)3,
                               (struct cn_bytes){out, 4}, out, 4, &err));
    assert_string_equal(err.text, "unknown compression 3");
    assert_null(cn_compression_name(3));
    assert_string_equal(cn_compression_name(CN_COMPRESSION_ZSTD), "zstd");
    cn_decompressor_free(decompressor);
    cn_decompressor_free(NULL);
    cn_compressor_free(NULL);
}

static void crc32_is_that_of_zlib(void **state)
{
    const uint8_t *digits = (const uint8_t *)"123456789";
    uint32_t half = cn_crc32((struct cn_bytes){digits, 4});

    (void)state;
    assert_int_equal(cn_crc32((struct cn_bytes){digits, 9}), 0xcbf43926);
    assert_int_equal(cn_crc32_add(half, (struct cn_bytes){digits + 4, 5}), 0xcbf43926);
    assert_int_equal(cn_crc32((struct cn_bytes){0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_gives_back_what_it_got),
        cmocka_unit_test(any_other_length_is_refused),
        cmocka_unit_test(a_bomb_does_not_go_off),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(survives_every_flipped_bit),
        cmocka_unit_test(reads_deflate_that_was_flushed_but_never_finished),
        cmocka_unit_test(refuses_a_method_it_does_not_know),
        cmocka_unit_test(crc32_is_that_of_zlib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
