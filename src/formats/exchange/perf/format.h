/* perf.data of Linux 5 and later, as far as it is read.
 *
 * A file has a header, attributes with their ids, data (records), and feature sections. A
 * pipe has a short header, then records, some of which contain attributes and features.
 * Integers have the byte order of the machine that wrote it; only little endian is read.
 *
 *   record   type u32, misc u16, size u16 (with this head), then fields by type
 *   section  offset u64, size u64
 * Threads: immutable.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_FORMAT_H
#define CN_FORMATS_EXCHANGE_PERF_FORMAT_H

#include "base/bytes/record.h"

#define CN_PERF_MAGIC         "PERFILE2"
#define CN_PERF_MAGIC_SWAPPED "2ELIFREP"

/* clang-format off */
#define CN_PERF_HEADER(F)                                             \
    F(0x08, u64, size, "of this header; 16 in a pipe")                \
    F(0x10, u64, attr_size, "of an attribute with its section of ids") \
    F(0x18, u64, attrs_off, "")                                       \
    F(0x20, u64, attrs_len, "")                                       \
    F(0x28, u64, data_off, "")                                        \
    F(0x30, u64, data_len, "0 if perf was killed")            \
    F(0x48, u64, features, "one bit each; their sections follow the data") \
    F(0x50, u64, features_64, "")                                     \
    F(0x58, u64, features_128, "")                                    \
    F(0x60, u64, features_192, "")
CN_RECORD(cn_perf_header, CN_PERF_HEADER, 0x68);

#define CN_PERF_SECTION(F)  \
    F(0x00, u64, off, "")   \
    F(0x08, u64, len, "")
CN_RECORD(cn_perf_section, CN_PERF_SECTION, 0x10);

#define CN_PERF_HEAD(F)                                     \
    F(0x00, u32, type, "")                                  \
    F(0x04, u16, misc, "processor mode and flags")          \
    F(0x06, u16, size, "of the record with this head")
CN_RECORD(cn_perf_head, CN_PERF_HEAD, 0x08);

#define CN_PERF_ATTR(F)                                     \
    F(0x00, u32, type, "0 hardware, 1 software, ...")       \
    F(0x04, u32, size, "")                                  \
    F(0x08, u64, config, "which event of the type")         \
    F(0x10, u64, sample_period, "or frequency")             \
    F(0x18, u64, sample_type, "fields of a sample")          \
    F(0x20, u64, read_format, "")                           \
    F(0x28, u64, flags, "")                                 \
    F(0x48, u64, branch_sample_type, "")                    \
    F(0x50, u64, sample_regs_user, "")                      \
    F(0x58, u32, sample_stack_user, "bytes")                \
    F(0x5c, u32, clockid, "")                               \
    F(0x60, u64, sample_regs_intr, "")                      \
    F(0x6c, u16, sample_max_stack, "")
CN_RECORD(cn_perf_attr, CN_PERF_ATTR, 0x80);

/* A frame of an interpreter or a run-time compiler, written by cairn: the body of a record
 * of CN_PERF_HEADER_EVENT_TYPE, which perf ignores. The function and its file follow, each with a
 * NUL. */
#define CN_PERF_STORED_MAGIC UINT64_C(0x656d61724672436e) /* "nCrFrame" */
#define CN_PERF_STORED(F)                                         \
    F(0x00, u64, magic, "")                                       \
    F(0x08, u64, address, "that stands for it in call chains")    \
    F(0x10, u32, line, "that runs; 0 if unknown")                 \
    F(0x14, u32, first_line, "of the function; 0 if unknown")
CN_RECORD(cn_perf_stored, CN_PERF_STORED, 0x18);

/* GPU work of a thread, written by cairn: the body of a record of CN_PERF_HEADER_EVENT_TYPE. Records of
 * formats/gpu/format.h follow. */
#define CN_PERF_GPU_MAGIC UINT64_C(0x6b726f5755504743) /* "CGPUWork" */
#define CN_PERF_GPU(F)                                            \
    F(0x00, u64, magic, "")                                       \
    F(0x08, u64, time_ns, "mappings of before name the addresses") \
    F(0x10, u32, pid, "")                                         \
    F(0x14, u32, tid, "")                                         \
    F(0x18, u32, image, "of the block")
CN_RECORD(cn_perf_gpu, CN_PERF_GPU, 0x20);

/* Allocated memory, written by cairn: the body of a record of CN_PERF_HEADER_EVENT_TYPE. Return
 * addresses follow, the innermost first. */
#define CN_PERF_MEMORY_MAGIC UINT64_C(0x79726f6d654d4e43) /* "CNMemory" */
#define CN_PERF_MEMORY(F)                                                            \
    F(0x00, u64, magic, "")                                                          \
    F(0x08, u64, time_ns, "")                                                        \
    F(0x10, u32, pid, "")                                                            \
    F(0x14, u32, tid, "")                                                            \
    F(0x18, u32, image, "another one after an exec")                                 \
    F(0x1c, u32, kind, "1: allocation, 2: free, 3: end of the recording")            \
    F(0x20, u64, address, "of the block")                                            \
    F(0x28, u64, size, "requested; at the end: sampled allocations that were lost")  \
    F(0x30, u64, usable_size, "")                                                    \
    F(0x38, u64, old_size, "of a block that was reallocated; 0: it was not")         \
    F(0x40, u64, interval, "bytes between samples, in the mean; 0: all are there")   \
    F(0x48, u32, address_count, "")                                                  \
    F(0x4c, u32, flags, "1: the next call of the thread, 2: frees are missing, 4: mmap()")
CN_RECORD(cn_perf_memory, CN_PERF_MEMORY, 0x50);
enum {
    CN_PERF_IS_ALLOC = 1,
    CN_PERF_IS_RELEASE = 2,
    CN_PERF_IS_MEMORY_END = 3,
    CN_PERF_IS_CHECKED = 4, /* leaks of a program were looked for at its end */
    CN_PERF_IS_LEAK = 5,    /* no pointer led to the block at the address */
};
enum { CN_PERF_MEMORY_IS_NEXT = 1, CN_PERF_MEMORY_IS_CUT = 2, CN_PERF_MEMORY_IS_MAPPING = 4 };

/* What descriptors are, written by cairn: the body of a record of CN_PERF_HEADER_EVENT_TYPE. A text with
 * a NUL follows. */
#define CN_PERF_FILE_MAGIC UINT64_C(0x73656c6946704e43) /* "CNpFiles" */
#define CN_PERF_FILE(F)                                                                \
    F(0x00, u64, magic, "")                                                            \
    F(0x08, u64, time_ns, "")                                                          \
    F(0x10, u64, since_ns, "the descriptor was this from then to time_ns")             \
    F(0x18, u32, pid, "")                                                              \
    F(0x1c, u32, tid, "")                                                              \
    F(0x20, u32, kind,                                                                 \
      "1: argument of a system call, 2: descriptor, 3: working directory, 4: a "       \
      "descriptor that was made then, 5: file of the page that a disk is asked for (of "     \
      "old versions)")                                                 \
    F(0x24, u32, descriptor, "")                                                       \
    F(0x28, u32, flags, "1: the descriptor is closed by exec")
CN_RECORD(cn_perf_file_name, CN_PERF_FILE, 0x30);
enum {
    CN_PERF_IS_ARGUMENT = 1,
    CN_PERF_IS_DESCRIPTOR = 2,
    CN_PERF_IS_DIRECTORY = 3,
    CN_PERF_IS_MADE = 4,
    CN_PERF_IS_PAGE = 5,
};
enum { CN_PERF_FILE_IS_CLOSED_BY_EXEC = 1 };

/* Names of the addresses that were sampled: the section CN_PERF_FEATURE_SYMBOLS, a zstd frame. After
 * this head, strings, each with a NUL, levels and symbols. Strings are referred to by
 * number, in the order of the table; UINT32_MAX is none. */
#define CN_PERF_SYMBOLS_MAGIC UINT64_C(0x31736c6f626d7953) /* "Symbols1" */
#define CN_PERF_SYMBOLS_HEAD(F)                             \
    F(0x00, u64, magic, "")                                 \
    F(0x08, u64, string_len, "bytes of all strings")        \
    F(0x10, u32, string_count, "")                          \
    F(0x14, u32, level_count, "")                           \
    F(0x18, u32, symbol_count, "")
CN_RECORD(cn_perf_symbols_head, CN_PERF_SYMBOLS_HEAD, 0x20);

/* A function of an address, or a loop. */
#define CN_PERF_SYMBOL_LEVEL(F)                             \
    F(0x00, u32, name, "")                                  \
    F(0x04, u32, module, "")                                \
    F(0x08, u32, build_id, "in hexadecimal")                \
    F(0x0c, u32, file, "of the definition")                 \
    F(0x10, u32, line, "")                                  \
    F(0x14, u32, flags, "1: inlined, 2: a loop")            \
    F(0x18, u64, offset, "of the function in the module")
CN_RECORD(cn_perf_symbol_level, CN_PERF_SYMBOL_LEVEL, 0x20);

/* An address; its key is that of cn_stored_symbols_key(). */
#define CN_PERF_SYMBOL(F)                                   \
    F(0x00, u64, key, "")                                   \
    F(0x08, u64, offset, "of the instruction in the module") \
    F(0x10, u32, first, "level")                            \
    F(0x14, u32, count, "of levels")                        \
    F(0x18, u32, file, "of the innermost level")            \
    F(0x1c, u32, line, "")                                  \
    F(0x20, u32, module, "")                                \
    F(0x24, u32, build_id, "")                              \
    F(0x28, u32, entry, "how a stack began that ends here") \
    F(0x2c, u32, flags, "1: calls main, 2: partial")
CN_RECORD(cn_perf_symbol, CN_PERF_SYMBOL, 0x30);
/* clang-format on */

enum {
    CN_PERF_PIPE_HEADER_LEN = 16,
    CN_PERF_ATTR_LEN_MIN = 0x40, /* the missing fields are 0 */
    CN_PERF_EVENT_MAX = 64,
    CN_PERF_BUILD_ID_MAX = 20,
    CN_PERF_RATIO_MAX = 4096, /* bytes of records to a compressed byte */
    CN_PERF_CLOCK_MONOTONIC = 1,
};

#define CN_PERF_FLAG_FREQ          (UINT64_C(1) << 10)
#define CN_PERF_FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define CN_PERF_FLAG_USE_CLOCKID   (UINT64_C(1) << 25)
#define CN_PERF_FLAG_SWITCH        (UINT64_C(1) << 26) /* records of switches */

/* Of cn_perf_attr.type and .config. */
enum {
    CN_PERF_TYPE_SOFTWARE = 1,
    CN_PERF_TYPE_TRACEPOINT = 2,
    CN_PERF_SOFTWARE_SWITCHES = 3,
    CN_PERF_SOFTWARE_MINOR_FAULTS = 5,
    CN_PERF_SOFTWARE_MAJOR_FAULTS = 6,
    CN_PERF_SOFTWARE_DUMMY = 9,
};

enum cn_perf_type {
    CN_PERF_MMAP = 1,
    CN_PERF_LOST = 2,
    CN_PERF_COMM = 3,
    CN_PERF_EXIT = 4,
    CN_PERF_FORK = 7,
    CN_PERF_SAMPLE = 9,
    CN_PERF_MMAP2 = 10,
    CN_PERF_LOST_SAMPLES = 13,
    CN_PERF_SWITCH = 14,
    CN_PERF_SWITCH_CPU_WIDE = 15,
    CN_PERF_HEADER_ATTR = 64,
    CN_PERF_HEADER_EVENT_TYPE =
        65, /* of old versions; frames, GPU work, memory, files of cairn */
    CN_PERF_TRACING_DATA = 66, /* its data follows, of the size in its first 4 bytes */
    CN_PERF_HEADER_BUILD_ID = 67,
    CN_PERF_FINISHED_ROUND = 68, /* later records are not older than those of before */
    CN_PERF_AUXTRACE = 71,       /* the same, 8 bytes */
    CN_PERF_EVENT_UPDATE = 78,
    CN_PERF_HEADER_FEATURE = 80,
    CN_PERF_COMPRESSED = 81,  /* a chunk of a zstd stream of records, cut anywhere */
    CN_PERF_COMPRESSED2 = 83, /* the same, after its length */
};

enum {
    CN_PERF_FEATURE_BUILD_ID = 2,
    CN_PERF_FEATURE_HOSTNAME = 3, /* texts: the length in 32 bits, and the characters */
    CN_PERF_FEATURE_OS_RELEASE = 4,
    CN_PERF_FEATURE_VERSION = 5,
    CN_PERF_FEATURE_ARCH = 6,
    CN_PERF_FEATURE_CPU_COUNT = 7, /* u32 configured, u32 online */
    CN_PERF_FEATURE_CPU_DESC = 8,  /* the text of its model */
    CN_PERF_FEATURE_MEMORY = 10,   /* u64 KiB */
    CN_PERF_FEATURE_COMMAND = 11,  /* u32 count, texts */
    CN_PERF_FEATURE_EVENT_DESC = 12,
    CN_PERF_FEATURE_SAMPLE_TIME = 21, /* u64 of the first sample, u64 of the last */
    CN_PERF_FEATURE_CLOCK = 23,       /* u64 ticks a second */
    CN_PERF_FEATURE_COMPRESSED = 27,
    CN_PERF_FEATURE_CLOCK_DATA = 29, /* u32 1, u32 clock, u64 time of day, u64 clock's */
    CN_PERF_FEATURE_SYMBOLS =
        250, /* of cairn; perf skips features that it does not know */
    CN_PERF_FEATURE_ORIGIN = 251, /* of cairn: lines of model/origin.h */
    CN_PERF_FEATURE_COUNT = 256,
};
enum { CN_PERF_UPDATE_NAME = 2 };

/* Of cn_perf_head.misc. */
enum {
    CN_PERF_MODE_MASK = 7,
    CN_PERF_MODE_KERNEL = 1,
    CN_PERF_MISC_COMM_EXEC = 1 << 13,
    CN_PERF_MISC_SWITCH_OUT = 1 << 13,
    CN_PERF_MISC_SWITCH_OUT_PREEMPT = 1 << 14,
    CN_PERF_MISC_MMAP_DATA = 1 << 13,
    CN_PERF_MISC_MMAP_BUILD_ID = 1 << 14,
    CN_PERF_MISC_BUILD_ID_SIZE = 1 << 15,
};

/* Of cn_perf_attr.sample_type. Fields of a sample: identifier, address of the instruction,
 * thread, time, address of data, id, stream, processor, period, read values, call chain,
 * then in the order of bits. */
enum {
    CN_PERF_HAS_IP = 1 << 0,
    CN_PERF_HAS_TID = 1 << 1,
    CN_PERF_HAS_TIME = 1 << 2,
    CN_PERF_HAS_ADDR = 1 << 3,
    CN_PERF_HAS_READ = 1 << 4,
    CN_PERF_HAS_CALLCHAIN = 1 << 5,
    CN_PERF_HAS_ID = 1 << 6,
    CN_PERF_HAS_CPU = 1 << 7,
    CN_PERF_HAS_PERIOD = 1 << 8,
    CN_PERF_HAS_STREAM_ID = 1 << 9,
    CN_PERF_HAS_RAW = 1 << 10,
    CN_PERF_HAS_BRANCH_STACK = 1 << 11,
    CN_PERF_HAS_USER_REGS = 1 << 12,
    CN_PERF_HAS_USER_STACK = 1 << 13, /* a copy of the stack: --call-graph dwarf */
    CN_PERF_HAS_IDENTIFIER = 1 << 16, /* the first field */
};

/* Of cn_perf_attr.branch_sample_type. */
#define CN_PERF_BRANCH_CALL_STACK (UINT64_C(1) << 11) /* --call-graph lbr */
#define CN_PERF_BRANCH_HW_INDEX   (UINT64_C(1) << 17)

/* A branch of a sample, the latest first. */
enum { CN_PERF_BRANCH_LEN = 24, CN_PERF_BRANCH_TO_OFF = 8 };

/* Before the registers of a sample. */
enum { CN_PERF_ABI_NONE = 0, CN_PERF_ABI_32 = 1, CN_PERF_ABI_64 = 2 };

enum {
    CN_PERF_READ_ENABLED = 1,
    CN_PERF_READ_RUNNING = 2,
    CN_PERF_READ_ID = 4,
    CN_PERF_READ_GROUP = 8,
    CN_PERF_READ_LOST = 16,
};

/* Markers in a call chain: the mode of the addresses that follow. */
#define CN_PERF_CONTEXT_FIRST  ((uint64_t)-4095)
#define CN_PERF_CONTEXT_KERNEL ((uint64_t)-128)
#define CN_PERF_CONTEXT_HV     ((uint64_t)-32)
#define CN_PERF_CONTEXT_USER   ((uint64_t)-512)

/* Feature words of a header, in the order of their bits. */
static inline void cn_perf_features_get(const struct cn_perf_header *header,
                                        uint64_t words[static 4])
{
    words[0] = header->features;
    words[1] = header->features_64;
    words[2] = header->features_128;
    words[3] = header->features_192;
}

/* The number of bits of `mask` that are set. */
static inline uint64_t cn_perf_count(uint64_t bits, uint64_t mask)
{
    uint64_t count = 0;

    for (bits &= mask; bits; bits &= bits - 1)
        count++;
    return count;
}

#endif
