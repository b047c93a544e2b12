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

#define CN_INSIDE_LIBRARY "libcairn-sample.so"
#define CN_INSIDE_ENV     "CAIRN_SAMPLE" /* path of the memory */

enum {
    CN_INSIDE_MAGIC = 0x73616d31,
    CN_INSIDE_SLOTS = 128,
    CN_INSIDE_COPY_MAX = 32 << 10,
    CN_INSIDE_REGISTERS = 33,
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
};

struct cn_inside_shared {
    uint32_t magic;
    uint32_t period_ns;
    _Atomic uint32_t next; /* slot */
    _Atomic uint32_t is_over;
    _Atomic uint64_t lost_count;
    struct cn_inside_slot slots[CN_INSIDE_SLOTS];
};

#endif
