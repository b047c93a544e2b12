/* Copies arguments and results of calls into the payload of records.
 *
 * Stubs pass the registers that they saved. Memory behind pointers is read by the kernel,
 * so an invalid pointer does no harm.
 * Threads: any thread, its own registers.
 */
#ifndef CN_RECORD_CALLS_ARGUMENTS_H
#define CN_RECORD_CALLS_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_thread;

/* The stub that saved the registers. */
enum cn_rec_saver {
    CN_REC_SAVED_AT_ENTRY,
    CN_REC_SAVED_AT_RETURN,
    CN_REC_SAVED_BY_INSTRUMENT, /* callee-saved registers, by DWARF number */
    CN_REC_SAVED_BY_MCOUNT,     /* aarch64: with x19 to x28 */
};

struct cn_rec_registers {
    const uint64_t *saved;
    enum cn_rec_saver saver;
    uintptr_t sp;      /* at the call, without the return address */
    uintptr_t call_pc; /* return address of the hook */
    uintptr_t site;    /* return address of the call; 0: unknown */
};

/* Append values to those of this thread; returns their length, a multiple of 8, or 0 when
 * there is no room. They are freed by resetting `values_used`. */
uint32_t cn_rec_arguments_store(struct cn_rec_thread *self, uint32_t first,
                                uint32_t count, const struct cn_rec_registers *registers);

/* Read a value as a signed number. False when it is unknown. */
bool cn_rec_arguments_number(uint32_t index, const struct cn_rec_registers *registers,
                             int64_t *out);

#endif
