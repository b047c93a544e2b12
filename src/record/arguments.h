/* Arguments and results of calls, copied from where they lie when a hook is called into
 * what follows a record.
 *
 * Stubs hand on where they saved the registers. Memory that a value only points to is
 * read with the kernel's help, so that no pointer can do harm.
 * Threads: any thread, its own registers.
 */
#ifndef CN_RECORD_ARGUMENTS_H
#define CN_RECORD_ARGUMENTS_H

#include <stdint.h>

struct cn_rec_thread;

/* Which stub saved the registers. */
enum cn_rec_saver {
    CN_REC_SAVED_AT_ENTRY,
    CN_REC_SAVED_AT_RETURN,
    CN_REC_SAVED_BY_INSTRUMENT, /* all of them, in the order of DWARF */
    CN_REC_SAVED_BY_MCOUNT,     /* aarch64: with x19 to x28 */
};

struct cn_rec_registers {
    const uint64_t *saved;
    enum cn_rec_saver saver;
    uintptr_t sp;      /* when the call was made, without the return address */
    uintptr_t call_pc; /* where the hook returns to */
    uintptr_t site;    /* where the call itself returns to; 0: not known */
};

/* Store values at the end of what this thread keeps; gives their length, a multiple of 8,
 * or 0 when there is no room. They are kept until `values_used` is taken back. */
uint32_t cn_rec_arguments_store(struct cn_rec_thread *self, uint32_t first,
                                uint32_t count, const struct cn_rec_registers *registers);

#endif
