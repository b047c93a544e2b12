/* The other way to sample: by signals inside the program, where perf events are not allowed.
 *
 * A library is preloaded into the program and its children (inside/inside.c); what it leaves
 * in shared memory is collected here.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_TIMERS_H
#define CN_SAMPLER_TIMERS_H

#include <stdint.h>

#include "base/error.h"

struct cn_frame_table;
struct cn_inside_slot;

struct cn_timers {
    int fd; /* -1: not open */
    struct cn_inside_shared *shared;
    char path[64]; /* of the memory, for the program */
    char *library;
};

/* Find the library and create the memory. */
CN_CHECK bool cn_timers_open(struct cn_timers *timers, uint64_t period_ns,
                             struct cn_error *err);
void cn_timers_close(struct cn_timers *timers);

/* Deliver what programs left, in the order of time, and free its memory. */
CN_CHECK bool cn_timers_read(struct cn_timers *timers,
                             bool (*take)(void *arg, struct cn_inside_slot *slot,
                                          struct cn_error *err),
                             void *arg, struct cn_error *err);

uint64_t cn_timers_lost(const struct cn_timers *timers);

/* Let a process read its frames of an interpreter at each sample; `table` NULL: no more. */
void cn_timers_put_table(struct cn_timers *timers, uint32_t pid,
                         const struct cn_frame_table *table);

/* Sample no more. */
void cn_timers_stop(struct cn_timers *timers);

#endif
