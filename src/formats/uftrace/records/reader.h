/* Records of TID.dat, one at a time: two words, then a payload.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_RECORDS_READER_H
#define CN_FORMATS_UFTRACE_RECORDS_READER_H

#include "base/bytes/bytes.h"
#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

/* The second word of a big-endian record, with its bits in little-endian order. */
static inline uint64_t cn_uft_word_swap(uint64_t word)
{
    return cn_bits(word, CN_UFT_TYPE_AT_BE, CN_UFT_TYPE_BITS) << CN_UFT_TYPE_AT |
           cn_bits(word, CN_UFT_MORE_AT_BE, CN_UFT_MORE_BITS) << CN_UFT_MORE_AT |
           cn_bits(word, CN_UFT_RECORD_MAGIC_AT_BE, CN_UFT_RECORD_MAGIC_BITS)
               << CN_UFT_RECORD_MAGIC_AT |
           cn_bits(word, CN_UFT_DEPTH_AT_BE, CN_UFT_DEPTH_BITS) << CN_UFT_DEPTH_AT |
           cn_bits(word, CN_UFT_ADDRESS_AT_BE, CN_UFT_ADDRESS_BITS) << CN_UFT_ADDRESS_AT;
}

/* The inverse. */
static inline uint64_t cn_uft_word_to_be(uint64_t word)
{
    return cn_bits(word, CN_UFT_TYPE_AT, CN_UFT_TYPE_BITS) << CN_UFT_TYPE_AT_BE |
           cn_bits(word, CN_UFT_MORE_AT, CN_UFT_MORE_BITS) << CN_UFT_MORE_AT_BE |
           cn_bits(word, CN_UFT_RECORD_MAGIC_AT, CN_UFT_RECORD_MAGIC_BITS)
               << CN_UFT_RECORD_MAGIC_AT_BE |
           cn_bits(word, CN_UFT_DEPTH_AT, CN_UFT_DEPTH_BITS) << CN_UFT_DEPTH_AT_BE |
           cn_bits(word, CN_UFT_ADDRESS_AT, CN_UFT_ADDRESS_BITS) << CN_UFT_ADDRESS_AT_BE;
}

/* Decode the record at the start of `bytes`; zeros where there is none. */
static inline struct cn_uft_record cn_uft_record_get(struct cn_bytes bytes,
                                                     bool is_big_endian)
{
    struct cn_uft_record record = {0};

    (void)cn_uft_record_decode_any(bytes, is_big_endian, &record);
    if (is_big_endian)
        record.word = cn_uft_word_swap(record.word);
    return record;
}

static inline void cn_uft_record_put(struct cn_uft_record record, bool is_big_endian,
                                     uint8_t out[cn_uft_record_size])
{
    if (is_big_endian)
        record.word = cn_uft_word_to_be(record.word);
    cn_uft_record_encode_any(&record, is_big_endian, out);
}

static inline bool cn_uft_record_has_magic(struct cn_uft_record record)
{
    return cn_bits(record.word, CN_UFT_RECORD_MAGIC_AT, CN_UFT_RECORD_MAGIC_BITS) ==
           CN_UFT_RECORD_MAGIC;
}

/* What follows the two words of a record. */
struct cn_uft_payload {
    uint32_t head_len; /* bytes before the data */
    uint32_t len;      /* of the data */
    uint32_t all_len;  /* with head and padding */
    bool is_skipped;   /* its format is unknown; `len` is 0 */
};

/* The length of an event's payload, with its head and padding. `rest` begins with the
 * payload and has at least CN_UFT_STRING_HEAD bytes. */
static inline uint32_t cn_uft_event_len(struct cn_bytes rest, bool is_big_endian)
{
    uint32_t len = is_big_endian ? cn_u16_be_get(rest.ptr) : cn_u16_get(rest.ptr);

    return (uint32_t)cn_align_up(CN_UFT_STRING_HEAD + len, CN_UFT_PAYLOAD_ALIGN);
}

/* Measure the payload of a record with `more`; `rest` begins after its two words. When
 * the specs of the function are unknown, or no record follows where they end, searches
 * for the next plausible record. False when there is none within CN_UFT_PAYLOAD_MAX
 * bytes. */
CN_CHECK bool cn_uft_payload_measure(const struct cn_recording *rec,
                                     struct cn_uft_record record, uint32_t function,
                                     struct cn_bytes rest, struct cn_uft_payload *out);

/* The time of the first record that has one; false when there is none. */
bool cn_uft_first_time(const struct cn_recording *rec, struct cn_bytes file,
                       uint64_t *time_ns);

#endif
