/* What the programs at the allocator of a running process (allocations.bpf.c) and the sampler agree on.
 * Threads: immutable.
 */
#ifndef CN_SAMPLER_KERNEL_ALLOCATIONS_SHARED_H
#define CN_SAMPLER_KERNEL_ALLOCATIONS_SHARED_H

#include <stdint.h>

#include "sampler/kernel/shared.h"

enum {
    CN_KERNEL_COPY_MAX = 60 << 10, /* of a stack */
    CN_KERNEL_PAGE_LEN = 4096,
    CN_KERNEL_REGISTERS = 33,
    CN_KERNEL_GAP_BITS = 14,
    CN_KERNEL_LIVE_MAX = 1 << 18, /* sampled blocks */
    CN_KERNEL_INNER_MAX = 8,
#if defined(__aarch64__) || defined(CN_MACHINE_aarch64)
    CN_KERNEL_PC = 32, /* of the registers */
#else
    CN_KERNEL_PC = 16,
#endif
};

/* A sampled allocation: CN_KERNEL_ALLOC. The copy of the stack follows. */
struct cn_kernel_alloc {
    struct cn_kernel_record head;
    uint64_t address, size, usable_size, old_size;
    uint64_t registers[CN_KERNEL_REGISTERS]; /* by number in DWARF, of the caller */
    uint32_t copy_len, is_mapping;
};

/* A sampled block is freed: CN_KERNEL_RELEASE. */
struct cn_kernel_release {
    struct cn_kernel_record head;
    uint64_t address;
};

/* The allocator of a process. */
struct cn_kernel_allocator {
    struct cn_kernel_range {
        uint64_t begin, end;
    } inner[CN_KERNEL_INNER_MAX], /* calls from there are its own */
        modules[2];               /* mmap() from there is its own */
    uint32_t is_c_library;        /* some of its functions end in malloc() */
    uint32_t has_heads;           /* the size of a block is in the word before */
};

/* What a processor counts. */
struct cn_kernel_allocations {
    uint64_t probe_count, lost_count;
    int64_t left; /* bytes until the next sample */
    uint32_t has_begun, unused;
};

#endif
