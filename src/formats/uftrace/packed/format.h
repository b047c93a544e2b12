/* Packed records of a task, TID.zts, byte by byte; docs/formats/packed.md explains them.
 *
 *   chunk file (base/files/chunk_format.h; with checksums, without compression)
 *     chunk: lead, then the body, compressed as the lead declares
 *       body: words | choices | times | wide | picks | lengths | payload
 *
 * Integers of lead and body are little endian, whatever the byte order of the recording.
 * A chunk can be unpacked without any other.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_FORMAT_H
#define CN_FORMATS_UFTRACE_PACKED_FORMAT_H

#include "base/bytes/record.h"

/* The start of a chunk. `check` is the CRC-32 of the lead with `check` as 0, so the lead
 * can be verified without the body. */
#define CN_UFT_PACKED_LEAD(F)                                                 \
    F(0x00, u8, version, "1")                                                 \
    F(0x01, u8, flags, "1: the records are big endian")                       \
    F(0x02, u8, compression, "of the body: 0 none, 1 LZ4, 2 deflate, 4 zstd") \
    F(0x04, u32, check, "CRC-32 of the lead")                                 \
    F(0x08, u64, first_ns, "the earliest time of a call or event")            \
    F(0x10, u64, last_ns, "the latest time of a call or event")               \
    F(0x18, u64, start_ns, "time from which the first difference counts")     \
    F(0x20, u64, unpacked_off, "offset of the chunk in TID.dat")              \
    F(0x28, u64, lost_count, "lost records, by the LOST records")             \
    F(0x30, u32, unpacked_len, "bytes of TID.dat in this chunk")              \
    F(0x34, u32, enter_count, "function entries")                             \
    F(0x38, u32, exit_count, "function exits")                                \
    F(0x3c, u32, event_count, "events")                                       \
    F(0x40, u32, loss_count, "LOST records")                                  \
    F(0x44, u32, item_count, "records, and runs of other bytes")              \
    F(0x48, u32, word_count, "in the column `words`, open functions first")   \
    F(0x4c, u32, wide_len, "bytes of the column `wide`")                      \
    F(0x50, u32, picks_len, "bytes of the column `picks`")                    \
    F(0x54, u32, lengths_len, "bytes of the column `lengths`")                \
    F(0x58, u32, payload_len, "bytes of the column `payload`")                \
    F(0x5c, u16, depth, "open functions at the start")
CN_RECORD(cn_uft_packed_lead, CN_UFT_PACKED_LEAD, 0x60);

enum {
    CN_UFT_PACKED_VERSION = 1,
    CN_UFT_PACKED_CHECK_OFF = 4, /* the offset of `check` */
    CN_UFT_PACKED_BIG_ENDIAN = 1,
};

/* A pick is what a record does, as encoded in the columns `choices` and `picks`.
 * CN_UFT_PICK_WORD + i is word i of `words`. */
enum {
    CN_UFT_PICK_EXIT = 0,      /* exit of the innermost function, without payload */
    CN_UFT_PICK_EXIT_MORE = 1, /* the same with a return value */
    CN_UFT_PICK_DEPTH = 2,     /* the depth follows, then another pick */
    CN_UFT_PICK_VERBATIM = 3,  /* bytes that are not a record */
    CN_UFT_PICK_WORD = 4,
};

/* The innermost function and its last pick predict the next pick: the last three
 * different picks in the same state. `choices` encodes which of them it was. */
enum {
    CN_UFT_CHOICE_BITS = 2,
    CN_UFT_CHOICES_A_BYTE = 4,
    CN_UFT_CHOICE_COUNT = 3,
    CN_UFT_CHOICE_NONE = 3, /* none of them: the pick is in `picks` */
    CN_UFT_PREDICTOR_BITS = 12,
    CN_UFT_PACKED_DEPTH_MAX = 1024, /* a depth has ten bits */
};
#define CN_UFT_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The first byte of a time difference; the bytes after it are in the column `wide`. */
enum {
    CN_UFT_TIME_SHORT_END = 192, /* less: the difference itself */
    CN_UFT_TIME_LONG_END = 248,  /* less: 6 bits and one more byte, counted from 192 */
    CN_UFT_TIME_2 = 248,         /* two more bytes */
    CN_UFT_TIME_3 = 249,
    CN_UFT_TIME_4 = 250,
    CN_UFT_TIME_6 = 251,
    CN_UFT_TIME_8 = 252,    /* the low 64 bits, forwards or backwards */
    CN_UFT_TIME_BACK = 253, /* backwards, one byte and 1 */
    CN_UFT_TIME_CODES_END = 254,
};

/* Limits of a chunk. */
enum {
    CN_UFT_PACKED_ITEMS_MAX = 1 << 16,
    CN_UFT_PACKED_WORDS_MAX = 1 << 13,
    CN_UFT_PACKED_BYTES_MAX = 1 << 17,   /* one payload, or one run of other bytes */
    CN_UFT_PACKED_PAYLOAD_MAX = 1 << 21, /* all payloads and other bytes */
    CN_UFT_PACKED_RATIO_MAX = 256,       /* body bytes for each compressed one */
};

#endif
