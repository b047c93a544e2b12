#include "record/calls/hooks.h"

#include <signal.h>
#include <stddef.h>

#include "record/calls/arguments.h"
#include "record/calls/filter.h"
#include "record/code/libcalls.h"
#include "record/code/loader.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/lock.h"
#include "record/state/returns.h"
#include "record/state/ring.h"
#include "record/state/thread.h"

/* The alternate signal stack; empty while a handler runs on it. */
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

/* True if a call has ended without returning. On the thread's own stack, a call that
 * is lower than the one that is made or returns now cannot be open. On other stacks,
 * such as those of coroutines, nothing is known, except that an idle signal stack has
 * no calls. */
static bool is_dead(const struct cn_rec_thread *self, const struct cn_rec_frame *frame,
                    const uintptr_t *loc)
{
    uintptr_t low, high, at = (uintptr_t)frame->loc;

    if (frame->loc == (uintptr_t *)UINTPTR_MAX || !cn_rec_thread_is_on_stack(self, loc))
        return false;
#if defined(__aarch64__)
    /* The loc of -finstrument-functions is below the stack pointer, which the function
     * has when it makes calls. */
    if (frame->flags & CN_REC_FRAME_UNHOOKED)
        at += sizeof(uintptr_t);
#endif
    if (cn_rec_thread_is_on_stack(self, frame->loc))
        return at < ((uintptr_t)loc & ~(uintptr_t)CN_REC_LOC_REGISTER);
    find_idle_signal_stack(&low, &high);
    return (uintptr_t)frame->loc >= low && (uintptr_t)frame->loc < high;
}

/* Record the end of a call. Without registers it did not return, but was left by a
 * jump. */
static void record_exit(struct cn_rec_thread *self, struct cn_rec_frame *frame,
                        const struct cn_rec_registers *registers)
{
    if (frame->flags & CN_REC_FRAME_LIBCALL)
        cn_rec_libcall_leave(frame->flags >> 32);
    if (frame->flags & (CN_REC_FRAME_FILTERED | CN_REC_FRAME_QUICK))
        cn_rec_filter_leave(self, frame, registers);
    else if (!cn_rec_process.has_filters && !(frame->flags & CN_REC_FRAME_SILENT))
        cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_EXIT_WORD);
}

/* A call is closed that may return after all: the stack of a coroutine can be inside that
 * of the thread, higher than the calls that resumed it. Let it return to its caller, if the
 * address of its return address is known: one that was in a register is anywhere. */
static void close_return(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    if ((frame->flags & CN_REC_FRAME_UNHOOKED) || frame->loc == CN_REC_LOC_GONE)
        return;
    if (!((uintptr_t)frame->loc & CN_REC_LOC_REGISTER) &&
        cn_rec_thread_is_on_stack(self, frame->loc) && *frame->loc == frame->stub)
        *frame->loc = frame->ret;
    cn_rec_return_close(self, frame);
}

static void pop(struct cn_rec_thread *self)
{
    cn_rec_frame_clear(self->top);
    self->top--;
}

void cn_rec_frame_leave(struct cn_rec_thread *self,
                        const struct cn_rec_registers *registers)
{
    struct cn_rec_frame *frame = self->top;

    record_exit(self, frame, registers);
    close_return(self, frame);
    pop(self);
}

void cn_rec_frame_pop(struct cn_rec_thread *self)
{
    cn_rec_frame_leave(self, NULL);
}

void cn_rec_frame_drop(struct cn_rec_thread *self)
{
    if (!(self->top->flags & CN_REC_FRAME_PENDING))
        self->top->flags |= CN_REC_FRAME_SILENT;
    cn_rec_frame_pop(self);
}

void cn_rec_frames_close_dead(struct cn_rec_thread *self, const uintptr_t *loc)
{
    while (self->top->loc == CN_REC_LOC_GONE || is_dead(self, self->top, loc))
        cn_rec_frame_pop(self);
}

struct cn_rec_frame *cn_rec_frame_push(struct cn_rec_thread *self, uintptr_t *loc,
                                       uintptr_t ret, uintptr_t address, uint64_t flags)
{
    struct cn_rec_frame *frame = self->top + 1;
    bool is_hooked = !(flags & CN_REC_FRAME_UNHOOKED);

    if (frame >= self->real_end ||
        (is_hooked && !frame->stub && !cn_rec_return_assign(self, frame))) {
        atomic_fetch_add(&self->track->lost, 1);
        return NULL;
    }
    if (!cn_rec_process.shared->has_counter)
        flags |= CN_REC_FRAME_SLOW;
    self->top = frame;
    *(volatile struct cn_rec_frame *)frame = (struct cn_rec_frame){
        .loc = loc,
        .stub = frame->stub,
        .ret = ret,
        .address = address,
        .flags = flags,
    };
    if (is_hooked)
        *cn_rec_return_value(frame->stub) = cn_rec_return_seen(ret);
    return frame;
}

/* Remove a frame below the top: the calls above it are open on other stacks. */
static void remove_frame(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    uint64_t before;

    cn_rec_block_signals(&before);
    cn_rec_lock(&self->frames_lock);
    uintptr_t unused = frame->stub;
    for (; frame < self->top; frame++) {
        frame[0] = frame[1];
        if (self->notes)
            self->notes[frame - self->frames] = self->notes[frame + 1 - self->frames];
    }
    frame->stub = unused;
    pop(self);
    cn_rec_unlock(&self->frames_lock);
    cn_rec_restore_signals(&before);
}

void cn_rec_frame_close(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    if (frame == self->top) {
        cn_rec_frame_pop(self);
        return;
    }
    record_exit(self, frame, NULL);
    close_return(self, frame);
    remove_frame(self, frame);
}

void cn_rec_frame_record_entry(struct cn_rec_thread *self,
                               const struct cn_rec_registers *registers)
{
    if (cn_rec_process.has_filters)
        cn_rec_filter_enter(self, self->top, registers);
    else
        cn_rec_record(self, cn_rec_frame_word(self, self->top) | CN_REC_ENTRY_WORD);
}

void cn_rec_frame_resume(struct cn_rec_thread *self)
{
    if (cn_rec_process.has_filters)
        cn_rec_filter_resume(self, self->top);
}

/* True if the return address was in a register, and the caller had another x29 than this. */
static bool has_other_caller(const struct cn_rec_frame *frame, uint64_t x29)
{
    return ((uintptr_t)frame->loc & CN_REC_LOC_REGISTER) && frame->caller &&
           frame->caller != x29;
}

struct cn_rec_thread *cn_rec_call_thread(void)
{
    struct cn_rec_thread *self = cn_rec_thread_ready();

    if (self && self->is_binding && cn_rec_libcalls_look()) {
        self->is_binding = false;
        cn_rec_thread_simplify(self);
    }
    return self;
}

struct cn_rec_thread *cn_rec_call_prepare(const uintptr_t *loc, uintptr_t ret,
                                          uint64_t x29)
{
    struct cn_rec_thread *self = cn_rec_call_thread();
    bool is_tail_call = cn_rec_is_return(ret);

    if (!self)
        return NULL;
    cn_rec_thread_reserve(self);
    if (self->island_count > 0 && cn_rec_thread_is_on_stack(self, loc))
        cn_rec_thread_drop_islands(self, (uintptr_t)loc);
    while (self->top->loc == CN_REC_LOC_GONE)
        cn_rec_frame_pop(self);
    if (loc >= self->top->loc && !is_tail_call) {
        cn_rec_frames_close_dead(self, loc);
        /* There is another return address at the same address: that call has ended as
         * well. With another caller it is open: the stack of a coroutine may begin where
         * the frame ends that contains it. */
        while (loc == self->top->loc && !(self->top->flags & CN_REC_FRAME_UNHOOKED) &&
               !has_other_caller(self->top, x29))
            cn_rec_frame_pop(self);
    }
    if (self->dlopen_sp)
        cn_rec_loader_find_new(self, (uintptr_t)loc);
    return self;
}

#if defined(__aarch64__)
/* Close the calls that the caller made before and that did not return (exception,
 * longjmp). The address of a return address does not show that: functions store it
 * anywhere in their stack frame. But the caller is known by its frame record; earlier
 * calls of it are between the caller and this call, or lower on the thread's own stack.
 * On other stacks, a lower call may belong to a coroutine. The frame record is that of
 * the caller only if the call was made by the program, not by a library. */
static void close_above_caller(struct cn_rec_thread *self, const uintptr_t *loc)
{
    const struct cn_rec_process *process = &cn_rec_process;
    const uintptr_t *caller_loc = (const uintptr_t *)loc[-1] + 1;
    const uintptr_t *low = cn_rec_thread_is_on_stack(self, caller_loc)
                               ? (const uintptr_t *)self->stack_low
                               : loc;
    struct cn_rec_frame *caller = self->top;

    if (*loc < process->program_low || *loc >= process->program_high)
        return;
    while (caller > self->frames && caller->loc != caller_loc)
        caller--;
    if (caller == self->frames)
        return;
    for (struct cn_rec_frame *frame = self->top; frame > caller; frame--) {
        if (frame->loc >= low && frame->loc < caller_loc)
            cn_rec_frame_close(self, frame);
    }
}
#endif

uintptr_t cn_rec_enter(uintptr_t *loc, uintptr_t address, const uint64_t *saved,
                       uint64_t flags)
{
#if defined(__aarch64__)
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_BY_MCOUNT,
                                         (uintptr_t)(saved + 32), address, *loc};
#else
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY,
                                         (uintptr_t)(loc + 1), address, *loc};
#endif
    struct cn_rec_thread *self;
    struct cn_rec_frame *frame;

#if defined(__aarch64__)
    if (cn_rec_self && cn_rec_thread_is_ours(cn_rec_self))
        close_above_caller(cn_rec_self, loc);
#endif
    self = cn_rec_call_prepare(loc, *loc, 0);
    frame = self ? cn_rec_frame_push(self, loc, *loc, address, flags) : NULL;
    if (!frame)
        return 0;
    *(volatile uintptr_t *)loc = frame->stub;
    cn_rec_frame_record_entry(self, &registers);
    return frame->stub;
}

uintptr_t cn_rec_enter_register(uintptr_t sp, uintptr_t address, uintptr_t ret,
                                const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY, sp, address, ret};
    uintptr_t *loc = (uintptr_t *)(sp | CN_REC_LOC_REGISTER);
    uint64_t caller = saved[0]; /* the first saved register is x29 */
    struct cn_rec_thread *self = cn_rec_call_prepare(loc, ret, caller);
    struct cn_rec_frame *frame =
        self ? cn_rec_frame_push(self, loc, ret, address, 0) : NULL;

    if (!frame)
        return 0;
    frame->caller = caller;
    cn_rec_frame_record_entry(self, &registers);
    return frame->stub;
}

/* The open call that returns to this stub; NULL when there is none. */
static struct cn_rec_frame *find_frame(const struct cn_rec_thread *self, uintptr_t stub)
{
    struct cn_rec_frame *frame = self->top;

    while (frame > self->frames && frame->stub != stub)
        frame--;
    return frame > self->frames ? frame : NULL;
}

uintptr_t cn_rec_frames_end_jumping(struct cn_rec_thread *self, uintptr_t ret)
{
    struct cn_rec_frame *frame;

    cn_rec_thread_reserve(self);
    while (cn_rec_is_return(ret) && (frame = find_frame(self, ret))) {
        ret = frame->ret;
        cn_rec_frame_close(self, frame);
    }
    return cn_rec_is_return(ret) ? cn_rec_return_true(ret) : ret;
}

static bool has_open_calls(const struct cn_rec_thread *thread)
{
    const struct cn_rec_frame *frame = thread->top;

    while (frame > thread->frames && frame->loc == CN_REC_LOC_GONE)
        frame--;
    return frame > thread->frames;
}

/* A coroutine returns on another thread than the one that called it, which removes the frame
 * at its next call. If there is no such frame, the call was closed by mistake: its stub still
 * has its return address. */
static uint64_t leave_elsewhere(volatile uintptr_t *ret)
{
    struct cn_rec_thread *thread = atomic_load(&cn_rec_threads);
    uintptr_t stub = *ret;
    struct cn_rec_frame *frame = NULL;
    uint64_t before, flags = 0;

    cn_rec_block_signals(&before);
    *ret = cn_rec_return_true(stub);
    for (; thread && !frame; thread = atomic_load(&thread->next)) {
        if (!atomic_load(&thread->is_used))
            continue;
        cn_rec_lock(&thread->frames_lock);
        frame = find_frame(thread, stub);
        if (frame) {
            *ret = frame->ret;
            flags = frame->flags;
            ((volatile struct cn_rec_frame *)frame)->loc = CN_REC_LOC_GONE;
        }
        if (frame && thread->is_ended && !has_open_calls(thread)) {
            thread->is_ended = false;
            cn_rec_thread_release(thread);
        }
        cn_rec_unlock(&thread->frames_lock);
    }
    cn_rec_restore_signals(&before);
    return flags;
}

uint64_t cn_rec_leave(volatile uintptr_t *ret, const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_RETURN, 0, 0, 0};
    struct cn_rec_thread *self = cn_rec_self;
    struct cn_rec_frame *frame;

    /* It returned by another register than x30. */
    for (frame = self ? self->top : NULL; frame && !cn_rec_is_return(*ret); frame--)
        *ret = frame->stub;
    frame = self ? find_frame(self, *ret) : NULL;
    if (!frame)
        return leave_elsewhere(ret);
    uint64_t flags = frame->flags;
    /* The child of a vfork() returns first. */
    if (!cn_rec_thread_is_ours(self)) {
        *ret = frame->ret;
        return flags;
    }
    if (flags & CN_REC_FRAME_FORKS) {
        self->is_forking = false;
        cn_rec_thread_simplify(self);
    }
    cn_rec_thread_reserve(self);
    while (self->top > frame &&
           (self->top->loc == CN_REC_LOC_GONE || is_dead(self, self->top, frame->loc)))
        cn_rec_frame_pop(self);
    record_exit(self, frame, &registers);
    /* From now on the stub may be that of another call. */
    *ret = frame->ret;
    if (self->top == frame)
        pop(self);
    else
        remove_frame(self, frame);
    return flags;
}
