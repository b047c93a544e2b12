/* Which events of a sampling take their stacks in the kernel.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_IN_KERNEL_H
#define CN_SAMPLER_IN_KERNEL_H

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
};

/* Unwind samples of the first event in the kernel where it is allowed, of switches and of wake-ups; those
 * of others are copied. */
void cn_sample_in_kernel_open(struct cn_sample_in_kernel *in_kernel,
                              const struct cn_sample_options *options,
                              const struct cn_sample_setup *setup,
                              const struct cn_rings *rings);

#endif
