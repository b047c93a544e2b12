/* Which events of a sampling take their stacks in the kernel.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_IN_KERNEL_H
#define CN_SAMPLER_IN_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "sampler/rings.h"
#include "sampler/sampler.h"
#include "sampler/setup.h"

struct cn_kernel;

struct cn_sample_in_kernel {
    struct cn_kernel *kernel; /* that unwinds; NULL: stacks are copied */
    struct cn_error refusal;  /* why not */
    uint32_t switches; /* the event of switches, if it unwinds them as well; 0: not */
    uint32_t waking;   /* the same of wake-ups */
    int usual_priority;
    bool is_hurried;
    uint64_t second_ns; /* a second begins in which waits for new programs count */
    uint32_t young_waits;
};

/* Unwind samples of the first event in the kernel where it is allowed, of switches and of wake-ups; those
 * of others are copied. */
void cn_sample_in_kernel_open(struct cn_sample_in_kernel *in_kernel,
                              const struct cn_sample_options *options,
                              const struct cn_sample_setup *setup,
                              const struct cn_rings *rings);

/* Until the kernel knows the code of processes it copies whole stacks, as fast as the program runs: on a busy machine
 * this thread would hardly come to describe it. Without rights, nothing changes. */
void cn_sample_in_kernel_hurry(struct cn_sample_in_kernel *in_kernel, bool is_on);

/* The sooner the kernel knows a program that began at a time, the fewer of its stacks are copied. True if it is to be
 * looked for without delay, which is so for a moment and not too often. */
bool cn_sample_in_kernel_is_young(struct cn_sample_in_kernel *in_kernel,
                                  uint64_t begin_ns, uint64_t now_ns);

#endif
