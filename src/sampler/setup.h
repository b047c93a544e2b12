/* Opens the events of a sampling, with as much as the kernel allows.
 *
 * Where the kernel's own code may not be sampled, that of the programs is; where there are
 * no counters of cycles, time is sampled. Each of these is said in one line.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_SETUP_H
#define CN_SAMPLER_SETUP_H

#include "base/error.h"
#include "sampler/io.h"
#include "sampler/rings.h"
#include "sampler/sampler.h"

struct cn_sample_setup {
    struct cn_sample_events events; /* as opened */
    uint64_t register_mask;         /* of the registers in samples */
    bool is_user_only;
    size_t waking_count; /* of the last events: those of wake-ups, for --off-cpu */
    struct cn_sample_io io;
};

/* Find the events by their names and fill in their attributes. */
CN_CHECK bool cn_sample_setup_events(struct cn_sample_setup *setup,
                                     const struct cn_sample_options *options,
                                     struct cn_error *err);

/* Open them for these tasks; NULL: the whole machine. `is_refused` says whether a failure
 * is due to rights that this process does not have. */
CN_CHECK bool cn_sample_setup_open(struct cn_sample_setup *setup,
                                   const struct cn_sample_options *options,
                                   const pid_t *tids, size_t tid_count,
                                   struct cn_rings *rings, bool *is_refused,
                                   struct cn_error *err);

/* Continue without perf events: with one clock, of user code. False if other events are
 * asked for. */
bool cn_sample_setup_timers(struct cn_sample_setup *setup,
                            const struct cn_sample_options *options);

/* The attribute of event `i` as it is stored: samples have call chains, not copies. Those of switches have
 * the register of the first argument of a system call: for a futex, the address that is waited for. */
struct perf_event_attr cn_sample_setup_stored(const struct cn_sample_setup *setup,
                                              size_t i);

void cn_sample_setup_done(struct cn_sample_setup *setup);

#endif
