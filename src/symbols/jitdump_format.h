/* jitdump, version 1, as far as it is read: a header, then records. Integers have the byte
 * order of the machine that wrote it; only little endian is read.
 * Threads: immutable.
 */
#ifndef CN_SYMBOLS_JITDUMP_FORMAT_H
#define CN_SYMBOLS_JITDUMP_FORMAT_H

#include "base/bytes/record.h"

#define CN_JITDUMP_MAGIC UINT32_C(0x4a695444)

/* clang-format off */
#define CN_JITDUMP_HEADER(F)                                          \
    F(0x00, u32, magic, "")                                           \
    F(0x04, u32, version, "")                                         \
    F(0x08, u32, size, "of this header")                              \
    F(0x14, u32, pid, "")                                             \
    F(0x20, u64, flags, "")
CN_RECORD(cn_jitdump_header, CN_JITDUMP_HEADER, 0x28);

#define CN_JITDUMP_HEAD(F)                                            \
    F(0x00, u32, type, "")                                            \
    F(0x04, u32, size, "of the record with this head")                \
    F(0x08, u64, time_ns, "of the monotonic clock")
CN_RECORD(cn_jitdump_head, CN_JITDUMP_HEAD, 0x10);

#define CN_JITDUMP_LOAD(F)                                            \
    F(0x20, u64, address, "of the code")                              \
    F(0x28, u64, len, "of the code")                                  \
    F(0x30, u64, number, "of the code; its name and bytes follow")
CN_RECORD(cn_jitdump_load, CN_JITDUMP_LOAD, 0x38);

#define CN_JITDUMP_MOVE(F)                                            \
    F(0x28, u64, address, "of the code from now on")                  \
    F(0x30, u64, len, "of the code")                                  \
    F(0x38, u64, number, "of the code")
CN_RECORD(cn_jitdump_move, CN_JITDUMP_MOVE, 0x40);

#define CN_JITDUMP_DEBUG(F)                                           \
    F(0x10, u64, address, "of the code, whose load follows")          \
    F(0x18, u64, count, "of lines, which follow")
CN_RECORD(cn_jitdump_debug, CN_JITDUMP_DEBUG, 0x20);

#define CN_JITDUMP_LINE(F)                                            \
    F(0x00, u64, address, "")                                         \
    F(0x08, u32, line, "")
CN_RECORD(cn_jitdump_line, CN_JITDUMP_LINE, 0x10); /* and the name of its file */
/* clang-format on */

enum cn_jitdump_type {
    CN_JITDUMP_CODE_LOAD = 0,
    CN_JITDUMP_CODE_MOVE = 1,
    CN_JITDUMP_DEBUG_INFO = 2,
    CN_JITDUMP_CODE_CLOSE = 3,
};

/* The name of a file that is the same as the one before. */
#define CN_JITDUMP_SAME_FILE "\xff"

/* Header flag: times count cycles of the processor. */
enum { CN_JITDUMP_FLAG_CYCLES = 1 };

#endif
