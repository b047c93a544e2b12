/* What the recorder knows about one thread of the program: the calls that are open, and
 * where its records go.
 *
 * A thread's memory is mapped when its first call is seen and used again by a later
 * thread; it is never unmapped, so that whoever unwinds a stack may walk the list of
 * threads at any time. The page after the first is cleared by a fork: the child then
 * finds that its parent's track is not its own.
 * Threads: a structure belongs to its thread; the list may be read by all.
 */
#ifndef CN_RECORD_THREAD_H
#define CN_RECORD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "record/shared.h"

/* An open call. */
struct cn_rec_frame {
    uintptr_t *loc;    /* where its return address lies, or lay; compared as a number */
    uintptr_t ret;     /* the return address itself */
    uintptr_t address; /* what is recorded as the function */
    uint64_t flags;    /* CN_REC_FRAME_*; none for calls that assembly handles alone */
};

/* In the flags. Above them is, on aarch64, the caller's x29; not with library calls. */
enum {
    CN_REC_FRAME_SILENT = 1,    /* its entry was not recorded */
    CN_REC_FRAME_UNHOOKED = 2,  /* returns by itself: -finstrument-functions */
    CN_REC_FRAME_LIBCALL = 4,   /* `flags` >> 32 is the number of the library call */
    CN_REC_FRAME_HELD = 8,      /* its entry is recorded once it has lasted long enough */
    CN_REC_FRAME_SLOW = 32,     /* assembly cannot tell the time */
    CN_REC_FRAME_FILTERED = 16, /* has a note */
    CN_REC_FRAME_READS = 64,    /* has readings behind its values */
};

/* What the filters know: of a thread now, and of each frame how it was before. */
struct cn_rec_filter_state {
    uint64_t time_limit_ns;
    uint64_t entry_ns;    /* of a frame: when it was called */
    uintptr_t site;       /* of a frame: where from; 0: not to be recorded */
    uint32_t in, out;     /* open calls that say ONLY, and NOT */
    uint32_t shown;       /* open calls that are recorded */
    uint32_t shown_limit; /* how many there may be */
    uint32_t values_used; /* bytes of `values` that calls not recorded yet need */
    uint32_t values_len;  /* of a frame: how many of them are its own */
};

enum { CN_REC_VALUES_LEN = 1 << 20 };

enum { CN_REC_LOC_REGISTER = 1 }; /* in `loc`: the rest is the stack pointer */

/* The `loc` of a call that returned on another thread, where its coroutine went on. It is
 * odd, as no place in memory is, and such that the stubs leave the frame to C. */
#if defined(__x86_64__)
#define CN_REC_LOC_GONE ((uintptr_t *)3)
#else
#define CN_REC_LOC_GONE ((uintptr_t *)(UINTPTR_MAX - 2))
#endif

struct cn_rec_thread {
    struct cn_rec_frame *volatile top; /* frames[0] is a sentinel */
    struct cn_rec_frame *end; /* the last frame, or NULL: every call is a case for C */
    struct cn_rec_track *track;
    uint8_t *ring;
    uint64_t ring_mask;
    uint64_t clock_mult, clock_base_ns;
    struct cn_rec_frame *frames;
    struct cn_rec_thread *_Atomic next;
    /* Where a record is being stored that does not count yet. Who finds `recorded` there
     * has interrupted us, and leaves the place to us. */
    volatile uint64_t slot;
    volatile uint64_t stepped;  /* the last one that was left alone in this way */
    volatile uint32_t slot_len; /* of that record; 16 but for those with a payload */
    struct cn_rec_filter_state filter, *notes; /* one a frame; NULL without filters */
    uint8_t *values; /* CN_REC_VALUES_LEN bytes of arguments; NULL without filters */
    struct cn_rec_frame *real_end;
    uintptr_t stack_low, stack_high; /* of the thread; both 0 when unknown */
    _Atomic uint32_t is_used;
    _Atomic uint32_t frames_lock; /* who moves frames, or takes one from another thread */
    uint32_t tid;
    uint64_t lost_told;
    uintptr_t dlopen_sp; /* a dlopen() began here and may have mapped files */
    bool is_shared;      /* another task may run with our thread-local storage */
    bool is_off;         /* recording has ended */
};

/* What a fork clears. */
struct cn_rec_wiped {
    uint64_t limit; /* `recorded` may reach this before C code has to look */
    uint64_t is_mine;
};

extern __thread struct cn_rec_thread *cn_rec_self
    __attribute__((tls_model("initial-exec")));
extern struct cn_rec_thread *_Atomic cn_rec_threads;

static inline struct cn_rec_wiped *cn_rec_wiped(struct cn_rec_thread *self)
{
    return (struct cn_rec_wiped *)((char *)self + CN_REC_PAGE_LEN);
}

/* This thread's structure with a track of its own; NULL when there is nothing to record
 * with. */
struct cn_rec_thread *cn_rec_thread_begin(void);

/* The same for a call that is made now; NULL when it is not to be recorded. */
struct cn_rec_thread *cn_rec_thread_ready(void);

/* We are a fork's child: take a track of our own now rather than at the first call. */
void cn_rec_thread_adopt(struct cn_rec_thread *self);

/* The thread ends: write its records out and give its track back. */
void cn_rec_thread_end(struct cn_rec_thread *self);

/* The present time in nanoseconds. */
uint64_t cn_rec_now(const struct cn_rec_thread *self);

/* Add a record; its time is now, or `time_ns` when that is not 0. The payload is a
 * multiple of 8 bytes. Counts what it cannot add. */
void cn_rec_add(struct cn_rec_thread *self, uint64_t time_ns, uint64_t word,
                const uint64_t *payload, uint32_t payload_len);

/* The same for a plain record now, for when there is most likely room. */
void cn_rec_record(struct cn_rec_thread *self, uint64_t word);

/* Complete the record `word` at `at`, which assembly was about to store when a signal
 * handler came in between and stepped over it. */
void cn_rec_finish_slot(uint64_t word, uint64_t at);

/* The word of a frame's record, without its type. */
uint64_t cn_rec_frame_word(const struct cn_rec_thread *self,
                           const struct cn_rec_frame *frame);

/* Have room for a record before a frame is pushed or popped, so that a signal handler does
 * not come in between. */
void cn_rec_thread_reserve(struct cn_rec_thread *self);

/* False when another task runs with this thread's local storage: clone() can do that. */
bool cn_rec_thread_is_ours(const struct cn_rec_thread *self);

/* Whether assembly may handle the calls of this thread alone. */
bool cn_rec_thread_is_simple(const struct cn_rec_thread *self);

/* Between these, no signal handler runs on this thread. */
void cn_rec_block_signals(uint64_t *before);
void cn_rec_restore_signals(const uint64_t *before);

#endif
