/* What time it is, in nanoseconds.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_CLOCK_H
#define CN_BASE_RUN_CLOCK_H

#include <stdint.h>

/* Since some moment in the past; never set back: for measuring how long things take. */
uint64_t cn_clock_ns(void);

/* Since the epoch, as the machine is set. */
uint64_t cn_clock_date_ns(void);

#endif
