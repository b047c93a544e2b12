/* text-*.fmi of the original trace store, byte by byte:
 *
 *   header | ranks u32[256] | block descriptors | blocks
 *
 * Integers are little endian, as the machine wrote them.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_ZORKA_JAVA_FMI_H
#define CN_FORMATS_ZORKA_JAVA_FMI_H

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

#endif
