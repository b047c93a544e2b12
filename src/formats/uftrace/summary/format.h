/* HASH.summary, byte by byte: an index of the records of a recording.
 *
 *   header -> tasks[task_count] -> blocks[block_count] -> open addresses, u64 each
 *
 * Everything in the file follows from the records: it may be deleted at any time and is
 * built again on demand. It is valid while the files it describes have the same lengths
 * and modification times. Integers are little endian.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_SUMMARY_FORMAT_H
#define CN_FORMATS_UFTRACE_SUMMARY_FORMAT_H

#include "base/bytes/record.h"

#define CN_UFT_SUMMARY_HEADER(F)                                   \
    F(0x00, u64, magic, "\"CAIRNSUM\"")                            \
    F(0x08, u32, version, "1")                                     \
    F(0x0c, u32, checksum, "CRC-32 of everything from byte 16 on") \
    F(0x10, u32, task_count, "tasks with records, by tid")         \
    F(0x14, u32, block_count, "of all tasks")                      \
    F(0x18, u64, open_count, "addresses of open functions")
CN_RECORD(cn_uft_summary_header, CN_UFT_SUMMARY_HEADER, 0x20);

#define CN_UFT_SUMMARY_TASK(F)                                      \
    F(0x00, u32, tid, "task")                                       \
    F(0x04, u32, is_packed, "1: TID.zts, 0: TID.dat")               \
    F(0x08, u64, len, "of the file")                                \
    F(0x10, u64, mtime_ns, "modification time of the file")         \
    F(0x18, u32, first_block, "index of its first block")           \
    F(0x1c, u32, block_count, "number of its blocks")               \
    F(0x20, u64, damage_count, "how often the records are damaged") \
    F(0x28, u64, sound_len, "bytes of TID.dat before the first damage")
CN_RECORD(cn_uft_summary_task, CN_UFT_SUMMARY_TASK, 0x30);

#define CN_UFT_SUMMARY_BLOCK(F)                                    \
    F(0x00, u64, stored_off, "offset in the file")                 \
    F(0x08, u64, off, "offset in TID.dat, packed or not")          \
    F(0x10, u64, first_ns, "the earliest time of a call or event") \
    F(0x18, u64, last_ns, "the latest")                            \
    F(0x20, u64, lost_count, "lost records")                       \
    F(0x28, u32, enter_count, "function entries")                  \
    F(0x2c, u32, exit_count, "function exits")                     \
    F(0x30, u32, event_count, "events")                            \
    F(0x34, u32, loss_count, "LOST records")                       \
    F(0x38, u32, first_open, "index of its first open function")   \
    F(0x3c, u32, depth, "functions open at the start, outermost first")
CN_RECORD(cn_uft_summary_block, CN_UFT_SUMMARY_BLOCK, 0x40);

#define CN_UFT_SUMMARY_MAGIC UINT64_C(0x4d55534e52494143) /* "CAIRNSUM" */
enum {
    CN_UFT_SUMMARY_VERSION = 1,
    CN_UFT_SUMMARY_CHECKED_OFF = 0x10,
    CN_UFT_SUMMARY_BLOCK_RECORDS = 1 << 16, /* of a block of a plain file */
};

#endif
