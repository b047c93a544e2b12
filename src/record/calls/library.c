/* Calls of library functions, which stubs of their slots report. */
#include <signal.h>
#include <stddef.h>

#include "record/calls/arguments.h"
#include "record/calls/filter.h"
#include "record/calls/hooks.h"
#include "record/code/libcalls.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/module_rules.h"
#include "record/state/returns.h"
#include "record/state/session.h"
#include "record/state/thread.h"
#include "record/state/track.h"
#include "record/syscalls.h"

/* A library call. */
struct library_call {
    struct cn_rec_libcall *libcall;
    uintptr_t *loc; /* as of its frame */
    uintptr_t ret;
    const struct cn_rec_registers *registers;
};

/* Slots of the saved registers. */
#if defined(__x86_64__)
enum { FIRST_ARGUMENT = 5, SECOND_ARGUMENT = 6, RESULT = 10 };
#else
enum { FIRST_ARGUMENT = 2, SECOND_ARGUMENT = 3, RESULT = 2 };
#endif

/* Record the end of the innermost call, whose result is known. */
static void leave_with(struct cn_rec_thread *self, uint64_t result)
{
    const uint64_t saved[RESULT + 1] = {[RESULT] = result};
    const struct cn_rec_registers registers = {.saved = saved,
                                               .saver = CN_REC_SAVED_AT_RETURN};

    cn_rec_frame_leave(self, &registers);
}

/* A call whose return cannot be hooked: record its entry. The address that it returns to is
 * copied, by getcontext() for example: it must be the true one, so functions that ended with
 * a jump to it end here. False when the call is not recorded. */
static bool enter_quick(struct library_call *call)
{
    struct cn_rec_thread *self = cn_rec_thread_ready();

    if (self && cn_rec_is_return(call->ret))
        call->ret = cn_rec_frames_end_jumping(self, call->ret);
    self = cn_rec_call_prepare(call->loc, call->ret, call->registers->saved[0]);
    if (!self || !cn_rec_frame_push(self, call->loc, 0, (uintptr_t)call->libcall->slot,
                                    CN_REC_FRAME_UNHOOKED))
        return false;
    cn_rec_frame_record_entry(self, call->registers);
    return true;
}

static struct cn_rec_landing *find_landing(struct cn_rec_thread *self, uintptr_t env)
{
    for (int i = 0; i < CN_REC_LANDING_MAX; i++) {
        if (self->landings[i].env == env)
            return &self->landings[i];
    }
    return NULL;
}

/* True if the entry of the innermost call was recorded. */
static bool is_recorded(const struct cn_rec_thread *self)
{
    uint64_t depth;

    return cn_rec_filter_depth(self, self->top, &depth);
}

/* setjmp() returns 0, and again after a jump. */
static void record_landing(struct library_call *call)
{
    struct cn_rec_landing *landing;
    uintptr_t env = call->registers->saved[FIRST_ARGUMENT];

    if (!enter_quick(call))
        return;
    struct cn_rec_thread *self = cn_rec_self;
    bool was_recorded = is_recorded(self);
    leave_with(self, 0);
    landing = find_landing(self, env);
    if (!landing)
        landing = &self->landings[self->landing_count++ % CN_REC_LANDING_MAX];
    *landing = (struct cn_rec_landing){
        .env = env,
        .loc = call->loc,
        .address = (uintptr_t)call->libcall->slot,
        .depth = (uint64_t)(self->top - self->frames),
        .is_recorded = was_recorded,
    };
}

/* True if a jump to this place leaves all calls above, and none on another stack except
 * that of signals. */
static bool lands(const struct cn_rec_thread *self, const struct cn_rec_landing *landing)
{
    const struct cn_rec_frame *caller = self->frames + landing->depth, *frame = self->top;
    stack_t stack = {0};

    if (caller > frame || !cn_rec_thread_is_on_stack(self, landing->loc))
        return false;
    (void)cn_rec_syscall3(SYS_sigaltstack, 0, (long)&stack, 0);
    uintptr_t low = (uintptr_t)stack.ss_sp;
    uintptr_t high = low + stack.ss_size;
    for (; frame > caller; frame--) {
        uintptr_t at = (uintptr_t)frame->loc;

        if (frame->loc != CN_REC_LOC_GONE && !(at >= low && at < high) &&
            !(cn_rec_thread_is_on_stack(self, frame->loc) && frame->loc <= landing->loc))
            return false;
    }
    return true;
}

/* Record a jump to the return of an earlier call: the entry of the one and the exit of the
 * other. The calls that it leaves end before; it is recorded where it lands. With
 * --bare-jumps, it is recorded where it is made, and the calls that it leaves have no exits,
 * as uftrace does: their depth shows that they have ended. False when it is unknown where it
 * lands. */
static bool record_jump(const struct library_call *call)
{
    struct cn_rec_thread *self =
        cn_rec_call_prepare(call->loc, call->ret, call->registers->saved[0]);
    const struct cn_rec_landing *landing =
        self ? find_landing(self, call->registers->saved[FIRST_ARGUMENT]) : NULL;
    uint32_t result = (uint32_t)call->registers->saved[SECOND_ARGUMENT];
    bool is_bare = cn_rec_process.shared->has_bare_jumps, has_ends;

    if (!landing || !lands(self, landing))
        return false;
    while (!is_bare && self->top > self->frames + landing->depth)
        cn_rec_frame_pop(self);
    if (!cn_rec_frame_push(self, is_bare ? call->loc : landing->loc, 0,
                           (uintptr_t)call->libcall->slot, CN_REC_FRAME_UNHOOKED))
        return false;
    cn_rec_frame_record_entry(self, call->registers);
    if (!is_bare) {
        self->top->address = landing->address;
        leave_with(self, result ? result : 1);
        return true;
    }
    has_ends = is_recorded(self) && landing->is_recorded;
    while (self->top > self->frames + landing->depth) {
        if (has_ends)
            cn_rec_frame_drop(self);
        else
            cn_rec_frame_pop(self);
    }
    if (has_ends && cn_rec_frame_push(self, landing->loc, 0, landing->address,
                                      CN_REC_FRAME_UNHOOKED)) {
        cn_rec_frame_resume(self);
        leave_with(self, result ? result : 1);
    }
    return true;
}

static uint64_t flags_of(const struct cn_rec_libcall *call)
{
    uint64_t flags = 0;

    if (!call->is_bound)
        flags |= CN_REC_FRAME_LIBCALL | (uint64_t)(call - cn_rec_libcalls) << 32;
    if (call->kind == CN_REC_LIBCALL_THROWS)
        flags |= CN_REC_FRAME_THROWS;
    if (call->kind == CN_REC_LIBCALL_FORKS)
        flags |= CN_REC_FRAME_FORKS;
    if (call->kind == CN_REC_LIBCALL_ENDS)
        flags |= CN_REC_FRAME_ENDS;
    return flags;
}

/* The child of a vfork() uses the memory of its parent, which waits: it has no frames, and no
 * track. Of its calls, only the one that starts a program is recorded, after the return from
 * vfork(): its end, and with it the records of the program, are in the same file. */
static void record_exec(const struct library_call *call)
{
    const struct cn_rec_thread *self = cn_rec_self;
    uint32_t pid = cn_rec_pid();
    uintptr_t slot = (uintptr_t)call->libcall->slot, base;
    const uint32_t patching = CN_REC_RULE_PATCH | CN_REC_RULE_PATCH_NAMED;
    const struct cn_rec_rule *rule =
        self && cn_rec_process.has_filters
            ? cn_rec_module_rules_find(self->filter.version, slot, &base)
            : NULL;
    uint64_t depth, now_ns;

    if (!self || !self->is_forking || self->is_off || cn_rec_thread_is_ours(self) ||
        !(self->top->flags & CN_REC_FRAME_FORKS) ||
        !cn_rec_process.shared->has_own_writing ||
        !cn_rec_filter_depth(self, self->top, &depth) ||
        (rule && (rule->actions & ~patching)))
        return;
    now_ns = cn_rec_now(self);
    depth = depth << 6 & CN_REC_DEPTH_MASK;
    if (cn_rec_session_fork(now_ns, pid, atomic_load(&cn_rec_process.pid)))
        cn_rec_track_append(
            pid,
            (uint64_t[]){now_ns, self->top->address << 16 | depth | CN_REC_EXIT_WORD,
                         now_ns, (uint64_t)slot << 16 | depth | CN_REC_ENTRY_WORD},
            4);
}

/* A call through a slot that is not bound: C handles the next call of each thread, and looks
 * at the slot. Without that, calls of the same function before this one returns were lost. */
static void begin_binding(const struct cn_rec_libcall *call)
{
    cn_rec_libcall_begin((uint64_t)(call - cn_rec_libcalls));
    for (struct cn_rec_thread *thread = atomic_load(&cn_rec_threads); thread;
         thread = atomic_load(&thread->next)) {
        thread->is_binding = true;
        __atomic_store_n(&thread->end, NULL, __ATOMIC_RELAXED);
        atomic_store_explicit(&cn_rec_wiped(thread)->filter_end, NULL,
                              memory_order_relaxed);
    }
}

/* Record a library call; returns the address to return to instead. */
static uintptr_t enter_library(struct library_call *call)
{
    struct cn_rec_frame *frame;

    (void)cn_rec_libcalls_look();
    if (cn_rec_libcall_is_silent(call->libcall)) {
        (void)cn_rec_call_prepare(call->loc, call->ret, call->registers->saved[0]);
        return call->ret;
    }
    switch (call->libcall->kind) {
    case CN_REC_LIBCALL_QUICK:
        if (enter_quick(call))
            cn_rec_frame_pop(cn_rec_self);
        return call->ret;
    case CN_REC_LIBCALL_LANDS:
        record_landing(call);
        return call->ret;
    case CN_REC_LIBCALL_EXECS:
        record_exec(call);
        break;
    case CN_REC_LIBCALL_JUMPS:
        if (record_jump(call))
            return call->ret;
        break;
    default:
        break;
    }
    struct cn_rec_thread *self =
        cn_rec_call_prepare(call->loc, call->ret, call->registers->saved[0]);
    frame =
        self ? cn_rec_frame_push(self, call->loc, call->ret,
                                 (uintptr_t)call->libcall->slot, flags_of(call->libcall))
             : NULL;
    if (!frame)
        return call->ret;
    if (call->libcall->kind == CN_REC_LIBCALL_FORKS) {
        self->is_forking = true;
        cn_rec_thread_simplify(self);
    }
    cn_rec_frame_record_entry(self, call->registers);
    if (!call->libcall->is_bound)
        begin_binding(call->libcall);
    return frame->stub;
}

static struct cn_rec_libcall_target target_of(const struct cn_rec_libcall *call,
                                              uintptr_t ret)
{
    bool asks = call->kind == CN_REC_LIBCALL_ASKS && cn_rec_is_return(ret);

    return (struct cn_rec_libcall_target){
        .function = atomic_load_explicit(&call->target, memory_order_relaxed),
        .passage = asks ? call->passage : 0,
    };
}

void cn_rec_libcall_enter_register(struct cn_rec_register_call *call,
                                   const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY, call->sp, 0,
                                         call->ret};
    struct cn_rec_libcall *libcall = &cn_rec_libcalls[call->number];
    struct library_call library_call = {
        libcall, (uintptr_t *)(call->sp | CN_REC_LOC_REGISTER), call->ret, &registers};

    call->ret = enter_library(&library_call);
    struct cn_rec_libcall_target target = target_of(libcall, call->ret);
    call->target = target.function;
    call->sp = target.passage;
    call->number = (uintptr_t)libcall->slot;
}

struct cn_rec_libcall_target cn_rec_libcall_enter(uintptr_t *loc, uint64_t number,
                                                  const uint64_t *saved)
{
    struct cn_rec_registers registers = {saved, CN_REC_SAVED_AT_ENTRY,
                                         (uintptr_t)(loc + 1), 0, *loc};
    struct cn_rec_libcall *libcall = &cn_rec_libcalls[number];
    struct library_call call = {libcall, loc, *loc, &registers};

    *(volatile uintptr_t *)loc = enter_library(&call);
    return target_of(libcall, *loc);
}
