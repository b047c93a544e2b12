/* Return stubs: where recorded calls return.
 *
 * The return address of a recorded call is replaced by that of a stub, and no other open call
 * has the same. So it identifies the call: the value of the stub tells unwinders the true return
 * address. Their expression (hooks_ARCH.S) adds a constant to the address of the stub and reads
 * the word there. Nothing is searched, and nothing is shared: the thread that made the call
 * stored the value before the address of the stub was in memory, and the value is constant
 * until the call has returned.
 *
 *   stubs    CN_REC_RETURNS_LEN bytes of code, written as they are needed:
 *              aarch64: blr x17; b cn_rec_return
 *              x86_64:  call *-16(%rsp); jmp to the last unit of 16: jmp cn_rec_return
 *   values   as many bytes: of each stub the return address, minus 1 as that of a signal frame
 *            (hooks_ARCH.S), except for that of a signal handler on aarch64
 *
 * The call instruction before the return address calls the bodies of patched functions: the
 * processor expects each return. Each element of the frames of a thread has a stub, which it
 * keeps from call to call. Only when a call is closed that has not returned, and may do so
 * after all (a coroutine on the stack of its thread), its frame gets another one: the stub
 * keeps its value until CN_REC_CLOSED_MAX more calls were closed in this way.
 * Threads: the stubs of frames belong to the thread of the frames; any thread may read the
 * value of an open call.
 */
#ifndef CN_RECORD_STATE_RETURNS_H
#define CN_RECORD_STATE_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/layout.h"

struct cn_rec_frame;
struct cn_rec_thread;

extern char cn_rec_returns[]; /* the stubs and their values; hooks_ARCH.S */

/* True for the address of a stub. */
static inline bool cn_rec_is_return(uintptr_t address)
{
    return address - (uintptr_t)cn_rec_returns < CN_REC_RETURNS_LEN;
}

/* The value of a stub. */
static inline volatile uintptr_t *cn_rec_return_value(uintptr_t stub)
{
    return (volatile uintptr_t *)((stub + CN_REC_RETURNS_LEN) & ~(uintptr_t)7);
}

/* What unwinders see of a return address. After tail calls it is that of the first
 * function. */
uintptr_t cn_rec_return_seen(uintptr_t ret);

/* The true return address of a call that returns to this stub. */
uintptr_t cn_rec_return_true(uintptr_t stub);

/* Where signal handlers return, on aarch64: unwinders recognize it by its instructions, not by
 * unwind information. 0 if unknown. */
extern uintptr_t cn_rec_sigreturn;
void cn_rec_returns_begin(void);

/* Give stubs to a frame that has none, and to the next ones. False when there are too many open
 * calls. */
bool cn_rec_return_assign(struct cn_rec_thread *self, struct cn_rec_frame *frame);

/* A call is closed that may return. Its frame gets another stub, or none. */
void cn_rec_return_close(struct cn_rec_thread *self, struct cn_rec_frame *frame);

/* Leave the stubs of deep frames, which are not used, to other threads. */
void cn_rec_returns_shrink(struct cn_rec_thread *self);

/* The address space is limited: unmap most of what is not used. */
void cn_rec_returns_limit(void);

#endif
