/* The check for leaks at the end of sampled programs (sample --memory --leaks): a program that ends asks
 * for it and waits (inside/shared.h). Only sampled blocks are known, so all other memory of the program
 * counts as reached: what is found is the least that leaked.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_LEAKS_H
#define CN_SAMPLER_LEAKS_H

#include <stdint.h>

#include "base/error.h"

struct cn_perf_memory;
struct cn_sample_leaks_result;
struct cn_timers;

/* Check the program that asks, if one does. `take` gets a record that says so, and one for each sampled
 * block that leaked. */
CN_CHECK bool cn_sample_leaks_answer(
    const struct cn_timers *timers, struct cn_sample_leaks_result *result,
    bool (*take)(void *arg, const struct cn_perf_memory *record, struct cn_error *err),
    void *arg, struct cn_error *err);

#endif
