#include "record/calls/hooks.h"

#include <signal.h>
#include <stddef.h>

#include "record/calls/arguments.h"
#include "record/calls/filter.h"
#include "record/code/libcalls.h"
#include "record/code/loader.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/thread.h"
#include "record/stubs.h"
#include "record/syscalls.h"

enum {
    LOCK_TRIES = 100000,
    CLOSED_MAX = 1024, /* frames above the innermost one to search as a last resort */
};

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
    if (frame->flags & CN_REC_FRAME_FILTERED)
        cn_rec_filter_leave(self, frame, registers);
    else if (!(frame->flags & CN_REC_FRAME_SILENT))
        cn_rec_record(self, cn_rec_frame_word(self, frame) | CN_REC_EXIT_WORD);
}

/* Return addresses that were in a register have been stored, but at unknown addresses. */
static bool is_in_memory(const struct cn_rec_frame *frame)
{
    return !(frame->flags & CN_REC_FRAME_UNHOOKED) &&
           !((uintptr_t)frame->loc & CN_REC_LOC_REGISTER);
}

/* A call is closed that may return after all: the stack of a coroutine can be inside that
 * of the thread, higher than the calls that resumed it. Let it return to its caller. */
static void release(struct cn_rec_thread *self, const struct cn_rec_frame *frame)
{
    if ((frame->flags & CN_REC_FRAME_UNHOOKED) ||
        !cn_rec_thread_is_on_stack(self, frame->loc))
        return;
    if (!is_in_memory(frame)) {
        self->closed[self->closed_count++ % CN_REC_CLOSED_MAX] = *frame;
        return;
    }
    /* A later call may have its return address there. */
    for (const struct cn_rec_frame *above = frame + 1; above <= self->top; above++) {
        if (above->loc == frame->loc)
            return;
    }
    if (*frame->loc == (uintptr_t)cn_rec_return)
        *frame->loc = frame->ret;
}

void cn_rec_frame_leave(struct cn_rec_thread *self,
                        const struct cn_rec_registers *registers)
{
    struct cn_rec_frame *frame = self->top;

    record_exit(self, frame, registers);
    release(self, frame);
    self->top = frame - 1;
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

    if (frame >= self->real_end) {
        atomic_fetch_add(&self->track->lost, 1);
        return NULL;
    }
    if (!cn_rec_process.shared->has_counter)
        flags |= CN_REC_FRAME_SLOW;
    frame->loc = loc;
    /* Unwinders of other threads must not see the new top before its loc. */
    __atomic_store_n(&self->top, frame, __ATOMIC_RELEASE);
    *(volatile struct cn_rec_frame *)frame = (struct cn_rec_frame){
        .loc = loc,
        .ret = ret,
        .address = address,
        .flags = flags,
    };
    return frame;
}

/* Gives up after a while: in the child of a fork, the thread that locked may not
 * exist. */
static void lock_frames(struct cn_rec_thread *thread)
{
    for (int i = 0; i < LOCK_TRIES && atomic_exchange(&thread->frames_lock, 1); i++)
        (void)cn_rec_syscall3(SYS_sched_yield, 0, 0, 0);
}

/* Remove a frame below the top: the calls above it are open on other stacks. */
static void remove_frame(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    uint64_t before;

    cn_rec_block_signals(&before);
    lock_frames(self);
    for (; frame < self->top; frame++) {
        frame[0] = frame[1];
        if (self->notes)
            self->notes[frame - self->frames] = self->notes[frame + 1 - self->frames];
    }
    self->top--;
    atomic_store(&self->frames_lock, 0);
    cn_rec_restore_signals(&before);
}

void cn_rec_frame_close(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    if (frame == self->top) {
        cn_rec_frame_pop(self);
        return;
    }
    record_exit(self, frame, NULL);
    release(self, frame);
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

/* True if the return address was in a register, and the caller had another x29 than this.
 * Frames of library calls do not contain it. */
static bool has_other_caller(const struct cn_rec_frame *frame, uint64_t x29)
{
    return ((uintptr_t)frame->loc & CN_REC_LOC_REGISTER) &&
           !(frame->flags & CN_REC_FRAME_LIBRARY) &&
           frame->flags >> CN_REC_F_CALLER_AT !=
               x29 << CN_REC_F_CALLER_AT >> CN_REC_F_CALLER_AT;
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
    bool is_tail_call = ret == (uintptr_t)cn_rec_return;

    if (!self)
        return NULL;
    cn_rec_thread_reserve(self);
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

static void enter(uintptr_t *loc, uintptr_t address, uint64_t flags,
                  const struct cn_rec_registers *registers)
{
    struct cn_rec_thread *self = cn_rec_call_prepare(loc, *loc, 0);

    if (!self || !cn_rec_frame_push(self, loc, *loc, address, flags))
        return;
    *(volatile uintptr_t *)loc = (uintptr_t)cn_rec_return;
    cn_rec_frame_record_entry(self, registers);
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

void cn_rec_enter(uintptr_t *loc, uintptr_t address, const uint64_t *saved,
                  uint64_t flags)
{
#if defined(__aarch64__)
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_BY_MCOUNT,
                                         (uintptr_t)(saved + 32), address, *loc};

    flags |= (uint64_t)loc[-1] << CN_REC_F_CALLER_AT;
    if (cn_rec_self && cn_rec_thread_is_ours(cn_rec_self))
        close_above_caller(cn_rec_self, loc);
#else
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY,
                                         (uintptr_t)(loc + 1), address, *loc};

#endif
    enter(loc, address, flags, &registers);
}

static uintptr_t enter_register(uintptr_t sp, uintptr_t address, uintptr_t ret,
                                uint64_t flags, const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY, sp, address, ret};
    uintptr_t *loc = (uintptr_t *)(sp | CN_REC_LOC_REGISTER);
    struct cn_rec_thread *self = cn_rec_call_prepare(loc, ret, saved[0]);

    if (!self || !cn_rec_frame_push(self, loc, ret, address, flags))
        return ret;
    cn_rec_frame_record_entry(self, &registers);
    return (uintptr_t)cn_rec_return;
}

uintptr_t cn_rec_enter_register(uintptr_t sp, uintptr_t address, uintptr_t ret,
                                const uint64_t *saved)
{
    /* The first saved register is x29. */
    return enter_register(sp, address, ret, saved[0] << CN_REC_F_CALLER_AT, saved);
}

/* A call that returns. */
struct returning {
    const uintptr_t
        *loc; /* address of its return address; on aarch64, the stack pointer */
    const uint64_t *saved;
};

/* True if this may be the call that returns. On x86_64, and where the return address was
 * in a register, `loc` must match. Otherwise the frame is below the stack pointer. On
 * aarch64, x29 has the value that it had when the call was made. */
static bool may_return(const struct cn_rec_frame *frame, const struct returning *call)
{
    if (frame->flags & CN_REC_FRAME_UNHOOKED)
        return false;
#if defined(__x86_64__)
    return frame->loc == call->loc;
#else
    if ((uintptr_t)frame->loc & CN_REC_LOC_REGISTER)
        return (uintptr_t)frame->loc == ((uintptr_t)call->loc | CN_REC_LOC_REGISTER) &&
               !has_other_caller(frame, call->saved[0]);
    return frame->loc <= call->loc &&
           frame->flags >> CN_REC_F_CALLER_AT ==
               call->saved[0] << CN_REC_F_CALLER_AT >> CN_REC_F_CALLER_AT;
#endif
}

/* Find the frame of the call that returns, from `last` down to the one above `first`: of
 * several the highest on the stack, of those the innermost. NULL when there is none. */
static struct cn_rec_frame *find_returning(struct cn_rec_frame *first,
                                           struct cn_rec_frame *last,
                                           const struct returning *call)
{
    struct cn_rec_frame *best = NULL;

    for (struct cn_rec_frame *frame = last; frame > first; frame--) {
        if (may_return(frame, call) && (!best || frame->loc > best->loc))
            best = frame;
    }
    return best;
}

uintptr_t cn_rec_frames_end_jumping(struct cn_rec_thread *self, const uintptr_t *loc,
                                    const uint64_t *saved)
{
    struct returning call = {
        (const uintptr_t *)((uintptr_t)loc & ~(uintptr_t)CN_REC_LOC_REGISTER), saved};
    uintptr_t ret = (uintptr_t)cn_rec_return;
    struct cn_rec_frame *frame;

    cn_rec_thread_reserve(self);
    while (ret == (uintptr_t)cn_rec_return &&
           (frame = find_returning(self->frames, self->top, &call))) {
        ret = frame->ret;
        cn_rec_frame_close(self, frame);
    }
    return ret;
}

static struct cn_rec_return_target target_of_frame(const struct cn_rec_frame *frame)
{
    return (struct cn_rec_return_target){frame->ret, frame->flags};
}

/* A coroutine returns on another thread than the one that called it. Its frame stays with
 * the calling thread, which removes it at its next call. */
static struct cn_rec_return_target leave_elsewhere(const struct returning *call)
{
    struct cn_rec_thread *thread = atomic_load(&cn_rec_threads);
    struct cn_rec_return_target target = {0};
    uint64_t before;

    cn_rec_block_signals(&before);
    for (; thread && target.ret == 0; thread = atomic_load(&thread->next)) {
        struct cn_rec_frame *frame;

        if (!atomic_load(&thread->is_used))
            continue;
        lock_frames(thread);
        frame = find_returning(thread->frames, thread->top, call);
        if (frame) {
            target = target_of_frame(frame);
            ((volatile struct cn_rec_frame *)frame)->loc = CN_REC_LOC_GONE;
        }
        atomic_store(&thread->frames_lock, 0);
    }
    cn_rec_restore_signals(&before);
    return target;
}

/* A call returns that was closed by mistake. It is among those that were closed last; else
 * its frame is still in memory, unless another call was made since. */
static struct cn_rec_return_target leave_closed(const struct returning *call)
{
    struct cn_rec_thread *thread;

    for (thread = atomic_load(&cn_rec_threads); thread;
         thread = atomic_load(&thread->next)) {
        for (uint32_t i = 1; i <= CN_REC_CLOSED_MAX; i++) {
            const struct cn_rec_frame *frame =
                &thread->closed[(thread->closed_count - i) % CN_REC_CLOSED_MAX];

            if (frame->loc && may_return(frame, call))
                return target_of_frame(frame);
        }
    }
    for (thread = atomic_load(&cn_rec_threads); thread;
         thread = atomic_load(&thread->next)) {
        struct cn_rec_frame *top = thread->top, *last = top + CLOSED_MAX;
        struct cn_rec_frame *frame =
            find_returning(top, last < thread->real_end ? last : thread->real_end, call);

        if (frame)
            return target_of_frame(frame);
    }
    __builtin_trap(); /* the return address is lost */
}

struct cn_rec_return_target cn_rec_leave(uintptr_t *loc, const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_RETURN, 0, 0, 0};
    struct returning call = {loc, saved};
    struct cn_rec_thread *self = cn_rec_self;
    struct cn_rec_frame *frame =
        self ? find_returning(self->frames, self->top, &call) : NULL;
    struct cn_rec_return_target target;

    if (!frame) {
        target = leave_elsewhere(&call);
        return target.ret ? target : leave_closed(&call);
    }
    target = target_of_frame(frame);
    /* The child of a vfork() returns first. */
    if (!cn_rec_thread_is_ours(self))
        return target;
    if (frame->flags & CN_REC_FRAME_FORKS) {
        self->is_forking = false;
        cn_rec_thread_simplify(self);
    }
    cn_rec_thread_reserve(self);
    while (self->top > frame &&
           (self->top->loc == CN_REC_LOC_GONE || is_dead(self, self->top, frame->loc)))
        cn_rec_frame_pop(self);
    record_exit(self, frame, &registers);
    if (self->top == frame)
        self->top = frame - 1;
    else
        remove_frame(self, frame);
    return target;
}

/* Frames of calls that were left by a jump may still exist; the program may have reused
 * their stack. */
void cn_rec_unhook_all(struct cn_rec_thread *self)
{
    for (struct cn_rec_frame *frame = self->top; frame > self->frames; frame--) {
        if (is_in_memory(frame) && *frame->loc == (uintptr_t)cn_rec_return)
            *frame->loc = frame->ret;
    }
}

void cn_rec_hook_all(struct cn_rec_thread *self)
{
    for (struct cn_rec_frame *frame = self->frames + 1; frame <= self->top; frame++) {
        if (is_in_memory(frame) && *frame->loc == frame->ret)
            *frame->loc = (uintptr_t)cn_rec_return;
    }
}
