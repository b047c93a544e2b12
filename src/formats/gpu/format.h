/* The records of GPU work that libcairn-gpu.so writes while a program runs.
 *
 * A file, gpu.dat of a recording, is shared by all processes of the program:
 *
 *   head      CN_GPU_FILE_HEAD, then tables for the library up to blocks_off
 *   blocks    of CN_GPU_BLOCK_LEN bytes, each filled by one thread:
 *             CN_GPU_BLOCK, then records one after another, up to `used`
 *   record    CN_GPU_RECORD, the fields of its type, padding to 8 bytes
 *
 * A block that was never used is all zeros. `used` is changed after a record is complete, so that
 * what a killed program leaves is whole records. perf.data contains the same records in records of
 * its own (formats/exchange/perf/format.h), there with the addresses of stacks alone.
 *
 * Numbers of names and stacks are those of a program in a process, and may be used before the record that
 * describes them: threads write at the same time.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_GPU_FORMAT_H
#define CN_FORMATS_GPU_FORMAT_H

#include "base/bytes/record.h"

#define CN_GPU_FILE_NAME  "gpu.dat"
#define CN_GPU_FILE_MAGIC UINT64_C(0x5550476e72696163) /* "cairnGPU" */

enum {
    CN_GPU_FILE_VERSION = 1,
    CN_GPU_BLOCK_LEN = 64 << 10,
    CN_GPU_BLOCK_MAGIC = 0x42555047, /* "GPUB" */
    CN_GPU_NAME_LEN_MAX = 16 << 10,
    CN_GPU_STACK_MAX = 1024,       /* addresses */
    CN_GPU_STACK_WORDS_MAX = 2048, /* of an interpreter's frames */
    CN_GPU_FILE_HEAD_LEN = 4096,
};

/* Of the flags of the head. */
enum {
    CN_GPU_WANTS_STACKS = 1,       /* take those of calls that launch operations */
    CN_GPU_BEGINS_WITH_RANGES = 2, /* call paths do */
};

/* clang-format off */
#define CN_GPU_FILE_HEAD(F)                                            \
    F(0x00, u64, magic, "")                                            \
    F(0x08, u32, version, "")                                          \
    F(0x0c, u32, block_len, "")                                        \
    F(0x10, u64, blocks_off, "where the blocks begin")                 \
    F(0x18, u64, next_off, "of the next block that a thread takes")    \
    F(0x20, u64, limit_off, "blocks from here on are not yet taken")   \
    F(0x28, u64, lost_count, "records that had no room")               \
    F(0x30, u32, flags, "")
CN_RECORD(cn_gpu_file_head, CN_GPU_FILE_HEAD, 0x40);

#define CN_GPU_BLOCK(F)                                                \
    F(0x00, u32, magic, "")                                            \
    F(0x04, u32, pid, "")                                              \
    F(0x08, u32, tid, "")                                              \
    F(0x0c, u32, used, "bytes, with this head")                        \
    F(0x10, u32, is_full, "the thread goes on in another block")       \
    F(0x14, u32, image, "another one after an exec: numbers begin again")
CN_RECORD(cn_gpu_block, CN_GPU_BLOCK, 0x18);

#define CN_GPU_RECORD(F)                                               \
    F(0x00, u16, type, "")                                             \
    F(0x02, u16, flags, "of an operation: 1: its times are those of CLOCK_MONOTONIC") \
    F(0x04, u32, len, "with this head and padding: a multiple of 8")
CN_RECORD(cn_gpu_record, CN_GPU_RECORD, 0x08);

/* The text follows, with a NUL. */
#define CN_GPU_NAME(F)                                                 \
    F(0x08, u32, id, "")
CN_RECORD(cn_gpu_name, CN_GPU_NAME, 0x10);

/* Return addresses follow, the innermost first; then words of an interpreter's frames. */
#define CN_GPU_STACK(F)                                                \
    F(0x08, u32, id, "")                                               \
    F(0x0c, u32, count, "of addresses")                                \
    F(0x10, u32, language, "of the interpreter")                       \
    F(0x14, u32, word_count, "0: no frames of an interpreter")         \
    F(0x18, u16, head_len, "of words of the thread's state")           \
    F(0x1a, u16, row_len, "of words of a frame")                       \
    F(0x1c, u32, is_cut, "frames of callers are missing")
CN_RECORD(cn_gpu_stack, CN_GPU_STACK, 0x20);

/* A call of the program that may launch operations, in the thread of the block. */
#define CN_GPU_CALL(F)                                                 \
    F(0x08, u64, time_ns, "CLOCK_MONOTONIC")                           \
    F(0x10, u32, correlation, "")                                      \
    F(0x14, u32, stack, "0: none was taken")                           \
    F(0x18, u32, name, "of the function; 0: the stack contains it")
CN_RECORD(cn_gpu_call, CN_GPU_CALL, 0x20);

#define CN_GPU_OP(F)                                                   \
    F(0x08, u64, begin, "of the GPU's clock")                          \
    F(0x10, u64, end, "")                                              \
    F(0x18, u32, correlation, "0: none")                               \
    F(0x1c, u8, kind, "enum cn_gpu_kind of model/gpu/work.h")          \
    F(0x1d, u8, detail, "")                                            \
    F(0x1e, u16, registers, "of a thread")                             \
    F(0x20, u64, bytes, "")                                            \
    F(0x28, u32, device, "0xffffffff: unknown")                        \
    F(0x2c, u32, context, "")                                          \
    F(0x30, u32, stream, "0xffffffff: none")                           \
    F(0x34, u32, name, "of a kernel; 0: none")                         \
    F(0x38, u32, grid_x, "")                                           \
    F(0x3c, u32, grid_y, "")                                           \
    F(0x40, u32, grid_z, "")                                           \
    F(0x44, u32, block_x, "")                                          \
    F(0x48, u32, block_y, "")                                          \
    F(0x4c, u32, block_z, "")                                          \
    F(0x50, u32, static_shared_len, "")                                \
    F(0x54, u32, dynamic_shared_len, "")                               \
    F(0x58, u32, local_len, "")                                        \
    F(0x60, u64, object, "node of a graph, or address of memory; 0: none")
CN_RECORD(cn_gpu_op_record, CN_GPU_OP, 0x68);

/* The name follows, with a NUL. */
#define CN_GPU_DEVICE_FIELDS(F)                                        \
    F(0x08, u32, number, "")                                           \
    F(0x0c, u32, warps, "of a multiprocessor")                         \
    F(0x10, u32, warp_threads, "")                                     \
    F(0x14, u32, blocks, "of a multiprocessor")                        \
    F(0x18, u32, registers, "of a multiprocessor")                     \
    F(0x1c, u32, shared_len, "of a multiprocessor")                    \
    F(0x20, u32, processors, "their number")
CN_RECORD(cn_gpu_device_record, CN_GPU_DEVICE_FIELDS, 0x28);

/* The two clocks at one moment. */
#define CN_GPU_CLOCK(F)                                                \
    F(0x08, u64, gpu, "")                                              \
    F(0x10, u64, host_ns, "CLOCK_MONOTONIC")                           \
    F(0x18, u64, error_ns, "the moments differ by this at most")
CN_RECORD(cn_gpu_clock, CN_GPU_CLOCK, 0x20);

/* Something that is missing. A text follows, with a NUL. */
#define CN_GPU_NOTE(F)                                                 \
    F(0x08, u64, count, "of operations; 0: unknown")
CN_RECORD(cn_gpu_note, CN_GPU_NOTE, 0x10);

/* A node of a graph: a call of the thread made it, or it is a copy of another one. */
#define CN_GPU_NODE(F)                                                 \
    F(0x08, u64, node, "")                                             \
    F(0x10, u64, copied_from, "0: made by a call")                     \
    F(0x18, u32, stack, "of the call, and its name as above")          \
    F(0x1c, u32, name, "")
CN_RECORD(cn_gpu_node, CN_GPU_NODE, 0x20);

/* A node of a graph that a call of the thread made, of which no stack was taken: the call is the one of the
 * recording at that time. */
#define CN_GPU_CAPTURE(F)                                              \
    F(0x08, u64, node, "")                                             \
    F(0x10, u64, time_ns, "CLOCK_MONOTONIC")
CN_RECORD(cn_gpu_capture, CN_GPU_CAPTURE, 0x18);

/* A range or mark that the program named (NVTX), in the thread of the block. */
#define CN_GPU_RANGE(F)                                                \
    F(0x08, u64, time_ns, "CLOCK_MONOTONIC")                           \
    F(0x10, u64, id, "of a range that any thread may end; else 0")     \
    F(0x18, u32, name, "0: none")                                      \
    F(0x1c, u16, kind, "")                                             \
    F(0x1e, u16, domain, "each has ranges of its own")
CN_RECORD(cn_gpu_range, CN_GPU_RANGE, 0x20);
/* clang-format on */

enum cn_gpu_range_kind {
    CN_GPU_RANGE_PUSH =
        1, /* of the thread: ends the last one that it began, in its domain */
    CN_GPU_RANGE_POP,
    CN_GPU_RANGE_START, /* of the process */
    CN_GPU_RANGE_END,
    CN_GPU_RANGE_MARK,
    CN_GPU_RANGES_ARE_CONTEXTS, /* before all others: call paths begin with ranges */
};

enum { CN_GPU_HOST_TIMES = 1 }; /* of cn_gpu_record.flags */

enum cn_gpu_record_type {
    CN_GPU_IS_NAME = 1,
    CN_GPU_IS_STACK,
    CN_GPU_IS_CALL,
    CN_GPU_IS_OP,
    CN_GPU_IS_DEVICE,
    CN_GPU_IS_CLOCK,
    CN_GPU_IS_NOTE,
    CN_GPU_IS_NODE,
    CN_GPU_IS_RANGE,
    CN_GPU_IS_CAPTURE,
};

#endif
