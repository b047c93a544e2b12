/* Calls whose return address stays as it is: both ends are reported, by the hooks of
 * -finstrument-functions or by an interpreter. */
#include <stddef.h>

#include "record/calls/arguments.h"
#include "record/calls/hooks.h"
#include "record/code/loader.h"
#include "record/state/ring.h"
#include "record/state/thread.h"
#include "record/stubs.h"

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* A library call that throws has ended when the hooks of -finstrument-functions are called.
 * Their stack pointers do not show that: they are lower than that of the call. */
static void close_throwing(struct cn_rec_thread *self)
{
    while (self->top->flags & CN_REC_FRAME_THROWS)
        cn_rec_frame_pop(self);
}

/* Both hooks of -finstrument-functions are called with the same stack pointer, which
 * identifies the call; only functions inlined into each other share it. */
void cn_rec_instrument_enter(uintptr_t function, uintptr_t call_site, uintptr_t *loc,
                             const uint64_t *saved, uintptr_t call_pc)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_BY_INSTRUMENT,
                                         (uintptr_t)(loc + 1), call_pc, call_site};
    struct cn_rec_thread *self = cn_rec_call_thread();

    if (!self)
        return;
    cn_rec_thread_reserve(self);
    close_throwing(self);
    if (loc > self->top->loc)
        cn_rec_frames_close_dead(self, loc);
    if (self->dlopen_sp)
        cn_rec_loader_find_new(self, (uintptr_t)loc);
    if (cn_rec_frame_push(self, loc, 0, function, CN_REC_FRAME_UNHOOKED))
        cn_rec_frame_record_entry(self, &registers);
}

/* Find the open call of the function whose hook was called at `loc`. A function that
 * called alloca() has another stack pointer: then it is the innermost call. */
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

    if (!self || !cn_rec_thread_is_ours(self))
        return;
    struct cn_rec_frame *frame = find_open(self, function, loc);
    if (!frame)
        return; /* it was called before the recorder was set up */
    close_throwing(self);
    cn_rec_frames_close_dead(self, frame->loc);
    cn_rec_frame_close(self, frame);
}

/* As high as the sentinel: no call that is made or returns on the stack closes it. */
#define INTERPRETED_LOC ((uintptr_t *)UINTPTR_MAX)

void cn_rec_interpreted_enter(uintptr_t address)
{
    struct cn_rec_thread *self = cn_rec_call_thread();

    if (!self)
        return;
    cn_rec_thread_reserve(self);
    close_throwing(self);
    cn_rec_frames_close_dead(self, __builtin_frame_address(0));
    if (cn_rec_frame_push(self, INTERPRETED_LOC, 0, address, CN_REC_FRAME_UNHOOKED))
        cn_rec_frame_record_entry(self, NULL);
    else
        self->lost_interpreted++;
}

void cn_rec_interpreted_leave(uintptr_t address)
{
    struct cn_rec_thread *self = cn_rec_self;

    if (!self || !cn_rec_thread_is_ours(self))
        return;
    /* Calls too deep for a frame return first. */
    if (self->lost_interpreted > 0) {
        self->lost_interpreted--;
        return;
    }
    struct cn_rec_frame *frame = find_open(self, address, INTERPRETED_LOC);
    if (!frame)
        return;
    close_throwing(self);
    cn_rec_frames_close_dead(self, __builtin_frame_address(0));
    cn_rec_frame_close(self, frame);
}

void cn_rec_probe_instrument(void)
{
    void *probe = (void *)(uintptr_t)cn_rec_probe_plain;

    __cyg_profile_func_enter(probe, NULL);
    __cyg_profile_func_exit(probe, NULL);
}
