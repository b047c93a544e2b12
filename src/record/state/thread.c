#include "record/state/thread.h"

#include <stddef.h>
#include <sys/mman.h>

#include "record/clock.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/state/lock.h"
#include "record/state/memory.h"
#include "record/state/module_rules.h"
#include "record/state/returns.h"
#include "record/state/session.h"
#include "record/state/thread_pool.h"
#include "record/state/track.h"
#include "record/syscalls.h"

enum { FRAMES_SPARE = 1 << 15 }; /* more than are open, when the program sets a limit */

__thread struct cn_rec_thread *cn_rec_self __attribute__((tls_model("initial-exec")));
struct cn_rec_thread *_Atomic cn_rec_threads;
_Atomic bool cn_rec_is_sandboxed;
__thread uint32_t cn_rec_quiet __attribute__((tls_model("initial-exec")));

/* There was no memory for this thread: it is not recorded. */
static __thread bool is_missed __attribute__((tls_model("initial-exec")));

#define CHECK(type, member, off) \
    _Static_assert(offsetof(struct cn_rec_##type, member) == (off), "layout.h")
CHECK(thread, top, CN_REC_T_TOP);
CHECK(thread, end, CN_REC_T_END);
CHECK(thread, track, CN_REC_T_TRACK);
CHECK(thread, ring, CN_REC_T_RING);
CHECK(thread, ring_mask, CN_REC_T_MASK);
CHECK(thread, clock_mult, CN_REC_T_MULT);
CHECK(thread, clock_base_ns, CN_REC_T_BASE_NS);
CHECK(thread, frames, CN_REC_T_FRAMES);
CHECK(thread, slot, CN_REC_T_SLOT);
CHECK(thread, stepped, CN_REC_T_STEPPED);
CHECK(thread, sigreturn, CN_REC_T_SIGRETURN);
CHECK(thread, is_on, CN_REC_T_IS_ON);
CHECK(thread, filter.shown, CN_REC_T_SHOWN);
CHECK(thread, filter.shown_limit, CN_REC_T_SHOWN_LIMIT);
CHECK(thread, filter.time_limit_ns, CN_REC_T_TIME_LIMIT);
CHECK(thread, filter.out, CN_REC_T_OUT);
CHECK(thread, filter.in, CN_REC_T_IN);
CHECK(thread, filter.only_depth, CN_REC_T_ONLY_DEPTH);
CHECK(thread, settling, CN_REC_T_SETTLING);
CHECK(thread, settling_end, CN_REC_T_SETTLING_END);
CHECK(thread, settling_at, CN_REC_T_SETTLING_AT);
CHECK(thread, slot_len, CN_REC_T_SLOT_LEN);
CHECK(wiped, filter_end, CN_REC_T_FILTER_END - CN_REC_T_LIMIT);
CHECK(frame, loc, CN_REC_F_LOC);
CHECK(frame, stub, CN_REC_F_STUB);
CHECK(frame, ret, CN_REC_F_RET);
CHECK(frame, address, CN_REC_F_ADDRESS);
CHECK(frame, flags, CN_REC_F_FLAGS);
CHECK(frame, caller, CN_REC_F_CALLER);
CHECK(frame, shown, CN_REC_F_SHOWN);
CHECK(frame, limit, CN_REC_F_SHOWN + 4);
CHECK(frame, entry_ns, CN_REC_F_ENTRY_NS);
_Static_assert(sizeof(struct cn_rec_thread) <= CN_REC_PAGE_LEN, "layout.h");
_Static_assert(sizeof(struct cn_rec_frame) == CN_REC_F_SIZE, "layout.h");
_Static_assert(CN_REC_FRAME_UNHOOKED == CN_REC_F_UNHOOKED, "layout.h");
_Static_assert(CN_REC_FRAME_CALLED == CN_REC_F_CALLED, "layout.h");
_Static_assert(CN_REC_FRAME_SILENT == CN_REC_F_SILENT, "layout.h");
_Static_assert(CN_REC_FRAME_PENDING == CN_REC_F_PENDING, "layout.h");
_Static_assert(CN_REC_FRAME_OFF == CN_REC_F_OFF, "layout.h");
_Static_assert(CN_REC_FRAME_FILTERED == CN_REC_F_FILTERED, "layout.h");

/* The kernel ends a program whose stack overflows while signals are blocked, even if it has a
 * handler. Where the stack is too short for what runs then, it overflows here, before. */
static void reach_stack(void)
{
    enum { REACH = 2048 }; /* more than that code needs, as gcc -fstack-usage says */
    const volatile char *here = __builtin_frame_address(0);

    (void)here[-REACH];
}

void cn_rec_block_signals(uint64_t *before)
{
    uint64_t all = UINT64_MAX;

    reach_stack();
    if (cn_rec_syscall6(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)before,
                        sizeof(all), 0, 0) < 0)
        *before = all;
}

void cn_rec_restore_signals(const uint64_t *before)
{
    /* SIGKILL is never blocked: they were not, in a sandbox. */
    if (*before != UINT64_MAX)
        (void)cn_rec_raw_syscall6(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)before,
                                  0, sizeof(*before), 0, 0);
}

/* What a structure has from its first use on. It is complete before it is in the list. The
 * sentinel is never written again. */
static bool set_up(struct cn_rec_thread *thread)
{
    struct cn_rec_thread *first = atomic_load(&cn_rec_threads);
    uint64_t count = (uint64_t)(thread->real_end + 1 - thread->frames);

    if (cn_rec_process.has_filters) {
        if (!thread->notes)
            thread->notes = cn_rec_map(count * sizeof(*thread->notes));
        if (!thread->values)
            thread->values = cn_rec_map(CN_REC_VALUES_LEN);
        if (!thread->notes || !thread->values)
            return false;
    }
    thread->frames[0] = (struct cn_rec_frame){
        .loc = (uintptr_t *)UINTPTR_MAX,
        .flags = CN_REC_FRAME_UNHOOKED,
    };
    /* The calls of a thread that no recorded call makes are as quick as others. */
    if (cn_rec_process.has_filters)
        thread->frames[0].flags |= CN_REC_FRAME_FILTERED;
    thread->top = thread->frames;
    do
        atomic_store(&thread->next, first);
    while (!atomic_compare_exchange_weak(&cn_rec_threads, &first, thread));
    return true;
}

static struct cn_rec_thread *take_memory(void)
{
    struct cn_rec_thread *thread = cn_rec_thread_pool_take();

    if (thread && !thread->top && !set_up(thread)) {
        cn_rec_thread_pool_add(thread);
        return NULL;
    }
    if (thread)
        atomic_store(&thread->is_used, 1);
    return thread;
}

void cn_rec_thread_add_island(struct cn_rec_thread *self, uintptr_t low, uintptr_t len)
{
    struct cn_rec_island *island = self->islands;
    struct cn_rec_island *end = island + self->island_count;

    if (low < self->stack_low || low >= self->stack_high)
        return;
    while (island < end && island->low != low)
        island++;
    if (island == self->islands + CN_REC_ISLAND_MAX)
        return;
    *island = (struct cn_rec_island){low, len};
    self->island_count += island == end;
}

void cn_rec_thread_drop_islands(struct cn_rec_thread *self, uintptr_t sp)
{
    for (uint32_t i = self->island_count; i-- > 0;) {
        if (sp > self->islands[i].low + self->islands[i].len)
            self->islands[i] = self->islands[--self->island_count];
    }
}

void cn_rec_thread_release(struct cn_rec_thread *thread)
{
    atomic_store(&thread->is_used, 0);
    cn_rec_thread_pool_add(thread);
}

void cn_rec_thread_shrink(struct cn_rec_thread *self)
{
    cn_rec_returns_shrink(self);
    cn_rec_thread_pool_cut(self, self->top + FRAMES_SPARE);
    cn_rec_thread_simplify(self);
}

static bool take_track(struct cn_rec_thread *self)
{
    struct cn_rec_track *track = cn_rec_track_take(self->tid, false);

    if (!track)
        return false;
    if (!cn_rec_memory_ring(track, self)) {
        cn_rec_track_release(track);
        return false;
    }
    cn_rec_track_open(track);
    self->ring_mask = track->ring_len - 1;
    self->lost_recorded = 0;
    self->slot = self->stepped = UINT64_MAX;
    self->slot_len = 16;
    self->settling = NULL;
    cn_rec_wiped(self)->limit = track->ring_len / 4;
    cn_rec_wiped(self)->is_mine = 1;
    cn_rec_thread_simplify(self);
    return true;
}

/* Add the thread, or the child of `parent` if not 0, to task.txt. The line of a thread that is
 * not the first of its process is written when it ends, or by the launcher before: ten
 * thousand threads that start at once would wait for each other. */
static void list_task(struct cn_rec_thread *self, uint32_t pid, uint32_t parent)
{
    uint64_t now_ns = cn_rec_now(self);

    if (parent             ? cn_rec_session_fork(now_ns, pid, parent)
        : self->tid == pid ? cn_rec_session_task(now_ns, self->tid, pid)
                           : false)
        return;
    self->track->task_ns = now_ns;
    self->track->task_parent = parent;
    atomic_store(&self->track->is_unlisted, 1);
    if (parent || self->tid == pid)
        cn_rec_track_ring_bell();
}

static void list_ended(const struct cn_rec_thread *self)
{
    struct cn_rec_track *track = self->track;

    if (!track->task_parent && atomic_exchange(&track->is_unlisted, 0) &&
        !cn_rec_session_task(track->task_ns, track->tid, track->pid))
        atomic_store(&track->is_unlisted, 1);
}

void cn_rec_thread_simplify(struct cn_rec_thread *self)
{
    const struct cn_rec_process *process = &cn_rec_process;
    bool is_simple = process->shared->has_counter && !self->dlopen_sp &&
                     !self->is_shared && !self->is_forking && !self->is_off &&
                     !self->is_binding;

    self->end = is_simple && !process->has_filters ? self->real_end : NULL;
    cn_rec_wiped(self)->filter_end =
        is_simple && process->has_quick_filters ? self->real_end : NULL;
}

void cn_rec_thread_complicate(struct cn_rec_thread *self)
{
    self->end = NULL;
    cn_rec_wiped(self)->filter_end = NULL;
}

static struct cn_rec_thread *begin_blocked(void)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    uint32_t pid = cn_rec_pid();
    struct cn_rec_thread *self = take_memory();

    if (!self)
        return NULL;
    self->tid = cn_rec_tid();
    for (; self->top > self->frames; self->top--)
        cn_rec_frame_clear(self->top);
    self->is_off = self->is_ended = false;
    self->end_rounds = 0;
    self->has_watched = false;
    self->is_shared = self->is_forking = false;
    self->is_binding = true;
    self->dlopen_sp = 0;
    self->sigreturn = cn_rec_sigreturn;
    self->is_on = &cn_rec_process.shared->is_on;
    self->clock_mult = shared->clock_mult;
    self->clock_base_ns = shared->clock_base_ns;
    self->filter = (struct cn_rec_filter_state){0};
    cn_rec_module_rules_use(&self->filter, atomic_load(&shared->rule_version));
    self->stack_low = self->stack_high = 0;
    self->landing_count = self->island_count = 0;
    for (int i = 0; i < CN_REC_LANDING_MAX; i++)
        self->landings[i].env = 0;
    if (!take_track(self)) {
        cn_rec_thread_release(self);
        return NULL;
    }
    (void)cn_rec_return_assign(self, self->frames + 1);
    list_task(self, pid, 0);
    return self;
}

struct cn_rec_thread *cn_rec_thread_begin(void)
{
    struct cn_rec_thread *self = NULL;
    uint64_t before;

    if (!cn_rec_process.shared || is_missed ||
        atomic_load(&cn_rec_process.shared->stop) || cn_rec_is_sandboxed)
        return NULL;
    cn_rec_block_signals(&before);
    if (!cn_rec_self)
        cn_rec_self = begin_blocked();
    self = cn_rec_self;
    is_missed = !self;
    if (is_missed)
        atomic_fetch_add(&cn_rec_process.shared->missed_count, 1);
    cn_rec_restore_signals(&before);
    return self;
}

/* The calls on the stack of a thread end with it. Calls on other stacks remain: coroutines
 * may return on other threads, which look for their frames. True if there are any. */
static bool has_calls_elsewhere(struct cn_rec_thread *self)
{
    struct cn_rec_frame *kept = self->frames;

    for (struct cn_rec_frame *frame = kept + 1; frame <= self->top; frame++) {
        uintptr_t unused = kept[1].stub;

        if (!(frame->flags & CN_REC_FRAME_UNHOOKED) && frame->loc != CN_REC_LOC_GONE &&
            !cn_rec_thread_is_on_stack(self, frame->loc)) {
            if (self->stack_high > 0) {
                *++kept = *frame;
                if (kept == frame)
                    continue;
                frame->stub = unused;
            } else {
                cn_rec_return_close(self, frame);
            }
        }
        cn_rec_frame_clear(frame);
    }
    self->top = kept;
    return kept > self->frames;
}

void cn_rec_thread_end(struct cn_rec_thread *self)
{
    uint64_t before;

    cn_rec_block_signals(&before);
    cn_rec_self = NULL;
    if (cn_rec_heap_end)
        cn_rec_heap_end(self);
    if (cn_rec_wiped(self)->is_mine) {
        list_ended(self);
        cn_rec_track_close(self->track, self->ring);
    }
    cn_rec_wiped(self)->limit = cn_rec_wiped(self)->is_mine = 0;
    cn_rec_wiped(self)->filter_end = NULL;
    cn_rec_lock(&self->frames_lock);
    self->is_ended = has_calls_elsewhere(self);
    cn_rec_unlock(&self->frames_lock);
    cn_rec_returns_shrink(self);
    if (!self->is_ended)
        cn_rec_thread_release(self);
    cn_rec_restore_signals(&before);
}

/* Take a new track in the child of a fork: the old one belongs to the parent. */
static bool adopt(struct cn_rec_thread *self)
{
    uint32_t parent = atomic_load(&cn_rec_process.pid);
    uint32_t pid = cn_rec_pid();

    self->tid = cn_rec_tid();
    if (!take_track(self)) {
        self->is_off = true;
        cn_rec_thread_complicate(self);
        atomic_fetch_add(&cn_rec_process.shared->missed_count, 1);
        return false;
    }
    if (pid == parent)
        return true;
    atomic_store(&cn_rec_process.pid, pid);
    list_task(self, pid, parent);
    return true;
}

bool cn_rec_thread_adopt(struct cn_rec_thread *self)
{
    uint64_t before;

    cn_rec_block_signals(&before);
    bool is_mine = cn_rec_wiped(self)->is_mine || (!self->is_off && adopt(self));
    cn_rec_restore_signals(&before);
    return is_mine;
}

void cn_rec_thread_stop(struct cn_rec_thread *self)
{
    self->is_off = true;
    cn_rec_thread_complicate(self);
    cn_rec_wiped(self)->limit = 0;
}

uint64_t cn_rec_frame_word(const struct cn_rec_thread *self,
                           const struct cn_rec_frame *frame)
{
    uint64_t depth = (uint64_t)(frame - self->frames) - 1;

    return (uint64_t)frame->address << 16 | (depth << 6 & CN_REC_DEPTH_MASK);
}

struct cn_rec_thread *cn_rec_thread_ready(void)
{
    struct cn_rec_thread *self = cn_rec_self ? cn_rec_self : cn_rec_thread_begin();

    return self && !self->is_off && cn_rec_thread_is_ours(self) ? self : NULL;
}
