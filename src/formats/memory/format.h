/* What a task of a recording allocated and freed: TID.mem, written by the recorder with --memory.
 *
 * A file is records of one length, in the order of time, and nothing else. The first record of a
 * program in a process is CN_MEMORY_BEGIN: from there on addresses are those of that process, until
 * the next one of the file. Times are those of the calls in TID.dat. Integers are little
 * endian.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_MEMORY_FORMAT_H
#define CN_FORMATS_MEMORY_FORMAT_H

#include "base/bytes/record.h"

#define CN_MEMORY_SUFFIX ".mem"

#define CN_MEMORY_RECORD(F)                                                   \
    F(0x00, u64, time_ns, "when: a free before it, an allocation after it")   \
    F(0x08, u64, place, "address, or process; kind in the highest byte")      \
    F(0x10, u64, size, "bytes requested or unmapped; number of lost records") \
    F(0x18, u64, usable_size, "bytes that the allocator gave; number of the program")
CN_RECORD(cn_memory_record, CN_MEMORY_RECORD, 0x20);

/* Kinds. */
enum {
    CN_MEMORY_NOTHING, /* left by a realloc() that failed */
    CN_MEMORY_BEGIN,   /* a program in a process */
    CN_MEMORY_ALLOC,
    CN_MEMORY_FREE,
    CN_MEMORY_MOVED, /* realloc() freed it: usable_size is what it had */
    CN_MEMORY_GROWN, /* and allocated it */
    CN_MEMORY_MAP,   /* mmap() of memory of its own */
    CN_MEMORY_UNMAP, /* munmap() of any memory */
    CN_MEMORY_LOST,
    CN_MEMORY_CHECKED, /* at the end of a program: the next records are all that leaked */
    CN_MEMORY_LEAKED,  /* no pointer led to the block at the address */
    CN_MEMORY_KIND_COUNT,
};

enum {
    CN_MEMORY_KIND_AT = 56, /* bit of `place` */
    /* A clock that runs backwards by less was that of another processor. */
    CN_MEMORY_BACKWARDS_NS_MAX = 1000000,
};

/* A number of one run of a program in a process. */
static inline uint64_t cn_memory_process(uint64_t pid, uint64_t program)
{
    return pid << 32 | (uint32_t)(program >> 10);
}

#endif
