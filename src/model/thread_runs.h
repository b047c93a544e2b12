/* On which processor a thread ran, over time, and which thread woke it.
 *
 * A zeroed list is empty. cn_thread_runs_done() releases it. The runs and wake-ups of a file stay there, and are
 * decoded when they are asked for: they borrow its bytes.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_MODEL_THREAD_RUNS_H
#define CN_MODEL_THREAD_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

enum { CN_PROCESSOR_MAX = 8192 }; /* numbers from here on are damaged data */

struct cn_thread_run {
    uint64_t begin_ns, end_ns;
    uint32_t processor;
};

/* In the order of time; between them, the thread did not run, or it is not known where. */
struct cn_thread_runs {
    struct cn_thread_run *list; /* NULL: they are in a file, or there are none */
    size_t count, capacity;
    struct cn_thread_run (*read)(const struct cn_thread_runs *runs, size_t at);
    struct cn_bytes stored; /* what it reads */
};

static inline struct cn_thread_run cn_thread_runs_at(const struct cn_thread_runs *runs,
                                                     size_t at)
{
    return runs->list ? runs->list[at] : runs->read(runs, at);
}

/* In what a thread was woken. */
enum cn_wakeup_source {
    CN_WOKEN_BY_THREAD,         /* by a thread of the database */
    CN_WOKEN_BY_SOFT_INTERRUPT, /* while `from` ran: in its system call, or in an interrupt */
    CN_WOKEN_BY_INTERRUPT,      /* of the hardware: what ran there does not matter */
    CN_WOKEN_BY_OTHER,          /* a thread that the database does not have */
    CN_WOKEN_AT_START,          /* by the thread that created it */
    CN_WAKEUP_SOURCES,
};

/* A thread that waited was made ready to run. */
struct cn_wakeup {
    uint64_t time_ns;
    uint32_t from, to; /* profiles of the database; from 0: none */
    uint32_t context;  /* in which it was woken; 0: unknown */
    enum cn_wakeup_source source;
};

/* In any order. */
struct cn_wakeups {
    const struct cn_wakeup *list; /* NULL: they are in a file, or there are none */
    size_t count;
    struct cn_wakeup (*read)(const struct cn_wakeups *wakeups, size_t at);
    struct cn_bytes stored, wakers; /* what it reads; the first ones have wakers */
    uint32_t profile_count;         /* that it reads only profiles of */
};

static inline struct cn_wakeup cn_wakeups_at(const struct cn_wakeups *wakeups, size_t at)
{
    return wakeups->list ? wakeups->list[at] : wakeups->read(wakeups, at);
}

/* True if one thread woke the other one. */
static inline bool cn_wakeup_is_of_thread(const struct cn_wakeup *wakeup)
{
    return wakeup->source == CN_WOKEN_BY_THREAD && wakeup->from != 0;
}

/* When the woken thread runs, by the runs of all threads: the time of the wake-up if these are unknown
 * (NULL), or if it does not run again. */
uint64_t cn_wakeup_runs_ns(const struct cn_wakeup *wakeup,
                           const struct cn_thread_runs *runs);

/* Append a run. What the list has already is left out; on the same processor, a run that begins
 * where the last one ends continues it. A number from CN_PROCESSOR_MAX on is no processor. */
void cn_thread_runs_add(struct cn_thread_runs *runs, uint64_t begin_ns, uint64_t end_ns,
                        uint32_t processor);
void cn_thread_runs_done(struct cn_thread_runs *runs);

#endif
