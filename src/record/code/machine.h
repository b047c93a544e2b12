/* Writes machine code: stubs of library calls and of patchable functions, and jumps.
 * Threads: any thread, on memory of its own.
 */
#ifndef CN_RECORD_CODE_MACHINE_H
#define CN_RECORD_CODE_MACHINE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
enum {
    CN_REC_JUMP_SLOT = R_X86_64_JUMP_SLOT,
    CN_REC_RELATIVE = R_X86_64_RELATIVE,
    CN_REC_GLOB_DAT = R_X86_64_GLOB_DAT,
    CN_REC_REACH_LOG2 = 31,
};
#else
enum {
    CN_REC_JUMP_SLOT = R_AARCH64_JUMP_SLOT,
    CN_REC_RELATIVE = R_AARCH64_RELATIVE,
    CN_REC_GLOB_DAT = R_AARCH64_GLOB_DAT,
    CN_REC_REACH_LOG2 = 27,
};
#endif

enum { CN_REC_STUB_LEN = 16 };

/* Write a jump to any address, of at most CN_REC_STUB_LEN bytes. */
void cn_rec_machine_jump(uint8_t *at, uintptr_t target);

/* Write the stub of slot `index` of a table, which passes `number` to the jump at the
 * start of the table; returns its address. A table has CN_REC_STUB_LEN bytes for each
 * slot and for the jump. */
uintptr_t cn_rec_machine_slot_stub(uint8_t *stubs, uint32_t index, uint32_t number);

/* Stubs of patched functions: a table of CN_REC_STUB_LEN or CN_REC_MOVED_LEN bytes for each,
 * after CN_REC_STUB_LEN for a jump to the recorder. */
struct cn_rec_stubs {
    uint8_t *at;
    size_t count, max;
};

/* Write a jump to a new stub over the nops at `at`; it passes the address of the body to
 * the recorder. False when there are not enough of them. */
bool cn_rec_machine_patch(uint8_t *at, struct cn_rec_stubs *stubs);

/* The same over any `len` bytes of nops, at which the body is not entered otherwise. */
bool cn_rec_machine_patch_nops(uint8_t *at, size_t len, struct cn_rec_stubs *stubs);

enum { CN_REC_MOVED_LEN = 80 };

/* Move the instructions at `at` into a stub of CN_REC_MOVED_LEN bytes, and write a jump to
 * it over them. False when there is no room or something is out of reach. */
struct cn_rec_patch;
bool cn_rec_machine_move(uint8_t *at, const struct cn_rec_patch *patch,
                         struct cn_rec_stubs *stubs);

#if defined(__x86_64__)
/* The same over a call at `at` of the function whose address is in `slot`, directly or
 * through the code from `low` to `high`. False when there is none. */
struct cn_rec_import {
    uintptr_t slot, low, high;
};
bool cn_rec_machine_patch_call(uint8_t *at, const struct cn_rec_import *import,
                               struct cn_rec_stubs *stubs);
#endif

/* Write a jump to `stub` over an empty function, of which 16 bytes are writable. False
 * when the function is not empty. */
bool cn_rec_machine_divert(uint8_t *at, uintptr_t stub);

/* Find code that ends a function which has no stack frame, except for what keeps the
 * stack aligned; 0 when there is none. A function that returns there, with that below its
 * own return address, goes on to that one. */
uintptr_t cn_rec_machine_find_passage(uintptr_t low, uintptr_t high);

/* How code uses a slot of a GOT, as a set. A PLT may jump through it, only code that was
 * built without a PLT calls through it. */
enum { CN_REC_USE_JUMP = 1, CN_REC_USE_CALL = 2, CN_REC_USE_OTHER = 4 };

struct cn_rec_slots {
    uintptr_t low, high;
    uintptr_t base; /* the address that code may count the slots from; 0: none */
    uint8_t *uses;  /* for each slot, as a set */
};

/* Find out how the code from `low` to `high` uses these slots. What may be a use counts
 * as one. */
void cn_rec_machine_find_uses(uintptr_t low, uintptr_t high,
                              const struct cn_rec_slots *slots);

/* Let the writable code from `low` to `high` call targets[i] instead of what slot i
 * contains, unless that is 0. False when code of this machine cannot be changed so. */
bool cn_rec_machine_redirect(uintptr_t low, uintptr_t high,
                             const struct cn_rec_slots *slots, const uintptr_t *targets);

#endif
