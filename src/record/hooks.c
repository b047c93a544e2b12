#include "record/hooks.h"

#include <signal.h>
#include <stddef.h>

#include "record/filter.h"
#include "record/layout.h"
#include "record/libcalls.h"
#include "record/process.h"
#include "record/session.h"
#include "record/syscalls.h"
#include "record/thread.h"

static bool is_on_own_stack(const struct cn_rec_thread *self, const uintptr_t *loc)
{
    return (uintptr_t)loc >= self->stack_low && (uintptr_t)loc < self->stack_high;
}

/* The stack that signal handlers run on; empty while one runs on it. */
static void find_idle_signal_stack(uintptr_t *low, uintptr_t *high)
{
    stack_t stack = {0};

    *low = *high = 0;
    if (cn_rec_syscall3(SYS_sigaltstack, 0, (long)&stack, 0) < 0 ||
        (stack.ss_flags & (SS_ONSTACK | SS_DISABLE)))
        return;
    *low = (uintptr_t)stack.ss_sp;
    *high = *low + stack.ss_size;
}

/* A call lower on our stack than one that is made or returns now cannot be open any more.
 * Of other stacks, coroutines' for example, we know nothing; only the stack for signals
 * is certainly idle when we run elsewhere. */
static bool is_dead(const struct cn_rec_thread *self, const struct cn_rec_frame *frame,
                    const uintptr_t *loc)
{
    uintptr_t low, high;

    if (frame->loc == (uintptr_t *)UINTPTR_MAX || !is_on_own_stack(self, loc))
        return false;
    if (is_on_own_stack(self, frame->loc))
        return frame->loc < loc;
    find_idle_signal_stack(&low, &high);
    return (uintptr_t)frame->loc >= low && (uintptr_t)frame->loc < high;
}

void cn_rec_close_dead(struct cn_rec_thread *self, const uintptr_t *loc)
{
    while (is_dead(self, self->top, loc))
        cn_rec_pop(self);
}

struct cn_rec_frame *cn_rec_push(struct cn_rec_thread *self, uintptr_t *loc,
                                 uintptr_t address, uint64_t flags)
{
    struct cn_rec_frame *frame = self->top + 1;

    if (frame >= self->real_end) {
        atomic_fetch_add(&self->track->lost, 1);
        return NULL;
    }
    frame->loc = loc;
    self->top = frame;
    *(volatile struct cn_rec_frame *)frame = (struct cn_rec_frame){
        .loc = loc,
        .ret = *loc,
        .address = address,
        .flags = flags,
    };
    return frame;
}

void cn_rec_pop(struct cn_rec_thread *self)
{
    struct cn_rec_frame *frame = self->top;

    if (frame->flags & CN_REC_FRAME_LIBCALL)
        cn_rec_libcall_leave(frame->flags >> 32);
    if (frame->flags & CN_REC_FRAME_FILTERED)
        cn_rec_filter_leave(self, frame);
    else if (!(frame->flags & CN_REC_FRAME_SILENT))
        cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_EXIT_WORD);
    self->top = frame - 1;
}

void cn_rec_enter_pushed(struct cn_rec_thread *self)
{
    if (cn_rec_process.has_filters)
        cn_rec_filter_enter(self, self->top);
    else
        cn_rec_record(self, cn_rec_frame_word(self, self->top) | CN_REC_ENTRY_WORD);
}

void cn_rec_enter_flagged(uintptr_t *loc, uintptr_t address, uint64_t flags)
{
    struct cn_rec_thread *self = cn_rec_self ? cn_rec_self : cn_rec_thread_begin();
    bool is_tail_call;

    if (!self || self->is_off || !cn_rec_thread_is_ours(self))
        return;
    is_tail_call = loc == self->top->loc && *loc == (uintptr_t)cn_rec_return;
    if (loc >= self->top->loc && !is_tail_call) {
        cn_rec_close_dead(self, loc);
        /* The same place holds another return address: that call is gone too. */
        while (loc == self->top->loc && !(self->top->flags & CN_REC_FRAME_UNHOOKED))
            cn_rec_pop(self);
    }
    if (self->dlopen_sp)
        cn_rec_thread_find_libraries(self, (uintptr_t)loc);
    if (!cn_rec_push(self, loc, address, flags))
        return;
    *(volatile uintptr_t *)loc = (uintptr_t)cn_rec_return;
    cn_rec_enter_pushed(self);
}

void cn_rec_enter(uintptr_t *loc, uintptr_t address)
{
    cn_rec_enter_flagged(loc, address, 0);
}

/* Take a frame out of the middle: calls above it are open on other stacks. */
static void remove_frame(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    uint64_t before;

    cn_rec_block_signals(&before);
    for (; frame < self->top; frame++)
        frame[0] = frame[1];
    self->top--;
    cn_rec_restore_signals(&before);
}

uintptr_t cn_rec_leave(uintptr_t *loc)
{
    struct cn_rec_thread *self = cn_rec_self;
    struct cn_rec_frame *frame;
    uintptr_t ret;

    cn_rec_close_dead(self, loc);
    frame = self->top;
    if (frame->loc == loc) {
        ret = frame->ret;
        cn_rec_pop(self);
        return ret;
    }
    while (frame->loc != loc && frame > self->frames)
        frame--;
    if (frame == self->frames)
        __builtin_trap(); /* nobody knows where this call came from */
    ret = frame->ret;
    if (frame->flags & CN_REC_FRAME_LIBCALL)
        cn_rec_libcall_leave(frame->flags >> 32);
    if (!(frame->flags & CN_REC_FRAME_SILENT))
        cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_EXIT_WORD);
    remove_frame(self, frame);
    return ret;
}

void cn_rec_unhook_all(struct cn_rec_thread *self)
{
    for (struct cn_rec_frame *frame = self->top; frame > self->frames; frame--) {
        if (!(frame->flags & CN_REC_FRAME_UNHOOKED))
            *frame->loc = frame->ret;
    }
}

void cn_rec_hook_all(struct cn_rec_thread *self)
{
    for (struct cn_rec_frame *frame = self->frames + 1; frame <= self->top; frame++) {
        if (!(frame->flags & CN_REC_FRAME_UNHOOKED))
            *frame->loc = (uintptr_t)cn_rec_return;
    }
}
