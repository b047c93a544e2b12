/* Memory shared by cairn sample and the programs that sample themselves: by signals, and at
 * allocations.
 *
 * A program takes a slot, fills it and marks it as full; cairn empties it. A slot whose
 * program ended while it filled it is taken back.
 * Threads: slots change hands by `state`; any thread and process.
 */
#ifndef CN_SAMPLER_INSIDE_SHARED_H
#define CN_SAMPLER_INSIDE_SHARED_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "sampler/languages/frame_walk.h"

#define CN_INSIDE_LIBRARY "libcairn-sample.so"
#define CN_INSIDE_ENV     "CAIRN_SAMPLE" /* path of the memory */
/* The same for the library that samples allocations. */
#define CN_INSIDE_MEMORY_LIBRARY "libcairn-memory.so"
#define CN_INSIDE_MEMORY_ENV     "CAIRN_MEMORY"

enum {
    CN_INSIDE_MAGIC = 0x73616d37,
    CN_INSIDE_SLOTS = 1024,
    CN_INSIDE_FIRST_SLOTS = 64, /* in use at the start: the fewer, the fewer pages */
    CN_INSIDE_RELEASES = 1 << 14,
    CN_INSIDE_COPY_MAX = 60 << 10,
    CN_INSIDE_REGISTERS = 33,
    CN_INSIDE_TABLES = 64, /* processes whose frames are read inside */
    CN_INSIDE_BLOCKS = 32, /* even, at most 32 */
    CN_INSIDE_BLOCK_LEN = 256,
    CN_INSIDE_NO_BLOCK = 0, /* of one that was not read; no memory is there */
};

enum cn_inside_state { CN_INSIDE_FREE, CN_INSIDE_FILLING, CN_INSIDE_FULL };

enum cn_inside_kind {
    CN_INSIDE_SAMPLE, /* registers, and a copy of the stack */
    CN_INSIDE_BEGIN,  /* of a process: the text of /proc/self/maps */
    CN_INSIDE_ALLOC,  /* a sample of an allocation */
    CN_INSIDE_OBJECT, /* struct cn_frame_copies of an object that frames refer to */
};

struct cn_inside_alloc {
    uint64_t address, size, usable_size;
    uint64_t old_size;   /* of the block that it replaces; 0: none */
    uint64_t caller;     /* return address in the function that allocated */
    uint32_t image;      /* the program that the process runs */
    uint32_t is_mapping; /* made by mmap() */
};

/* A block that was sampled is freed. */
struct cn_inside_release {
    _Atomic uint32_t state;
    uint32_t pid, tid, image;
    uint64_t time_ns, address;
    uint32_t is_next; /* the thread has allocated nothing since the block */
};

/* A program that ends has cairn look for leaks, and waits. */
enum cn_inside_leaks_state {
    CN_INSIDE_LEAKS_FREE,
    CN_INSIDE_LEAKS_TAKEN,
    CN_INSIDE_LEAKS_ASKED,
    CN_INSIDE_LEAKS_ANSWERED,
};

/* A sampled block that is live, in the memory of the program. */
struct cn_live_place {
    _Atomic uint64_t
        hidden; /* the complement of its address, which is no pointer; 0: free */
    struct cn_live_block {
        uint64_t number; /* of the thread's allocations at this one */
        uint64_t size;   /* 0: of a mapping */
        uint32_t tid;
    } block;
};

enum { CN_LIVE_PLACE_BITS = 16, CN_LIVE_PLACES = 1 << CN_LIVE_PLACE_BITS };

struct cn_inside_leaks {
    _Atomic uint32_t state; /* futex; enum cn_inside_leaks_state */
    _Atomic uint32_t pid;   /* that asks; 0: none */
    uint32_t tid, image;
    uint64_t places; /* the address of its CN_LIVE_PLACES */
};

/* What is said about a program (notes of the memory). */
enum {
    CN_INSIDE_HAS_MEMORY = 1,    /* its allocations are sampled */
    CN_INSIDE_OWN_MALLOC = 2,    /* it has its own malloc(): they are not */
    CN_INSIDE_RELEASES_FULL = 4, /* releases are missing */
    CN_INSIDE_SANDBOXED = 8, /* it restricted its system calls: what follows is missing */
};

struct cn_inside_slot {
    _Atomic uint32_t state;
    uint32_t kind;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t registers[CN_INSIDE_REGISTERS]; /* by number in DWARF */
    uint32_t period_count; /* of the timer, since the last sample of the thread */
    uint32_t copy_len;
    struct cn_inside_alloc alloc;
    /* Frames of an interpreter, and blocks of memory while they are read: the stack of a handler
     * may be small. */
    uint32_t has_frames;
    struct cn_frame_walk walk;
    struct cn_inside_block {
        uint64_t begin;
        uint8_t bytes[CN_INSIDE_BLOCK_LEN];
    } blocks[CN_INSIDE_BLOCKS];
    uint8_t copy[CN_INSIDE_COPY_MAX]; /* of which copy_len are there */
};

/* How frames of a process are read. What is read while the sampler changes it is checked as all
 * that comes from a process. */
struct cn_inside_table {
    _Atomic uint32_t pid; /* 0: unused */
    struct cn_frame_table table;
};

struct cn_inside_shared {
    uint32_t magic;
    uint32_t period_ns;
    uint64_t interval;           /* bytes between samples of allocations; 0: none */
    _Atomic uint32_t next;       /* slot */
    _Atomic uint32_t slot_count; /* in use; doubled when all are full */
    _Atomic uint32_t next_release;
    _Atomic uint32_t is_over;
    _Atomic uint32_t notes;
    uint32_t has_leaks;            /* programs ask for a check at their end */
    uint32_t sampler_pid;          /* of cairn */
    _Atomic uint32_t memory_count; /* programs whose allocations are sampled */
    struct cn_inside_leaks leaks;
    _Atomic uint64_t lost_count;
    _Atomic uint64_t
        lost_alloc_count; /* samples of allocations without a slot, or a place */
    _Atomic uint64_t
        objects[1 << CN_FRAME_OBJECT_BITS]; /* that were copied the last time */
    struct cn_inside_release releases[CN_INSIDE_RELEASES];
    struct cn_inside_table tables[CN_INSIDE_TABLES];
    struct cn_inside_slot slots[CN_INSIDE_SLOTS];
};

/* Slots that are in use, whatever a program has written there. */
static inline uint32_t cn_inside_slot_count(struct cn_inside_shared *shared)
{
    uint32_t count = atomic_load_explicit(&shared->slot_count, memory_order_relaxed);

    return count > 0 && count < CN_INSIDE_SLOTS ? count : CN_INSIDE_SLOTS;
}

#endif
