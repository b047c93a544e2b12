/* The time in nanoseconds.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_CLOCK_H
#define CN_BASE_RUN_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The time of a clock of the system. */
uint64_t cn_clock_read_ns(clockid_t clock);

/* The time of day in `ns` from now, as pthread_cond_timedwait() takes it. */
struct timespec cn_clock_date_in(uint64_t ns);

/* Since an arbitrary moment; never set back: for measuring durations. */
uint64_t cn_clock_ns(void);

/* Since the epoch, by the clock of the machine. */
uint64_t cn_clock_date_ns(void);

#endif
