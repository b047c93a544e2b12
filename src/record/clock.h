/* The clock of a recording: the processor's counter, scaled to CLOCK_MONOTONIC.
 *
 * nanoseconds = (counter * mult >> 32) + base_ns; mult is the length of a tick in units of
 * 2^-32 ns. Both are measured before the program starts and are the same in all threads
 * until it ends: time never jumps. The launcher converts the kernel's times to this clock.
 * Threads: any thread.
 */
#ifndef CN_RECORD_CLOCK_H
#define CN_RECORD_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "record/syscalls.h"

__extension__ typedef unsigned __int128 cn_rec_u128;

static inline uint64_t cn_rec_clock_counter(void)
{
#if defined(__x86_64__)
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#else
    uint64_t counter;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(counter));
    return counter;
#endif
}

static inline uint64_t cn_rec_clock_scale(uint64_t counter, uint64_t mult)
{
    return (uint64_t)((cn_rec_u128)counter * mult >> 32);
}

/* mult for a counter that made `ticks` (not 0) in `ns`. */
static inline uint64_t cn_rec_clock_mult(uint64_t ns, uint64_t ticks)
{
    return (uint64_t)(((cn_rec_u128)ns << 32) / ticks);
}

static inline uint64_t cn_rec_clock_monotonic_ns(void)
{
    struct timespec now = {0};

    (void)cn_rec_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t cn_rec_clock_ns(const struct cn_rec_shared *shared)
{
    if (!shared->has_counter)
        return cn_rec_clock_monotonic_ns();
    return cn_rec_clock_scale(cn_rec_clock_counter(), shared->clock_mult) +
           shared->clock_base_ns;
}

#endif
