/* Lengths and jumps of machine instructions, of x86_64 (with libcapstone) and aarch64.
 * Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_INSTRUCTION_H
#define CN_SYMBOLS_PROGRAM_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_instructions {
    bool is_x86;
    uintptr_t disassembler; /* of libcapstone */
    void *scratch;
};

struct cn_instruction {
    uint32_t len;
    bool is_end;     /* the next instruction does not follow: a jump, a return, a trap */
    bool has_target; /* it may jump to `target` */
    bool is_call;    /* of the function at `target` */
    uint64_t target; /* offset in the code; may be outside */
};

/* False if instructions of this machine cannot be read. */
bool cn_instructions_open(struct cn_instructions *reader, bool is_x86);
void cn_instructions_close(struct cn_instructions *reader);

/* The instruction at an offset of the code. False if it is not one. */
bool cn_instruction_decode(struct cn_instructions *reader, struct cn_bytes code,
                           uint32_t off, struct cn_instruction *out);

#endif
