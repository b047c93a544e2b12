/* The chunk file, byte by byte: the container of packed recordings and of the trace store.
 *
 *   file header -> chunk -> chunk -> ... (no trailer)
 *   chunk: header, then stored_len bytes
 *
 * Integers are big endian. A file is only ever appended to: after a crash it has
 * whole chunks and perhaps the beginning of another.
 * Threads: immutable.
 */
#ifndef CN_BASE_FILES_CHUNK_FORMAT_H
#define CN_BASE_FILES_CHUNK_FORMAT_H

#include "base/bytes/record.h"

#define CN_CHUNK_FILE_HEADER(F)                                       \
    F(0x00, u32, magic, "\"ZTS0\"")                                   \
    F(0x04, u32, flags, "1 LZ4, 2 deflate, 0x10 CRC-32, 0x20 packed") \
    F(0x08, u32, checksum, "of the whole file; written as 0, ignored when read")
CN_RECORD_BE(cn_chunk_file_header, CN_CHUNK_FILE_HEADER, 0x10);

#define CN_CHUNK_HEADER(F)                                              \
    F(0x00, u32, magic, "\"ZCH0\", also what to look for after damage") \
    F(0x04, u32, stored_len, "bytes that follow this header")           \
    F(0x08, u32, plain_len, "the same before they were compressed")     \
    F(0x0c, u32, checksum, "CRC-32 of the stored bytes, or 0")
CN_RECORD_BE(cn_chunk_header, CN_CHUNK_HEADER, 0x10);

enum {
    CN_CHUNK_FILE_MAGIC = 0x5a545330, /* "ZTS0" */
    CN_CHUNK_MAGIC = 0x5a434830,      /* "ZCH0" */
    CN_CHUNK_MAGIC_LEN = 4,
};

/* Bits of the flags of a file; at most one compression. The original implementation has LZ4
 * and deflate the other way round. */
enum {
    CN_CHUNK_FLAG_LZ4 = 0x01,
    CN_CHUNK_FLAG_DEFLATE = 0x02,
    CN_CHUNK_FLAG_CRC32 = 0x10,  /* of the stored bytes */
    CN_CHUNK_FLAG_PACKED = 0x20, /* of the trace store: the content says how */
};

/* Length limits of a chunk, before and after compression. */
enum { CN_CHUNK_LEN_MAX = 1 << 28 };

/* The highest compression ratio: deflate stores 258 bytes in two bits at best. */
enum { CN_CHUNK_GROWTH_MAX = 1032 };

#endif
