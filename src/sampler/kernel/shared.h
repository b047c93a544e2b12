/* What the program in the kernel (unwind.bpf.c) and the sampler agree on.
 *
 * The sampler describes processes and modules in maps; the program leaves a record for each
 * sample whose stack it has unwound in a ring. Both are of one build: nothing here is stored.
 * Threads: immutable.
 */
#ifndef CN_SAMPLER_KERNEL_SHARED_H
#define CN_SAMPLER_KERNEL_SHARED_H

#include <stdint.h>

#include "sampler/languages/frame_walk.h"

enum {
    CN_KERNEL_FRAMES_MAX = 1900, /* addresses of the user's code in a record */
    CN_KERNEL_CHAIN_MAX = 128,   /* addresses of the kernel's code */
    CN_KERNEL_MAPPINGS_MAX = 512,
    CN_KERNEL_PROCESSES_MAX = 4096,
    CN_KERNEL_MODULES_MAX = 4096,
    CN_KERNEL_RULES_MAX = 1 << 15,
    CN_KERNEL_BLOCK_ROWS = 512,
    CN_KERNEL_DEPTH_MAX = 3,
    CN_KERNEL_RING_LEN = 8 << 20,
    CN_KERNEL_CALLS_MAX = 512,
    CN_KERNEL_CALL_WORDS = 7,   /* of a system call: number and arguments */
    CN_KERNEL_WAKING_WORDS = 4, /* of a wake-up: its own fields in sched:sched_waking */
};

/* A record in the ring. Those of languages have a kind of their own and come before the stack
 * of the same sample: they have the same task and time, if that was unwound here. */
enum cn_kernel_kind { /* no types of records of perf */
                      CN_KERNEL_STACK = 1 << 16,
                      CN_KERNEL_FRAMES, /* struct cn_frames_found and its words */
                      CN_KERNEL_OBJECT, /* struct cn_frame_copies */
                      CN_KERNEL_PATH,   /* paths_shared.h */
                      CN_KERNEL_ALLOC,  /* allocations_shared.h */
                      CN_KERNEL_RELEASE,
};

struct cn_kernel_record {
    uint32_t kind;
    uint32_t pid, tid;
    uint32_t count; /* of words */
    uint64_t time_ns;
    /* The words follow. */
};

/* What the words of a stack begin with. The addresses of the kernel follow, or CN_KERNEL_CALL_WORDS in
 * their place, or CN_KERNEL_WAKING_WORDS before them; then those of the user, the innermost first. */
struct cn_kernel_stack {
    uint64_t ip, period;
    uint64_t epoch;    /* of the mappings that were used */
    uint64_t argument; /* in a system call: its first one; of a page fault: the address */
    uint32_t cpu, kernel_count, user_count;
    uint8_t is_user, is_cut, is_call, is_waking, is_fault;
    uint8_t unused[7];
};

enum { CN_KERNEL_STACK_WORDS = sizeof(struct cn_kernel_stack) / sizeof(uint64_t) };

/* Where functions of the kernel are that interrupts begin with; unused ones are empty. */
enum { CN_KERNEL_INTERRUPTS = 4 };

struct cn_kernel_interrupts {
    struct {
        uint64_t begin, end;
    } list[CN_KERNEL_INTERRUPTS];
};

/* The code of a process: mappings in the order of addresses, those without a table left out. */
struct cn_kernel_mapping {
    uint64_t begin, end;
    uint64_t base;   /* rows of the module count from it */
    uint32_t module; /* number */
    uint32_t depth;  /* of its tree of rows */
};

struct cn_kernel_process {
    uint64_t epoch;
    uint32_t count, unused;
    struct cn_kernel_mapping mappings[CN_KERNEL_MAPPINGS_MAX];
};

/* The rows of a module are a tree of blocks; block 0 is the root. Rows are in the order of
 * addresses, the unused ones of a block at the end with the highest. The first of the module is
 * at 0. `to` is the number of a block, in the lowest level of a rule. */
struct cn_kernel_block {
    uint32_t begins[CN_KERNEL_BLOCK_ROWS];
    uint32_t to[CN_KERNEL_BLOCK_ROWS];
};

enum cn_kernel_rule_kind {
    CN_KERNEL_UNKNOWN,   /* the sampler must unwind a copy */
    CN_KERNEL_BY_SP,     /* the CFA is the stack pointer plus an offset */
    CN_KERNEL_BY_FP,     /* the frame pointer plus an offset */
    CN_KERNEL_BY_PLT,    /* of the PLT on x86_64: 8 bytes more after a push */
    CN_KERNEL_BY_SIGNAL, /* the frame of a signal, as the kernel makes it */
    CN_KERNEL_END,       /* the outermost frame */
};

enum {
    CN_KERNEL_SAVED_FP = 1, /* at the CFA plus `fp` */
    CN_KERNEL_LOST_FP = 2,
    CN_KERNEL_SAVED_PC = 4, /* at the CFA plus `pc`; otherwise in the link register */
};

struct cn_kernel_rule {
    uint8_t kind, flags;
    uint8_t push; /* of the PLT: the offset in an entry after which the stack has grown */
    uint8_t unused;
    int32_t cfa, fp, pc;
};

#endif
