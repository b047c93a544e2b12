/* The layout of the two logs of an open segment. Integers are little endian.
 *
 *   text.log   header, then batches: each a header and stored_len bytes, which are plain_len bytes
 *              of words, compressed with zstd or not: kind u8, length LEB128, bytes
 *   meta.log   header, then rows (store/index/row.h)
 *
 * Both are append-only. A batch states the number of its first word: numbers without a batch are
 * lost words.
 * Threads: immutable.
 */
#ifndef CN_STORE_SEGMENT_LOG_FORMAT_H
#define CN_STORE_SEGMENT_LOG_FORMAT_H

#include "base/bytes/record.h"

#define CN_TEXT_LOG_NAME "text.log"
#define CN_ROWS_LOG_NAME "meta.log"
#define CN_TRACES_NAME   "traces.dat"
#define CN_CONFIG_NAME   "config.props"
#define CN_LOCK_NAME     "lock"

#define CN_STORE_LOG_HEADER(F)                                        \
    F(0x00, u32, magic, "\"CNTL\" of text.log, \"CNRL\" of meta.log") \
    F(0x04, u32, version, "1")                                        \
    F(0x08, u32, record_len, "of a row; 0 in text.log")               \
    F(0x0c, u32, checksum, "CRC-32C of the bytes before it")
CN_RECORD(cn_store_log_header, CN_STORE_LOG_HEADER, 0x10);

#define CN_TEXT_BATCH(F)                                                        \
    F(0x00, u32, magic, "\"CNTB\"")                                             \
    F(0x04, u32, first_word, "number of its first word")                        \
    F(0x08, u32, word_count, "")                                                \
    F(0x0c, u32, plain_len, "bytes of the words")                               \
    F(0x10, u32, stored_len, "bytes that follow; if less than plain_len: zstd") \
    F(0x14, u32, checksum, "CRC-32C of the header before it and of the bytes")
CN_RECORD(cn_text_batch, CN_TEXT_BATCH, 0x18);

enum {
    CN_TEXT_LOG_MAGIC = 0x4c544e43,   /* "CNTL" */
    CN_ROWS_LOG_MAGIC = 0x4c524e43,   /* "CNRL" */
    CN_TEXT_BATCH_MAGIC = 0x42544e43, /* "CNTB" */
    CN_STORE_LOG_VERSION = 1,
    CN_TEXT_BATCH_MAX = 1 << 28, /* bytes of the words of a batch */
};

#endif
