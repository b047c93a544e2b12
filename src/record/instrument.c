/* -finstrument-functions: the compiler calls us at entry and exit, by the usual rules. The
 * stub of the first hook keeps the registers that may hold arguments by then. */

#include <stddef.h>

#include "record/arguments.h"
#include "record/hooks.h"
#include "record/loader.h"
#include "record/stubs.h"
#include "record/thread.h"

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* Both hooks are called with the same stack pointer, so this identifies the call; only
 * functions inlined into each other share it. */
void cn_rec_instrument_enter(uintptr_t function, uintptr_t call_site, uintptr_t *loc,
                             const uint64_t *saved, uintptr_t call_pc)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_BY_INSTRUMENT,
                                         (uintptr_t)(loc + 1), call_pc, call_site};
    struct cn_rec_thread *self = cn_rec_self ? cn_rec_self : cn_rec_thread_begin();

    if (!self || self->is_off || !cn_rec_thread_is_ours(self))
        return;
    cn_rec_thread_reserve(self);
    if (loc > self->top->loc)
        cn_rec_close_dead(self, loc);
    if (self->dlopen_sp)
        cn_rec_loader_find_new(self, (uintptr_t)loc);
    if (cn_rec_push(self, loc, 0, function, CN_REC_FRAME_UNHOOKED))
        cn_rec_enter_pushed(self, &registers);
}

/* The open call of the function whose hook was called at `loc`. Who took memory from the
 * stack meanwhile has it called elsewhere: then it is the innermost. */
static struct cn_rec_frame *find_open(const struct cn_rec_thread *self,
                                      uintptr_t function, const uintptr_t *loc)
{
    struct cn_rec_frame *innermost = NULL;

    for (struct cn_rec_frame *frame = self->top; frame > self->frames; frame--) {
        if (frame->address != function || !(frame->flags & CN_REC_FRAME_UNHOOKED))
            continue;
        if (frame->loc == loc)
            return frame;
        if (!innermost)
            innermost = frame;
    }
    return innermost;
}

void cn_rec_instrument_leave(uintptr_t function)
{
    const uintptr_t *loc = (const uintptr_t *)__builtin_dwarf_cfa() - 1;
    struct cn_rec_thread *self = cn_rec_self;
    struct cn_rec_frame *frame;

    if (!self || !cn_rec_thread_is_ours(self))
        return;
    frame = find_open(self, function, loc);
    if (!frame)
        return; /* its entry came before we were ready */
    cn_rec_close_dead(self, frame->loc);
    cn_rec_close(self, frame);
}

void cn_rec_probe_instrument(void)
{
    void *probe = (void *)(uintptr_t)cn_rec_probe_plain;

    __cyg_profile_func_enter(probe, NULL);
    __cyg_profile_func_exit(probe, NULL);
}
