/* A uftrace data directory, byte by byte.
 *
 *   info                a header of 40 bytes, then lines "key:value": a group for each bit
 *                       of info_mask, in the order of the bits
 *   task.txt            lines SESS, TASK, FORK, DLOP in the order of time
 *   sid-SID.map         the memory map of a session
 *   NAME.sym, NAME.dbg  symbols and debug information of one module
 *   TID.dat             the records of one task
 *   perf-cpuN.dat       context switches and task events of one processor
 *   extern.dat, events.txt, default.opts, kernel_header, kallsyms, kernel-cpuN.dat
 *   syscalls.dat        system calls of the tasks, of cairn; others ignore it
 *
 * The info header declares the byte order of integers, and the order of the bits in the
 * second word of a record.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_UFTRACE_FORMAT_H
#define CN_FORMATS_UFTRACE_FORMAT_H

#include "base/bytes/record.h"

#define CN_UFT_MAGIC "Ftrace!"

/* The module of Python's functions, which have addresses from 1 on; no program has code
 * there. */
#define CN_UFT_PYTHON "python.fake"

enum {
    CN_UFT_PYTHON_END = 1 << 16,
    CN_UFT_MAGIC_LEN = 8, /* with its NUL */
    CN_UFT_VERSION = 4,
    CN_UFT_VERSION_MIN = 3,
    CN_UFT_LITTLE_ENDIAN = 1, /* values of `byte_order`, as in ELF */
    CN_UFT_BIG_ENDIAN = 2,
    CN_UFT_32_BIT = 1, /* values of `word_class`, as in ELF */
    CN_UFT_64_BIT = 2,
};

#define CN_UFT_INFO_HEADER(F)                                              \
    F(0x08, u32, version, "of the format: 4, or 3")                        \
    F(0x0c, u16, header_len, "40")                                         \
    F(0x0e, u8, byte_order, "1 little endian, 2 big endian")               \
    F(0x0f, u8, word_class, "1: 32 bit, 2: 64 bit")                        \
    F(0x10, u64, features, "what was recorded, CN_FEATURE_*")              \
    F(0x18, u64, info_mask, "which groups of lines follow, CN_UFT_INFO_*") \
    F(0x20, u16, max_stack, "the deepest call that was recorded")
CN_RECORD_ANY(cn_uft_info_header, CN_UFT_INFO_HEADER, 0x28);

/* Bits of info_mask, in the order of their lines. */
enum {
    CN_UFT_INFO_EXENAME,
    CN_UFT_INFO_BUILD_ID,
    CN_UFT_INFO_EXIT_STATUS,
    CN_UFT_INFO_CMDLINE,
    CN_UFT_INFO_CPUINFO,
    CN_UFT_INFO_MEMINFO,
    CN_UFT_INFO_OSINFO,
    CN_UFT_INFO_TASKINFO,
    CN_UFT_INFO_USAGEINFO,
    CN_UFT_INFO_LOADINFO,
    CN_UFT_INFO_ARG_SPEC,
    CN_UFT_INFO_RECORD_DATE,
    CN_UFT_INFO_PATTERN_TYPE,
    CN_UFT_INFO_VERSION,
    CN_UFT_INFO_UTC_OFFSET,
    CN_UFT_INFO_SYSCTL,
    CN_UFT_INFO_COUNT,
};

/* A record of TID.dat; a payload may follow. */
#define CN_UFT_RECORD(F)          \
    F(0x00, u64, time_ns, "when") \
    F(0x08, u64, word, "type, more, magic, depth, address")
CN_RECORD_ANY(cn_uft_record, CN_UFT_RECORD, 0x10);

/* The second word of a record. The magic of version 3 had four bits, 0xa: the same bits
 * as `more` and the magic of version 4, with `more` always 0. Names with _BE are the
 * positions in a big-endian recording. */
enum {
    CN_UFT_TYPE_AT = 0,
    CN_UFT_TYPE_BITS = 2,
    CN_UFT_MORE_AT = 2,
    CN_UFT_MORE_BITS = 1,
    CN_UFT_RECORD_MAGIC_AT = 3,
    CN_UFT_RECORD_MAGIC_BITS = 3,
    CN_UFT_DEPTH_AT = 6,
    CN_UFT_DEPTH_BITS = 10,
    CN_UFT_ADDRESS_AT = 16,
    CN_UFT_ADDRESS_BITS = 48,
    CN_UFT_TYPE_AT_BE = 62,
    CN_UFT_MORE_AT_BE = 61,
    CN_UFT_RECORD_MAGIC_AT_BE = 58,
    CN_UFT_DEPTH_AT_BE = 48,
    CN_UFT_ADDRESS_AT_BE = 0,
    CN_UFT_RECORD_MAGIC = 5,
};

/* Values of the type. */
enum { CN_UFT_ENTRY, CN_UFT_EXIT, CN_UFT_LOST, CN_UFT_EVENT };

/* What follows a record whose `more` is set. */
enum {
    CN_UFT_VALUE_ALIGN = 4,   /* of each value of a call */
    CN_UFT_PAYLOAD_ALIGN = 8, /* of all values together */
    CN_UFT_PAYLOAD_MAX = 1024,
    CN_UFT_STRING_HEAD =
        2, /* bytes of the length before a string or the data of an event */
};

/* perf-cpuN.dat: records of the kernel's perf ring buffer. */
#define CN_UFT_PERF_HEADER(F)           \
    F(0x00, u32, type, "CN_UFT_PERF_*") \
    F(0x04, u16, misc, "flags")         \
    F(0x06, u16, size, "of the record with this header")
CN_RECORD_ANY(cn_uft_perf_header, CN_UFT_PERF_HEADER, 0x08);

/* The last bytes of every record. */
#define CN_UFT_PERF_SAMPLE(F)    \
    F(0x00, u32, pid, "process") \
    F(0x04, u32, tid, "task")    \
    F(0x08, u64, time_ns, "when")
CN_RECORD_ANY(cn_uft_perf_sample, CN_UFT_PERF_SAMPLE, 0x10);

/* The body of FORK and EXIT. */
#define CN_UFT_PERF_TASK(F)                \
    F(0x00, u32, pid, "process")           \
    F(0x04, u32, parent_pid, "its parent") \
    F(0x08, u32, tid, "task")              \
    F(0x0c, u32, parent_tid, "its parent") \
    F(0x10, u64, time_ns, "when")
CN_RECORD_ANY(cn_uft_perf_task, CN_UFT_PERF_TASK, 0x18);

/* The body of COMM; the new name follows, padded to 8 bytes. */
#define CN_UFT_PERF_COMM_BODY(F) \
    F(0x00, u32, pid, "process") \
    F(0x04, u32, tid, "task")
CN_RECORD_ANY(cn_uft_perf_comm, CN_UFT_PERF_COMM_BODY, 0x08);

enum {
    CN_UFT_PERF_LOST = 2,
    CN_UFT_PERF_COMM = 3,
    CN_UFT_PERF_EXIT = 4,
    CN_UFT_PERF_FORK = 7,
    CN_UFT_PERF_SAMPLE_RECORD = 9, /* body: the number of an event in events.txt, a u64 */
    CN_UFT_PERF_SWITCH = 14,
    CN_UFT_PERF_MISC_OUT = 0x2000,
    CN_UFT_PERF_MISC_PREEMPT = 0x4000,
    CN_UFT_PERF_ALIGN = 8,
};

/* syscalls.dat: this head, the calls in any order, then strings, each with a NUL. */
#define CN_UFT_SYSCALLS_NAME  "syscalls.dat"
#define CN_UFT_SYSCALLS_MAGIC UINT64_C(0x6c6c616373796e63) /* "cnyscall" */
#define CN_UFT_SYSCALLS_HEAD(F)         \
    F(0x00, u64, magic, "\"cnyscall\"") \
    F(0x08, u64, version, "1")          \
    F(0x10, u64, count, "of calls")
CN_RECORD(cn_uft_syscalls_head, CN_UFT_SYSCALLS_HEAD, 0x18);

enum { CN_UFT_SYSCALLS_VERSION = 1 };

/* A system call about a file or a socket. */
#define CN_UFT_SYSCALL(F)                                                               \
    F(0x00, u64, begin_ns, "of the clock of records")                                   \
    F(0x08, u64, end_ns, "likewise; 0: unknown")                                        \
    F(0x10, u64, result, "two's complement; of a call whose end is known")              \
    F(0x18, u32, tid, "task")                                                           \
    F(0x1c, u32, name, "of the system call: number of a string")                        \
    F(0x20, u32, target, "name of the file or peer, likewise; 0xffffffff: it has none") \
    F(0x24, u32, descriptor, "0xffffffff: none")
CN_RECORD(cn_uft_syscall_record, CN_UFT_SYSCALL, 0x28);

/* Limits of a directory. */
enum {
    CN_UFT_LINE_MAX = 1 << 20, /* bytes of one line of a text file */
    CN_UFT_NAME_MAX = 1 << 16, /* bytes of one symbol name */
    CN_UFT_SID_LEN = 16,       /* hexadecimal digits of a session id */
    CN_UFT_TASKS_MAX = 1 << 20,
    CN_UFT_SYMBOLS_MAX = 1 << 26, /* of all modules together */
    CN_UFT_FILES_MAX = 1 << 21,
    CN_UFT_LOADS_MAX = 4096, /* libraries loaded later into one session */
    CN_UFT_SPECS_MAX = 32,   /* arguments of one function */
};

#endif
