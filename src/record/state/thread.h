/* State of the recorder for one thread: its open calls, and its track.
 *
 * The memory of a thread is mapped at its first recorded call, reused by later threads, and
 * never unmapped: other threads may search the list at any time. A second page is cleared by
 * fork, so a child notices that the track is not its own.
 * Threads: a structure belongs to its thread; any thread may read the list.
 */
#ifndef CN_RECORD_STATE_THREAD_H
#define CN_RECORD_STATE_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "record/clock.h"
#include "record/layout.h"
#include "record/process.h"
#include "record/shared.h"
#include "record/state/lock.h"
#include "record/syscalls.h"

/* A frame: an open call. */
struct cn_rec_frame {
    uintptr_t *loc;    /* address of its return address; may be stale */
    uintptr_t stub;    /* that it returns to, if it is hooked (returns.h); 0: none yet */
    uintptr_t ret;     /* its return address: that of a stub after a tail call */
    uintptr_t address; /* address to record */
    volatile uint64_t flags; /* CN_REC_FRAME_*; 0 for calls that assembly handles alone */
    uint64_t caller;         /* aarch64: the caller's x29; 0: unknown */
    /* Of calls that are filtered: the open calls that were recorded before it, their limit at
     * that time unless the frame is in `notes`, and the time of an entry that is pending; 0
     * until it is known, and when the entry was recorded. */
    uint32_t shown, limit;
    volatile uint64_t entry_ns;
};

/* Flags of a frame. */
enum {
    CN_REC_FRAME_SILENT = 1,    /* its entry is not recorded */
    CN_REC_FRAME_UNHOOKED = 2,  /* its return is not hooked: -finstrument-functions */
    CN_REC_FRAME_LIBCALL = 4,   /* `flags` >> 32 is the number of its slot */
    CN_REC_FRAME_PENDING = 8,   /* its entry is recorded when it has lasted long enough */
    CN_REC_FRAME_SLOW = 32,     /* assembly cannot read the time */
    CN_REC_FRAME_FILTERED = 16, /* has an entry in `notes` */
    CN_REC_FRAME_READS = 64,    /* has readings after its values */
    CN_REC_FRAME_THROWS = 128,  /* a library call that does not return */
    CN_REC_FRAME_FORKS = 256,   /* a library call that returns in a child first */
    CN_REC_FRAME_CALLED = 512,  /* called by the recorder; on x86_64 */
    CN_REC_FRAME_OFF = 1024,    /* entered while recording was switched off */
    CN_REC_FRAME_ENDS = 2048,   /* a library call that ends the thread */
    CN_REC_FRAME_QUICK = CN_REC_F_QUICK, /* assembly filtered it: no entry in `notes` */
    CN_REC_FRAME_ONLY = CN_REC_F_ONLY,   /* and it has RULE_ONLY */
    CN_REC_FRAME_NOT = CN_REC_F_NOT,     /* and it has RULE_NOT */
};

/* State of the filters in a thread. */
struct cn_rec_filter_state {
    uint32_t shown; /* open calls that are recorded */
    uint32_t
        shown_limit; /* limit of `shown`; 0 where RULE_ONLY or RULE_NOT leave all out */
    uint64_t time_limit_ns;
    uint32_t out, in;     /* open calls with RULE_NOT, and with RULE_ONLY */
    uint32_t only_depth;  /* levels to record of a call with RULE_ONLY */
    uint32_t values_used; /* bytes of `values` in use by pending calls */
    uint32_t version;     /* of the rule set in use; of a frame: when it was called */
    uint32_t size_min;    /* functions of fewer bytes are left out */
    uint32_t needs_match; /* only calls that lead to one with RULE_CALLER are recorded */
};

/* What the filters know of a frame. */
struct cn_rec_note {
    struct cn_rec_filter_state before; /* it was called */
    uint64_t least_ns;                 /* it is recorded if it lasts as long */
    uintptr_t site;                    /* its call site; 0: not recorded */
    uint32_t values_len;               /* bytes of its own values */
    uint32_t readings;                 /* the actions that read counters in it */
};

/* A call of setjmp(), which returns again after a jump. */
struct cn_rec_landing {
    uintptr_t env; /* its argument */
    uintptr_t *loc;
    uintptr_t address; /* address to record */
    uint64_t depth;    /* open calls without it */
    bool is_recorded;
};

enum {
    CN_REC_VALUES_LEN = 1 << 20,
    CN_REC_CLOSED_MAX = 128,
    CN_REC_LANDING_MAX = 32,
    CN_REC_ISLAND_MAX = 8,
};

enum { CN_REC_LOC_REGISTER = 1 }; /* flag in `loc`: the rest is the stack pointer */

/* The `loc` of a call that returned on another thread, in a coroutine. It is odd, unlike
 * any address of a return address, and the stubs leave such frames to C. */
#if defined(__x86_64__)
#define CN_REC_LOC_GONE ((uintptr_t *)3)
#else
#define CN_REC_LOC_GONE ((uintptr_t *)(UINTPTR_MAX - 2))
#endif

struct cn_rec_thread {
    struct cn_rec_frame *volatile top; /* frames[0] is a sentinel */
    struct cn_rec_frame
        *end; /* the last frame, or NULL: C handles every call, or filters */
    struct cn_rec_track *track;
    uint8_t *ring;
    uint64_t ring_mask;
    uint64_t clock_mult, clock_base_ns;
    struct cn_rec_frame *frames;
    /* Position of the record that is being stored. A signal handler that finds `recorded`
     * equal to it has interrupted the thread, and must step over the slot. */
    volatile uint64_t slot;
    volatile uint64_t stepped; /* the last slot that was stepped over */
    uintptr_t sigreturn;       /* cn_rec_sigreturn */
    _Atomic uint32_t *is_on;   /* that of the shared memory */
    struct cn_rec_filter_state filter;
    /* The first and the last frame whose pending entries are being recorded, and the position:
     * while `slot` is this position, signal handlers leave these entries to the code they
     * interrupted. */
    struct cn_rec_frame *volatile settling, *volatile settling_end;
    volatile uint64_t settling_at;
    volatile uint64_t slot_len; /* of what is stored at `slot`; 16 for a record alone */
    /* When a call ended below others that were open; then `settling` is the sentinel, so that
     * C records their entries. */
    uint64_t passed_ns;
    struct cn_rec_note *notes; /* one for each frame; NULL without filters */
    uint8_t *values; /* CN_REC_VALUES_LEN bytes of arguments; NULL without filters */
    struct cn_rec_frame *real_end;
    struct cn_rec_thread *_Atomic next;
    struct cn_rec_thread *next_unused;
    /* Return stubs of the last calls that were closed although they had not returned. */
    uintptr_t closed[CN_REC_CLOSED_MAX];
    struct cn_rec_landing landings[CN_REC_LANDING_MAX];
    uint32_t closed_count, landing_count;
    struct cn_rec_frame *stubs_end;  /* after the last frame that has a stub */
    uintptr_t stack_low, stack_high; /* of the thread; both 0 when unknown */
    /* Stacks of makecontext() that are inside it. */
    struct cn_rec_island {
        uintptr_t low, len;
    } islands[CN_REC_ISLAND_MAX];
    uint32_t island_count;
    _Atomic uint32_t is_used;
    struct cn_rec_lock
        frames_lock; /* to move frames, or to change those of another thread */
    uint32_t tid;
    uint64_t lost_recorded;
    uint64_t lost_interpreted; /* open calls of Python without a frame */
    /* Memory for starting programs (exec.c), and the task that uses it. */
    void *space;
    uint64_t space_len;
    _Atomic uint32_t space_owner;
    uintptr_t dlopen_sp; /* stack pointer of the current dlopen(); 0: none */
    bool is_shared;      /* another task may use the same thread-local storage */
    bool is_forking;     /* in vfork(): its child may use it */
    bool is_off;         /* recording has ended */
    bool is_ended;       /* the thread; calls that it made are open on other stacks */
    /* The loader binds a slot, which the next call points to the recorder again. Other
     * threads set it. */
    _Atomic bool is_binding;
    uint8_t end_rounds; /* of destructors of thread data */
    bool has_watched;   /* the first values were recorded */
    uint32_t cpu;       /* as recorded last */
    /* Counters of the processor; those of another task are not read. */
    struct cn_rec_pmu {
        int32_t fds[2];
        uint32_t tid; /* of the task that it counts; 0: none */
        uint64_t ids[2];
    } pmu[CN_REC_PMU_COUNT];
};

/* What the thread allocates and frees is recorded in a track of its own (heap/log.h). */
struct cn_rec_heap {
    struct cn_rec_track *track; /* NULL: none yet */
    uint8_t *ring;
    uint64_t mask, limit; /* records are added while `reserved` is below the limit */
    volatile uint64_t reserved; /* position after all records, complete or not */
    volatile uint32_t
        depth;       /* records that are being stored: handlers interrupt others */
    bool is_missing; /* there was no track */
    uint64_t lost_recorded;
};

/* The page that fork clears. */
struct cn_rec_wiped {
    uint64_t limit; /* assembly stores records while `recorded` is less */
    uint64_t is_mine;
    struct cn_rec_frame
        *_Atomic filter_end; /* as `end`, for calls that assembly filters */
    struct cn_rec_heap heap;
};

extern __thread struct cn_rec_thread *cn_rec_self
    __attribute__((tls_model("initial-exec")));
extern struct cn_rec_thread *_Atomic cn_rec_threads;

/* While it is not 0, what this thread allocates is the recorder's. */
extern __thread uint32_t cn_rec_quiet __attribute__((tls_model("initial-exec")));

static inline struct cn_rec_wiped *cn_rec_wiped(struct cn_rec_thread *self)
{
    return (struct cn_rec_wiped *)((char *)self + CN_REC_T_LIMIT);
}

/* What is left of a frame that was popped must not look like an open call, or like one that has
 * ended: signal handlers see it while the next one is pushed. */
static inline void cn_rec_frame_clear(volatile struct cn_rec_frame *frame)
{
    frame->flags = 0;
    frame->loc = (uintptr_t *)UINTPTR_MAX;
}

/* True for an address on the stack of the thread, and not on that of a context inside it. */
static inline bool cn_rec_thread_is_on_stack(const struct cn_rec_thread *self,
                                             const uintptr_t *loc)
{
    /* The first call on such a stack has its end as stack pointer. */
    uintptr_t at = (uintptr_t)loc & ~(uintptr_t)CN_REC_LOC_REGISTER;

    for (uint32_t i = 0; i < self->island_count; i++)
        if (at - self->islands[i].low <= self->islands[i].len)
            return false;
    return at >= self->stack_low && at < self->stack_high;
}

/* The structure of this thread, with a track of its own; NULL when it cannot be
 * recorded. */
struct cn_rec_thread *cn_rec_thread_begin(void);

/* The same for a call that is made now; NULL when the call is not recorded. */
struct cn_rec_thread *cn_rec_thread_ready(void);

/* In the child of a fork: take a track now, not at the first call. False if there is none
 * for it. */
bool cn_rec_thread_adopt(struct cn_rec_thread *self);

/* From now on only the returns of open calls are handled, without system calls. */
void cn_rec_thread_stop(struct cn_rec_thread *self);

/* The thread ends: write its records, and release its track. */
void cn_rec_thread_end(struct cn_rec_thread *self);

/* A context gets this stack; and forget those that are below `sp`, whose functions have
 * returned. */
void cn_rec_thread_add_island(struct cn_rec_thread *self, uintptr_t low, uintptr_t len);
void cn_rec_thread_drop_islands(struct cn_rec_thread *self, uintptr_t sp);

/* The same for what it allocated. NULL: memory is not recorded. */
void cn_rec_heap_end(struct cn_rec_thread *self) __attribute__((weak));

/* Let another thread use the structure. */
void cn_rec_thread_release(struct cn_rec_thread *thread);

/* The current time in nanoseconds. */
static inline uint64_t cn_rec_now(const struct cn_rec_thread *self)
{
    if (!cn_rec_process.shared->has_counter)
        return cn_rec_clock_monotonic_ns();
    return cn_rec_clock_scale(cn_rec_clock_counter(), self->clock_mult) +
           self->clock_base_ns;
}

/* The word of a frame's records, without the type; and of a frame that is filtered, whose depth
 * counts recorded calls only. */
static inline uint64_t cn_rec_frame_shown_word(const struct cn_rec_frame *frame)
{
    return (uint64_t)frame->address << 16 |
           ((uint64_t)frame->shown << 6 & CN_REC_DEPTH_MASK);
}

uint64_t cn_rec_frame_word(const struct cn_rec_thread *self,
                           const struct cn_rec_frame *frame);

/* False when another task uses the thread-local storage of this thread, after clone() or
 * in vfork(). */
static inline bool cn_rec_thread_is_ours(const struct cn_rec_thread *self)
{
    return !(self->is_shared || self->is_forking) || self->tid == cn_rec_tid();
}

/* Let assembly handle the calls of this thread alone, if it may; or no longer. */
void cn_rec_thread_simplify(struct cn_rec_thread *self);
void cn_rec_thread_complicate(struct cn_rec_thread *self);

/* Unmap what the open calls of this thread, and some more, do not need. */
void cn_rec_thread_shrink(struct cn_rec_thread *self);

/* No signal handler runs on this thread between these two. */
void cn_rec_block_signals(uint64_t *before);
void cn_rec_restore_signals(const uint64_t *before);

#endif
