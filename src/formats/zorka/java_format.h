/* Files of the original trace store, byte by byte.
 *
 *   text-*.fmi   packed dictionary: header | ranks u32[256] | block descriptors | blocks;
 *                little endian
 *   qmeta.idx    (releases up to 1.90.6) the trace of each chunk: header | slots; big endian
 * Threads: immutable.
 */
#ifndef CN_FORMATS_ZORKA_JAVA_FORMAT_H
#define CN_FORMATS_ZORKA_JAVA_FORMAT_H

#include "base/bytes/record.h"

#define CN_JAVA_FMI_HEADER(F)                     \
    F(0x00, u32, magic, "\"0MFZ\"")               \
    F(0x04, u32, block_count, "")                 \
    F(0x08, u32, data_len, "of the sorted bytes") \
    F(0x0c, u32, word_count, "")                  \
    F(0x10, u64, first_word, "")                  \
    F(0x18, u32, checksum, "")                    \
    F(0x1c, u32, start_row, "where the text begins")
CN_RECORD(cn_java_fmi_header, CN_JAVA_FMI_HEADER, 0x20);

#define CN_JAVA_FMI_BLOCK(F)                                          \
    F(0x00, u32, off, "in the file")                                  \
    F(0x04, u32, plain_off, "in the sorted bytes")                    \
    F(0x08, u32, checksum, "of the data, or a rank")                  \
    F(0x0c, u8, rank_count, "of the rank map; without data the byte") \
    F(0x0d, u8, flags, "1 data, 2 LZ4")
CN_RECORD(cn_java_fmi_block, CN_JAVA_FMI_BLOCK, 0x0e);

#define CN_JAVA_META_HEADER(F)      \
    F(0x00, u32, magic, "\"MQI0\"") \
    F(0x04, u32, end_off, "of the slots")
CN_RECORD_BE(cn_java_meta_header, CN_JAVA_META_HEADER, 0x40);

#define CN_JAVA_META_SLOT(F)                                                \
    F(0x00, u32, start_off, "of the trace in the plain bytes of its chunk") \
    F(0x04, u32, time_s, "since the epoch")                                 \
    F(0x08, u16, app, "")                                                   \
    F(0x0a, u16, env, "")                                                   \
    F(0x0c, u16, type, "word")                                              \
    F(0x0e, u8, errors_low, "")                                             \
    F(0x0f, u8, flags, "")                                                  \
    F(0x10, u16, part, "number of the part")                                \
    F(0x12, u16, data_off_high, "of the chunk in traces.dat: 48 bits")      \
    F(0x14, u32, data_off_low, "")                                          \
    F(0x18, u16, host, "word")                                              \
    F(0x1a, u16, duration_s, "")                                            \
    F(0x1c, u32, method, "word")                                            \
    F(0x28, u32, records_errors, "24 bits records, 8 bits errors")          \
    F(0x2c, u32, calls, "")                                                 \
    F(0x30, u64, id_high, "of the trace")                                   \
    F(0x38, u64, id_low, "")
CN_RECORD_BE(cn_java_meta_slot, CN_JAVA_META_SLOT, 0x60);

enum { CN_JAVA_META_MAGIC = 0x4d514930 };

#endif
