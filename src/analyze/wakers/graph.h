/* Who woke whom: every time that a thread was not running, with where it waited and what ended that.
 *
 *     cn_wait_graph_build(&graph, db, &frames, err)
 *     for (size_t i = 0; cn_wait_graph_next(&graph, profile, &i, &wait);) ... wait ...
 *     cn_wait_graph_done(&graph);
 *
 * A wait lasts from `begin_ns` to `end_ns`, when the thread runs again. From `woken_ns` on nothing but a
 * processor is missing. So the waits of a thread add up to its blocked and its pre-empted time. A
 * wait whose wake-up was not recorded is CN_WAIT_FOR_UNKNOWN, all of it, unless the function of the kernel
 * in which it waits is for a sleep or for the disk alone: then its kind is inferred, and what of it was for a
 * processor is unknown.
 *
 * What an interrupt is of is known from the names of the kernel's functions, of a wake-up or of the wait;
 * without them it is just an interrupt.
 * A wait is made of two states and a wake-up of the database whenever it is asked for.
 * Memory: 4 bytes a state, 8 where locks are known. Borrows database and frames. Threads: immutable after it
 * was built; any thread may ask.
 */
#ifndef CN_ANALYZE_WAKERS_GRAPH_H
#define CN_ANALYZE_WAKERS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_frames;

enum cn_wait_kind {
    CN_WAIT_FOR_THREAD,  /* of the same process */
    CN_WAIT_FOR_PROCESS, /* a thread of another process */
    CN_WAIT_FOR_CHILD,   /* for the end of a child process */
    CN_WAIT_FOR_TIMER,
    CN_WAIT_FOR_NETWORK,
    CN_WAIT_FOR_DISK,
    CN_WAIT_FOR_INTERRUPT, /* of something else, or whose functions have no names */
    CN_WAIT_FOR_KERNEL,    /* a thread of the kernel */
    CN_WAIT_FOR_PROCESSOR, /* it was woken, but does not run yet */
    CN_WAIT_BY_PREEMPTION, /* others run instead */
    CN_WAIT_FOR_ALWAYS,    /* it still waits at the end of the data */
    CN_WAIT_FOR_UNKNOWN,   /* the wake-up was lost, or not recorded */
    CN_WAIT_FOR_KINDS,
};

/* The word for a kind: "thread", "timer", "pre-empted". */
extern const char *const cn_wait_kind_names[CN_WAIT_FOR_KINDS];

struct cn_waited {
    uint64_t begin_ns, woken_ns, end_ns;
    uint32_t profile, context; /* of the thread that waits; context 0: unknown */
    uint32_t waker;            /* profile; 0: none */
    uint32_t waker_context;    /* 0: unknown */
    uint32_t lock;             /* number, plus one, see lock_names.h; 0: none */
    uint8_t kind;              /* enum cn_wait_kind, until it was woken */
    bool is_woken;             /* the wake-up was recorded; else woken_ns is end_ns */
    bool is_inferred;          /* the kind is known from where it waits alone */
    bool is_ending;            /* it was woken because a thread or process ended */
};

struct cn_wait_graph {
    struct cn_database *db;
    const struct cn_frames *frames;
    uint16_t *marks;      /* by frame: kernel_names.h */
    uint64_t *process_of; /* by profile */
    size_t *first_of;    /* by profile: of its states in what follows; the last: of all */
    uint32_t *wakeup_of; /* by state: the number of the wake-up, plus one; 0: none */
    uint32_t *lock_of;   /* by state: as in a wait; NULL: locks are unknown */
    size_t count;        /* waits */
    uint64_t wait_ns;    /* of all waits */
    size_t wakeup_count; /* that were recorded, without those at the start of threads */
    size_t missing;      /* waits of unknown cause */
    size_t inferred;     /* waits whose kind is inferred */
    uint32_t *creators;  /* by profile: the thread that created it; 0: unknown */
    uint64_t *created_ns; /* and when */
    uint32_t profile_count;
};

/* Needs states of threads; without wake-ups all waits are for something unknown. On failure nothing
 * is left to release. */
CN_CHECK bool cn_wait_graph_build(struct cn_wait_graph *graph, struct cn_database *db,
                                  const struct cn_frames *frames, struct cn_error *err);
void cn_wait_graph_done(struct cn_wait_graph *graph);

/* The wait of a thread that is one of its states, by its number. False if that is none, or takes no time. */
bool cn_wait_graph_at(const struct cn_wait_graph *graph, uint32_t profile, size_t state,
                      struct cn_waited *out);

/* The next wait of a thread, from a state on: `*state` is then the one after it. False if there is none. */
bool cn_wait_graph_next(const struct cn_wait_graph *graph, uint32_t profile,
                        size_t *state, struct cn_waited *out);

/* After each of many waits that were asked for: gives pages of the database back from time to time. */
void cn_wait_graph_forget(const struct cn_wait_graph *graph, size_t number);

/* The state of a thread at a time; the first one before that. */
size_t cn_wait_graph_after(const struct cn_wait_graph *graph, uint32_t profile,
                           uint64_t time_ns);

/* True for kinds of waits that another thread of the data has ended. */
static inline bool cn_wait_is_for_thread(const struct cn_waited *wait)
{
    return wait->waker != 0 && wait->kind <= CN_WAIT_FOR_CHILD;
}

#endif
