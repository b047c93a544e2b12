/* Memory shared by cairn sample and the programs that sample themselves by signals.
 *
 * A program takes a slot, fills it and marks it as full; cairn empties it. A slot whose
 * program ended while it filled it is taken back.
 * Threads: slots change hands by `state`; any thread and process.
 */
#ifndef CN_SAMPLER_INSIDE_SHARED_H
#define CN_SAMPLER_INSIDE_SHARED_H

#include <stdatomic.h>
#include <stdint.h>

#include "sampler/languages/frame_walk.h"

#define CN_INSIDE_LIBRARY "libcairn-sample.so"
#define CN_INSIDE_ENV     "CAIRN_SAMPLE" /* path of the memory */

enum {
    CN_INSIDE_MAGIC = 0x73616d32,
    CN_INSIDE_SLOTS = 128,
    CN_INSIDE_COPY_MAX = 60 << 10,
    CN_INSIDE_REGISTERS = 33,
    CN_INSIDE_TABLES = 64, /* processes whose frames are read inside */
    CN_INSIDE_BLOCKS = 8,
    CN_INSIDE_BLOCK_LEN = 256,
};

enum cn_inside_state { CN_INSIDE_FREE, CN_INSIDE_FILLING, CN_INSIDE_FULL };

enum cn_inside_kind {
    CN_INSIDE_SAMPLE, /* registers, and a copy of the stack */
    CN_INSIDE_BEGIN,  /* of a process: the text of /proc/self/maps */
};

struct cn_inside_slot {
    _Atomic uint32_t state;
    uint32_t kind;
    uint32_t pid, tid;
    uint64_t time_ns;
    uint64_t registers[CN_INSIDE_REGISTERS]; /* by number in DWARF */
    uint32_t period_count; /* of the timer, since the last sample of the thread */
    uint32_t copy_len;
    uint8_t copy[CN_INSIDE_COPY_MAX];
    /* Frames of an interpreter, and blocks of memory while they are read: the stack of a handler
     * may be small. */
    uint32_t has_frames;
    struct cn_frame_walk walk;
    struct cn_inside_block {
        uint64_t begin; /* 1: nothing */
        uint8_t bytes[CN_INSIDE_BLOCK_LEN];
    } blocks[CN_INSIDE_BLOCKS];
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
    _Atomic uint32_t next; /* slot */
    _Atomic uint32_t is_over;
    _Atomic uint64_t lost_count;
    struct cn_inside_table tables[CN_INSIDE_TABLES];
    struct cn_inside_slot slots[CN_INSIDE_SLOTS];
};

#endif
