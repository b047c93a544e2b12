/* Where calls of the program arrive.
 *
 * The stubs (hooks_ARCH.S) handle an ordinary call alone: they push a frame, put the
 * address of cn_rec_return() in place of the return address, and store a record. All
 * else comes here: the first call of a thread, a full ring, calls that left without
 * returning (longjmp, exceptions), calls on other stacks, filters.
 *
 * Frames are pushed before they are filled and popped after they are used, so that a
 * signal handler that interrupts us at any point pushes and pops above.
 * Threads: any thread, its own frames.
 */
#ifndef CN_RECORD_HOOKS_H
#define CN_RECORD_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_frame;
struct cn_rec_registers;
struct cn_rec_thread;

/* A call was made: its return address is at `loc`. The stub saved the registers. */
void cn_rec_enter(uintptr_t *loc, uintptr_t address, const uint64_t *saved);

/* The same for a return address `ret` that is in a register, where the call was made with
 * this stack pointer. Gives what to return to instead. */
uintptr_t cn_rec_enter_register(uintptr_t sp, uintptr_t address, uintptr_t ret,
                                const uint64_t *saved);

/* A function built with -finstrument-functions was called, or returns. Its hook was called
 * with its return address at `loc`, and goes back to `call_pc`. */
void cn_rec_instrument_leave(uintptr_t function);
void cn_rec_instrument_enter(uintptr_t function, uintptr_t call_site, uintptr_t *loc,
                             const uint64_t *saved, uintptr_t call_pc);

/* The call whose return address was at `loc` returned. Gives the return address. */
uintptr_t cn_rec_leave(uintptr_t *loc, const uint64_t *saved);

/* A library function is called through its slot `number`, to return to what is at `loc`.
 * Gives where to go. */
uintptr_t cn_rec_libcall_enter(uintptr_t *loc, uint64_t number, const uint64_t *saved);

/* The same where the return address is in a register. */
struct cn_rec_register_call {
    uint64_t number; /* becomes the address of the slot */
    uintptr_t sp, ret, target;
};
void cn_rec_libcall_enter_register(struct cn_rec_register_call *call,
                                   const uint64_t *saved);

/* A function that does nothing and calls the hooks of -finstrument-functions, to find out
 * what that costs. */
void cn_rec_probe_instrument(void);

/* Put the true return addresses back, for whoever walks the stack; and ours again. */
void cn_rec_unhook_all(struct cn_rec_thread *self);
void cn_rec_hook_all(struct cn_rec_thread *self);

#endif
