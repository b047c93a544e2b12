/* Packed records of a task, TID.zts, byte by byte; docs/formats/packed.md tells the story.
 *
 *   chunk file (base/files/chunk_format.h, checksums, no compression of its own)
 *     chunk: lead, then the body, compressed as the lead says
 *       body: words | choices | times | wide | picks | lengths | payload
 *
 * Integers of the lead and the body are little endian, whatever the recording's are. A chunk
 * can be unpacked without any other.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_PACKED_PACKED_FORMAT_H
#define CN_FORMATS_UFTRACE_PACKED_PACKED_FORMAT_H

#include "base/bytes/record.h"

/* The start of a chunk. `check` is the CRC-32 of the lead with `check` as 0, so that a lead
 * can be believed without reading the body. */
#define CN_UFT_PACKED_LEAD(F)                                                 \
    F(0x00, u8, version, "1")                                                 \
    F(0x01, u8, flags, "1: the records are big endian")                       \
    F(0x02, u8, compression, "of the body: 0 none, 1 LZ4, 2 deflate, 4 zstd") \
    F(0x04, u32, check, "CRC-32 of the lead")                                 \
    F(0x08, u64, first_ns, "the earliest time of a call or event")            \
    F(0x10, u64, last_ns, "the latest time of a call or event")               \
    F(0x18, u64, start_ns, "what the first time is counted from")             \
    F(0x20, u64, unpacked_off, "where the chunk begins in TID.dat")           \
    F(0x28, u64, lost_count, "how many records were lost, as recorded")       \
    F(0x30, u32, unpacked_len, "bytes of TID.dat in this chunk")              \
    F(0x34, u32, enter_count, "function entries")                             \
    F(0x38, u32, exit_count, "function exits")                                \
    F(0x3c, u32, event_count, "events")                                       \
    F(0x40, u32, loss_count, "records that tell of lost ones")                \
    F(0x44, u32, item_count, "records and pieces that are none")              \
    F(0x48, u32, word_count, "in the column `words`, open functions first")   \
    F(0x4c, u32, wide_len, "bytes of the column `wide`")                      \
    F(0x50, u32, picks_len, "bytes of the column `picks`")                    \
    F(0x54, u32, lengths_len, "bytes of the column `lengths`")                \
    F(0x58, u32, payload_len, "bytes of the column `payload`")                \
    F(0x5c, u16, depth, "open functions at the start")
CN_RECORD(cn_uft_packed_lead, CN_UFT_PACKED_LEAD, 0x60);

enum {
    CN_UFT_PACKED_VERSION = 1,
    CN_UFT_PACKED_CHECK_OFF = 4, /* of `check` in the lead */
    CN_UFT_PACKED_BIG_ENDIAN = 1,
};

/* What a record does, as the columns `choices` and `picks` name it. From CN_UFT_PICK_WORD on:
 * the record is that entry of `words`. */
enum {
    CN_UFT_PICK_EXIT = 0,      /* leave the innermost function, nothing attached */
    CN_UFT_PICK_EXIT_MORE = 1, /* leave it with a return value */
    CN_UFT_PICK_DEPTH = 2,     /* the depth follows, then another pick */
    CN_UFT_PICK_VERBATIM = 3,  /* bytes that are no record */
    CN_UFT_PICK_WORD = 4,
};

/* A place where a task can be (the innermost function, what it did last) remembers the last
 * three different things that happened there; `choices` tells which happened again. */
enum {
    CN_UFT_CHOICE_BITS = 2,
    CN_UFT_CHOICES_A_BYTE = 4,
    CN_UFT_CHOICE_COUNT = 3,
    CN_UFT_CHOICE_NONE = 3, /* none of them: see `picks` */
    CN_UFT_PLACE_BITS = 12,
    CN_UFT_PACKED_DEPTH_MAX = 1024, /* a depth has ten bits */
};
#define CN_UFT_PLACE_FACTOR UINT64_C(0x9e3779b97f4a7c15)

/* The first byte of a time difference; the bytes after it are in the column `wide`. */
enum {
    CN_UFT_TIME_SHORT_END = 192, /* below: the difference itself */
    CN_UFT_TIME_LONG_END = 248,  /* below: 6 bits, one more byte, counted from 192 */
    CN_UFT_TIME_2 = 248,         /* two more bytes */
    CN_UFT_TIME_3 = 249,
    CN_UFT_TIME_4 = 250,
    CN_UFT_TIME_6 = 251,
    CN_UFT_TIME_8 = 252,    /* the low 64 bits, forwards or backwards */
    CN_UFT_TIME_BACK = 253, /* backwards, one byte and 1 */
    CN_UFT_TIME_CODES_END = 254,
};

/* Limits of a chunk. A writer ends a chunk before it breaks one. */
enum {
    CN_UFT_PACKED_ITEMS_MAX = 1 << 16,
    CN_UFT_PACKED_WORDS_MAX = 1 << 13,
    CN_UFT_PACKED_PIECE_MAX = 1 << 17,   /* one payload or piece that is no record */
    CN_UFT_PACKED_PAYLOAD_MAX = 1 << 21, /* all of them */
    CN_UFT_PACKED_RATIO_MAX = 256,       /* body bytes for each compressed one */
};

#endif
