/* The time in nanoseconds.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_CLOCK_H
#define CN_BASE_RUN_CLOCK_H

#include <stdint.h>

/* Since an arbitrary moment; never set back: for measuring durations. */
uint64_t cn_clock_ns(void);

/* Since the epoch, by the clock of the machine. */
uint64_t cn_clock_date_ns(void);

#endif
