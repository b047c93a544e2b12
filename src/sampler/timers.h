/* Sampling inside the program: by signals, where perf events are not allowed, and at allocations.
 *
 * Libraries are preloaded into the program and its children (inside/inside.c, allocations.c); what
 * they leave in shared memory is collected here.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_TIMERS_H
#define CN_SAMPLER_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Between looks at the samples of allocations: within the time that a program waits for room. */
enum { CN_TIMERS_WAIT_MIN_MS = 2, CN_TIMERS_WAIT_MAX_MS = 20 };

struct cn_frame_table;
struct cn_inside_release;
struct cn_inside_slot;

/* What of a list is looked at: what was taken since the last time, and all of it now and then. */
struct cn_inside_scan {
    uint32_t at, count;        /* entries in use the last time */
    uint64_t now_ns, whole_ns; /* when it was looked at, and all of it */
};

struct cn_timers {
    int fd; /* -1: not open */
    struct cn_inside_shared *shared;
    char path[64];        /* of the memory, for the program */
    char *library;        /* that samples by signals; NULL: none does */
    char *memory_library; /* that samples allocations; NULL: none does */
    uint64_t alloc_count; /* samples of allocations that were read */
    _Atomic int wait_ms;  /* until slots are to be moved again */
    struct cn_inside_scan slots, releases;
};

/* Find the libraries and create the memory. `period_ns` of processor time between signals, and
 * `interval` bytes between sampled allocations; 0: no such samples. */
CN_CHECK bool cn_timers_open(struct cn_timers *timers, uint64_t period_ns,
                             uint64_t interval, struct cn_error *err);
void cn_timers_close(struct cn_timers *timers);

/* Deliver what programs left, in the order of time, and free its memory. */
CN_CHECK bool cn_timers_read(struct cn_timers *timers,
                             bool (*take)(void *arg, struct cn_inside_slot *slot,
                                          struct cn_error *err),
                             void *arg, struct cn_error *err);

/* The same for samples of allocations beside perf events: deliver them in any order. */
void cn_timers_move(struct cn_timers *timers,
                    void (*take)(void *arg, const struct cn_inside_slot *slot),
                    void *arg);

/* Deliver the frees of sampled blocks in any order. */
CN_CHECK bool
cn_timers_read_releases(struct cn_timers *timers,
                        bool (*take)(void *arg, const struct cn_inside_release *release,
                                     struct cn_error *err),
                        void *arg, struct cn_error *err);

uint64_t cn_timers_lost(const struct cn_timers *timers);

/* Let a process read its frames of an interpreter at each sample; `table` NULL: no more. */
void cn_timers_put_table(struct cn_timers *timers, uint32_t pid,
                         const struct cn_frame_table *table);

/* Sample no more. */
void cn_timers_stop(struct cn_timers *timers);

#endif
