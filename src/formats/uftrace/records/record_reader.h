/* Records of TID.dat, one at a time: the two words, and how long the payload after
 * them is.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_RECORDS_RECORD_READER_H
#define CN_FORMATS_UFTRACE_RECORDS_RECORD_READER_H

#include "base/bytes/bytes.h"
#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

/* The second word with its bits in the order of a little-endian recording. */
static inline uint64_t cn_uft_word_swap(uint64_t word)
{
    return cn_bits(word, CN_UFT_TYPE_AT_BE, CN_UFT_TYPE_BITS) << CN_UFT_TYPE_AT |
           cn_bits(word, CN_UFT_MORE_AT_BE, CN_UFT_MORE_BITS) << CN_UFT_MORE_AT |
           cn_bits(word, CN_UFT_RECORD_MAGIC_AT_BE, CN_UFT_RECORD_MAGIC_BITS)
               << CN_UFT_RECORD_MAGIC_AT |
           cn_bits(word, CN_UFT_DEPTH_AT_BE, CN_UFT_DEPTH_BITS) << CN_UFT_DEPTH_AT |
           cn_bits(word, CN_UFT_ADDRESS_AT_BE, CN_UFT_ADDRESS_BITS) << CN_UFT_ADDRESS_AT;
}

/* Decode the record at the start of `bytes`, which holds at least one. */
static inline struct cn_uft_record cn_uft_record_get(struct cn_bytes bytes,
                                                     bool is_big_endian)
{
    struct cn_uft_record record = {0};
    struct cn_uft_record_be big;

    if (!is_big_endian) {
        (void)cn_uft_record_decode(bytes, &record);
    } else if (cn_uft_record_be_decode(bytes, &big)) {
        record.time_ns = big.time_ns;
        record.word = cn_uft_word_swap(big.word);
    }
    return record;
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
    bool is_skipped;   /* nothing says how to read it; `len` is 0 */
};

/* Measure the payload of a record with `more`; `rest` is everything after its two
 * words. Without a specification, or when the one there is does not lead to another
 * record, the next plausible record is looked for. False when there is none within
 * the longest payload. */
CN_CHECK bool cn_uft_payload_measure(const struct cn_recording *rec,
                                     struct cn_uft_record record, uint32_t function,
                                     struct cn_bytes rest, struct cn_uft_payload *out);

/* The time of the first record that has one; 0 when there is none. */
uint64_t cn_uft_first_time(const struct cn_recording *rec, struct cn_bytes file);

#endif
