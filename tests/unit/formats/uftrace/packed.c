#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "formats/uftrace/packed/decode.h"
#include "formats/uftrace/packed/encode.h"
#include "formats/uftrace/packed/file.h"
#include "formats/uftrace/packed/predictor.h"
#include "support/random_calls.h"

enum { ALL_KINDS = 32 };

/* A whole chunk unpacked, on the heap. */
struct unpacked {
    struct cn_uft_packed_lead lead;
    uint8_t *bytes;
    size_t len;
};

static bool unpack(struct cn_uft_unpacker *unpacker, struct cn_bytes chunk,
                   struct unpacked *out, struct cn_error *err)
{
    struct unpacked made = {0};
    struct cn_bytes bytes;
    enum cn_step step;

    if (!cn_uft_unpacker_begin(unpacker, chunk, &made.lead, err))
        return false;
    while ((step = cn_uft_unpacker_next(unpacker, &bytes, err)) == CN_ITEM) {
        made.bytes = cn_realloc(made.bytes, made.len + bytes.len + 1, 1);
        memcpy(made.bytes + made.len, bytes.ptr, bytes.len);
        made.len += bytes.len;
    }
    if (step == CN_END)
        *out = made;
    else
        free(made.bytes);
    return step == CN_END;
}

static bool is_unpacked(struct cn_uft_unpacker *unpacker, struct cn_bytes chunk,
                        struct cn_error *err)
{
    struct unpacked unpacked;
    bool ok = unpack(unpacker, chunk, &unpacked, err);

    if (ok)
        free(unpacked.bytes);
    return ok;
}

/* Pack everything and check that each chunk, unpacked on its own, gives its part. Returns the
 * number of chunks. */
static size_t check_round_trip(struct cn_bytes bytes, bool is_big_endian,
                               enum cn_compression method)
{
    struct cn_uft_packer *packer = cn_uft_packer_new(is_big_endian, method, 0);
    struct cn_bytes rest = bytes, chunk;
    struct cn_error err = {0};
    size_t off = 0, chunks = 0;

    while (rest.len > 0) {
        struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
        struct unpacked unpacked;

        cn_uft_packer_fill(packer, &rest, is_big_endian);
        assert_true(cn_uft_packer_take(packer, &chunk, &err));
        if (!unpack(unpacker, chunk, &unpacked, &err))
            fail_msg("%s", err.text);
        assert_int_equal(unpacked.lead.unpacked_off, off);
        assert_int_equal(unpacked.len, bytes.len - rest.len - off);
        assert_memory_equal(unpacked.bytes, bytes.ptr + off, unpacked.len);
        off += unpacked.len;
        chunks++;
        free(unpacked.bytes);
        cn_uft_unpacker_free(unpacker);
    }
    cn_uft_packer_free(packer);
    return chunks;
}

static void gives_back_every_kind_of_record(void **state)
{
    (void)state;
    for (unsigned kinds = 0; kinds < ALL_KINDS; kinds++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct cn_bytes bytes;
            uint8_t *made = cn_random_calls(400, kinds, seed, &bytes.len);

            bytes.ptr = made;
            assert_int_equal(
                check_round_trip(bytes, kinds & CN_CALLS_BIG_ENDIAN,
                                 seed % 2 ? CN_COMPRESSION_NONE : CN_COMPRESSION_ZSTD),
                1);
            free(made);
        }
}

static void gives_back_many_chunks_each_on_its_own(void **state)
{
    static const unsigned kinds[] = {0, CN_CALLS_PAYLOADS | CN_CALLS_ODDITIES,
                                     CN_CALLS_DEEP, ALL_KINDS - 1};

    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        struct cn_bytes bytes;
        uint8_t *made = cn_random_calls(200000, kinds[i], i, &bytes.len);

        bytes.ptr = made;
        assert_in_range(
            check_round_trip(bytes, kinds[i] & CN_CALLS_BIG_ENDIAN, CN_COMPRESSION_ZSTD),
            3, 100);
        free(made);
    }
}

/* A depth has ten bits: what is deeper counts from 0 again and shares the frames of what is
 * open below. */
static void gives_back_recursion_deeper_than_depths_can_count(void **state)
{
    enum { ROUNDS = 12, LEVELS = 1030 };
    uint8_t *records = cn_alloc((size_t)ROUNDS * 2 * LEVELS, cn_uft_record_size);
    uint8_t *at = records;
    uint64_t time_ns = 0;

    (void)state;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        uint64_t levels = round % 3 ? LEVELS - round % 8 : 1 + round % 2;

        for (uint64_t i = 0; i < 2 * levels; i++, at += cn_uft_record_size) {
            bool is_exit = i >= levels;
            uint64_t level = is_exit ? 2 * levels - 1 - i : i;
            uint64_t address = 0x1000 + (level * 7 + round % 4) % 5;

            cn_u64_put(at, time_ns += 50);
            cn_u64_put(at + 8, address << 16 | level % 1024 << 6 | 5 << 3 | is_exit);
        }
    }
    (void)check_round_trip((struct cn_bytes){records, (size_t)(at - records)}, false,
                           CN_COMPRESSION_NONE);
    free(records);
}

static void gives_back_bytes_that_are_no_records_at_all(void **state)
{
    uint64_t place = 1;

    (void)state;
    for (size_t len = 0; len < 300; len++) {
        uint8_t *noise = cn_alloc(len + 1, 1);

        for (size_t i = 0; i < len; i++)
            noise[i] = (uint8_t)cn_random_next(&place);
        (void)check_round_trip((struct cn_bytes){noise, len}, len % 2,
                               CN_COMPRESSION_NONE);
        memset(noise, 0xff, len);
        (void)check_round_trip((struct cn_bytes){noise, len}, false, CN_COMPRESSION_LZ4);
        free(noise);
    }
}

/* More of everything than fits into a chunk: functions, payload, bytes that are no record. */
static void ends_a_chunk_before_it_is_too_large(void **state)
{
    enum { COUNT = 3 * CN_UFT_PACKED_WORDS_MAX, NOISE = 3 * CN_UFT_PACKED_PAYLOAD_MAX };
    uint8_t *records = cn_alloc(COUNT, cn_uft_record_size);
    uint8_t *noise = cn_alloc(NOISE, 1);

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        cn_u64_put(records + 16 * i, i * 1000);
        cn_u64_put(records + 16 * i + 8, i << 16 | 5 << 3 | CN_UFT_EVENT);
    }
    assert_int_equal(
        check_round_trip((struct cn_bytes){records, COUNT * cn_uft_record_size}, false,
                         CN_COMPRESSION_ZSTD),
        3);
    assert_in_range(
        check_round_trip((struct cn_bytes){noise, NOISE}, false, CN_COMPRESSION_ZSTD), 3,
        5);
    free(records);
    free(noise);
}

/* A packed chunk of 200 records, on the heap. */
static struct cn_bytes make_chunk(unsigned kinds, enum cn_compression method)
{
    struct cn_uft_packer *packer =
        cn_uft_packer_new(kinds & CN_CALLS_BIG_ENDIAN, method, 0);
    struct cn_bytes bytes, rest, chunk, copy;
    struct cn_error err = {0};
    uint8_t *made = cn_random_calls(200, kinds, 7, &bytes.len);

    bytes.ptr = made;
    rest = bytes;
    cn_uft_packer_fill(packer, &rest, kinds & CN_CALLS_BIG_ENDIAN);
    assert_true(cn_uft_packer_take(packer, &chunk, &err));
    copy = (struct cn_bytes){memcpy(cn_alloc(chunk.len, 1), chunk.ptr, chunk.len),
                             chunk.len};
    cn_uft_packer_free(packer);
    free(made);
    return copy;
}

static void the_lead_tells_what_is_in_the_chunk(void **state)
{
    uint8_t bytes[5 * 16];
    static const uint64_t words[][2] = {
        {1000, 0x1000 << 16 | 5 << 3 | CN_UFT_ENTRY},
        {1100, 0x2000 << 16 | 1 << 6 | 5 << 3 | CN_UFT_ENTRY},
        {1300, 0x2000 << 16 | 1 << 6 | 5 << 3 | CN_UFT_EXIT},
        {0, 77 << 16 | 5 << 3 | CN_UFT_LOST},
        {1700, UINT64_C(100001) << 16 | 5 << 3 | CN_UFT_EVENT},
    };
    struct cn_uft_packer *packer = cn_uft_packer_new(false, CN_COMPRESSION_NONE, 0);
    struct cn_bytes rest = {bytes, sizeof(bytes)}, chunk;
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
    struct cn_uft_packed_lead lead;
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        cn_u64_put(bytes + 16 * i, words[i][0]);
        cn_u64_put(bytes + 16 * i + 8, words[i][1]);
    }
    cn_uft_packer_fill(packer, &rest, false);
    assert_true(cn_uft_packer_take(packer, &chunk, &err));
    assert_true(cn_uft_packed_lead_read(chunk, &lead, &err));
    assert_int_equal(lead.first_ns, 1000);
    assert_int_equal(lead.last_ns, 1700);
    assert_int_equal(lead.enter_count, 2);
    assert_int_equal(lead.exit_count, 1);
    assert_int_equal(lead.event_count, 1);
    assert_int_equal(lead.loss_count, 1);
    assert_int_equal(lead.lost_count, 77);
    assert_int_equal(lead.unpacked_len, 80);
    assert_int_equal(lead.depth, 0);
    /* The next chunk knows what is open. */
    rest = (struct cn_bytes){bytes + 32, 16};
    cn_uft_packer_fill(packer, &rest, false);
    assert_true(cn_uft_packer_take(packer, &chunk, &err));
    assert_true(cn_uft_unpacker_begin(unpacker, chunk, &lead, &err));
    assert_int_equal(lead.depth, 1);
    assert_int_equal(cn_uft_unpacker_open_words(unpacker)[0], words[0][1]);
    assert_int_equal(lead.unpacked_off, 80);
    assert_int_equal(lead.start_ns, 1700);
    cn_uft_unpacker_free(unpacker);
    cn_uft_packer_free(packer);
}

static void rejects_every_truncation(void **state)
{
    static const enum cn_compression methods[] = {CN_COMPRESSION_NONE, CN_COMPRESSION_LZ4,
                                                  CN_COMPRESSION_ZSTD};
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();

    (void)state;
    for (size_t m = 0; m < 3; m++) {
        struct cn_bytes chunk = make_chunk(CN_CALLS_PAYLOADS, methods[m]);

        for (size_t len = 0; len < chunk.len; len++) {
            struct cn_bytes part = {cn_alloc(len + 1, 1), len};
            struct cn_error err = {0};

            memcpy((uint8_t *)(uintptr_t)part.ptr, chunk.ptr, len);
            assert_false(is_unpacked(unpacker, part, &err));
            assert_int_not_equal(err.text[0], '\0');
            free((void *)(uintptr_t)part.ptr);
        }
        free((void *)(uintptr_t)chunk.ptr);
    }
    cn_uft_unpacker_free(unpacker);
}

static void fix_check(uint8_t *chunk)
{
    memset(chunk + CN_UFT_PACKED_CHECK_OFF, 0, 4);
    cn_u32_put(chunk + CN_UFT_PACKED_CHECK_OFF,
               cn_crc32((struct cn_bytes){chunk, cn_uft_packed_lead_size}));
}

/* With the checksum of the lead made right again, so that the damage gets through. */
static void survives_every_flipped_bit(void **state)
{
    static const unsigned kinds[] = {CN_CALLS_PAYLOADS | CN_CALLS_ODDITIES,
                                     ALL_KINDS - 1};
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        struct cn_bytes good = make_chunk(kinds[k], CN_COMPRESSION_NONE);
        uint8_t *chunk = (uint8_t *)(uintptr_t)good.ptr;
        size_t refused = 0;

        for (size_t bit = 0; bit < good.len * 8; bit++) {
            struct cn_error err = {0};

            chunk[bit / 8] ^= (uint8_t)(1 << bit % 8);
            if (bit < 8 * cn_uft_packed_lead_size)
                assert_false(is_unpacked(unpacker, good, &err));
            fix_check(chunk);
            refused += !is_unpacked(unpacker, good, &err);
            chunk[bit / 8] ^= (uint8_t)(1 << bit % 8);
            fix_check(chunk);
        }
        assert_in_range(refused, 100, good.len * 8);
        free(chunk);
    }
    cn_uft_unpacker_free(unpacker);
}

/* Change one number of the lead and see the message. */
static void assert_refused(size_t off, size_t len, uint64_t value, const char *message)
{
    struct cn_bytes good = make_chunk(0, CN_COMPRESSION_NONE);
    uint8_t *chunk = (uint8_t *)(uintptr_t)good.ptr;
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
    struct cn_error err = {0};
    uint8_t bytes[8];

    cn_u64_put(bytes, value);
    memcpy(chunk + off, bytes, len);
    fix_check(chunk);
    assert_false(is_unpacked(unpacker, good, &err));
    assert_string_equal(err.text, message);
    cn_uft_unpacker_free(unpacker);
    free(chunk);
}

static void refuses_absurd_numbers(void **state)
{
    (void)state;
    assert_refused(0x00, 1, 2,
                   "packed records of version 2 are not supported; supported is 1");
    assert_refused(0x44, 4, UINT32_MAX,
                   "packed chunk with 4294967295 items, at most 65536 are allowed");
    assert_refused(0x48, 4, 8193,
                   "packed chunk with 8193 words, at most 8192 are allowed");
    assert_refused(0x4c, 4, 524289,
                   "packed chunk with 524289 bytes of times, at most 524288 are allowed");
    assert_refused(0x58, 4, 1 << 30,
                   "packed chunk with 1073741824 bytes of payload, at most 2097152 are "
                   "allowed");
    assert_refused(0x5c, 2, 1024, "packed chunk with 1024 open functions and 26 words");
    assert_refused(0x02, 1, 9, "unknown compression 9");
    assert_refused(0x30, 4, 3199, "packed chunk unpacks to 3200 bytes instead of 3199");
}

static void refuses_bombs(void **state)
{
    uint8_t *zeros = cn_alloc(1 << 20, 1);
    struct cn_uft_packed_lead lead = {
        .version = 1,
        .compression = CN_COMPRESSION_ZSTD,
        .item_count = 1,
        .payload_len = (1 << 20) - 2,
    };
    struct cn_compressor *compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    uint8_t *chunk = cn_alloc(1 << 20, 2);
    struct cn_uft_unpacker *unpacker = cn_uft_unpacker_new();
    struct cn_error err = {0};
    size_t len;

    (void)state;
    cn_uft_packed_lead_encode(&lead, chunk);
    fix_check(chunk);
    assert_true(cn_compress(compressor, (struct cn_bytes){zeros, 1 << 20},
                            chunk + cn_uft_packed_lead_size, &len, &err));
    assert_in_range(len, 1, 4095);
    assert_false(is_unpacked(
        unpacker, (struct cn_bytes){chunk, cn_uft_packed_lead_size + len}, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    cn_uft_unpacker_free(unpacker);
    cn_compressor_free(compressor);
    free(chunk);
    free(zeros);
}

/* What compresses too well is stored as it is, so that no honest chunk is refused. */
static void packs_monotony_within_the_limit(void **state)
{
    enum { COUNT = 60000 };
    uint8_t *records = cn_alloc(COUNT, cn_uft_record_size);

    (void)state;
    for (uint64_t i = 0; i < COUNT; i++) {
        cn_u64_put(records + 16 * i, i * 100);
        cn_u64_put(records + 16 * i + 8, 0x1000 << 16 | 5 << 3 | (i & 1));
    }
    assert_int_equal(
        check_round_trip((struct cn_bytes){records, COUNT * cn_uft_record_size}, false,
                         CN_COMPRESSION_ZSTD),
        1);
    free(records);
}

static void packs_a_regular_program_well(void **state)
{
    enum { COUNT = 65536 };
    struct cn_uft_packer *packer = cn_uft_packer_new(false, CN_COMPRESSION_ZSTD, 1);
    struct cn_bytes rest, chunk;
    struct cn_error err = {0};
    uint8_t *made = cn_random_calls(COUNT, 0, 3, &rest.len);

    (void)state;
    rest.ptr = made;
    cn_uft_packer_fill(packer, &rest, false);
    assert_true(cn_uft_packer_take(packer, &chunk, &err));
    /* 16 bytes a record before. */
    assert_in_range(chunk.len, COUNT, 2 * COUNT);
    cn_uft_packer_free(packer);
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_back_every_kind_of_record),
        cmocka_unit_test(gives_back_many_chunks_each_on_its_own),
        cmocka_unit_test(gives_back_recursion_deeper_than_depths_can_count),
        cmocka_unit_test(gives_back_bytes_that_are_no_records_at_all),
        cmocka_unit_test(ends_a_chunk_before_it_is_too_large),
        cmocka_unit_test(the_lead_tells_what_is_in_the_chunk),
        cmocka_unit_test(rejects_every_truncation),
        cmocka_unit_test(survives_every_flipped_bit),
        cmocka_unit_test(refuses_absurd_numbers),
        cmocka_unit_test(refuses_bombs),
        cmocka_unit_test(packs_monotony_within_the_limit),
        cmocka_unit_test(packs_a_regular_program_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
