/* qmeta.idx of the original trace store (releases up to 1.90.6): which trace each chunk is.
 * Big endian: a header of 64 bytes, then slots.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_ZORKA_JAVA_META_H
#define CN_FORMATS_ZORKA_JAVA_META_H

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/error.h"

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

/* The slots of a file. */
CN_CHECK bool cn_java_meta_slots(struct cn_bytes file, struct cn_bytes *slots,
                                 struct cn_error *err);

#endif
