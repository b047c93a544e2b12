/* The hooks: called when functions of the program are called and return.
 *
 * Assembly (hooks_ARCH.S) handles an ordinary call alone: it pushes a frame, replaces the
 * return address by that of a stub (state/returns.h), and stores a record. It calls the
 * bodies of patched functions from such a stub, with the same result. Everything else is left
 * to these functions: the first call of a thread, a full ring, calls that did not return
 * (longjmp, exceptions), calls on other stacks, filters.
 *
 * Frames are pushed before they are filled and popped after they are used, so that a
 * signal handler that interrupts the hooks at any point pushes and pops above.
 * Threads: any thread, its own frames.
 */
#ifndef CN_RECORD_CALLS_HOOKS_H
#define CN_RECORD_CALLS_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_frame;
struct cn_rec_registers;
struct cn_rec_thread;

/* A call was made; its return address is at `loc`. `saved` is the registers that the hook
 * saved, `flags` those of its frame. Returns the stub that it returns to instead; 0: it is not
 * recorded. */
uintptr_t cn_rec_enter(uintptr_t *loc, uintptr_t address, const uint64_t *saved,
                       uint64_t flags);

/* The same for a return address `ret` in a register; `sp` is the stack pointer at the
 * call. */
uintptr_t cn_rec_enter_register(uintptr_t sp, uintptr_t address, uintptr_t ret,
                                const uint64_t *saved);

/* A function built with -finstrument-functions was called, or returns. The return address
 * of the hook is at `loc`, and is `call_pc`. */
void cn_rec_instrument_leave(uintptr_t function);
void cn_rec_instrument_enter(uintptr_t function, uintptr_t call_site, uintptr_t *loc,
                             const uint64_t *saved, uintptr_t call_pc);

/* A function of an interpreter was called, or returns. It has no place on the stack: it ends
 * only here. */
void cn_rec_interpreted_enter(uintptr_t address);
void cn_rec_interpreted_leave(uintptr_t address);

/* A call returns to the stub `*ret`, which becomes its true return address. Returns the flags
 * of its frame. */
uint64_t cn_rec_leave(volatile uintptr_t *ret, const uint64_t *saved);

/* Where to jump for a library call. If there is a passage (machine.h), the function must
 * return through it. */
struct cn_rec_libcall_target {
    uintptr_t function, passage;
};

/* A library function is called through slot `number`; its return address is at `loc`. */
struct cn_rec_libcall_target cn_rec_libcall_enter(uintptr_t *loc, uint64_t number,
                                                  const uint64_t *saved);

/* The same for a return address in a register. */
struct cn_rec_register_call {
    uint64_t number; /* becomes the address of the slot */
    uintptr_t sp;    /* becomes the passage; 0: none */
    uintptr_t ret, target;
};
void cn_rec_libcall_enter_register(struct cn_rec_register_call *call,
                                   const uint64_t *saved);

/* An empty function with the hooks of -finstrument-functions, to measure their cost. */
void cn_rec_probe_instrument(void);

/* Frames, for calls that other hooks report. A frame that is pushed is the innermost one;
 * NULL: too deep. A call that has not returned is dead if its stack is above `loc`. */
struct cn_rec_frame *cn_rec_frame_push(struct cn_rec_thread *self, uintptr_t *loc,
                                       uintptr_t ret, uintptr_t address, uint64_t flags);
void cn_rec_frame_pop(struct cn_rec_thread *self);
void cn_rec_frame_leave(struct cn_rec_thread *self,
                        const struct cn_rec_registers *registers);
void cn_rec_frame_close(struct cn_rec_thread *self, struct cn_rec_frame *frame);
void cn_rec_frames_close_dead(struct cn_rec_thread *self, const uintptr_t *loc);
void cn_rec_frame_record_entry(struct cn_rec_thread *self,
                               const struct cn_rec_registers *registers);

/* The thread of a call that is made now; NULL when it is not recorded. Library calls of other
 * threads may have bound slots since: they are pointed to the recorder. */
struct cn_rec_thread *cn_rec_call_thread(void);

/* Prepare to record a call at `loc`; NULL when it is not recorded. `x29` is the caller's, where
 * the return address is in a register. */
struct cn_rec_thread *cn_rec_call_prepare(const uintptr_t *loc, uintptr_t ret,
                                          uint64_t x29);

/* Remove the innermost frame without recording its end; an entry that is pending is recorded
 * with its end, if it lasted long enough. */
void cn_rec_frame_drop(struct cn_rec_thread *self);

/* The innermost frame is of a call that has returned before, and returns again: its end will
 * be recorded with the depth that it has now. */
void cn_rec_frame_resume(struct cn_rec_thread *self);

/* Functions have ended with a jump to another, with this return address: end their calls.
 * Returns the true return address. */
uintptr_t cn_rec_frames_end_jumping(struct cn_rec_thread *self, uintptr_t ret);

#endif
