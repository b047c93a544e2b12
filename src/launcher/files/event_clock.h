/* Converts the kernel's times (CLOCK_MONOTONIC) to the clock of a recording.
 *
 * The two run at slightly different rates, and the kernel adjusts its own while the
 * program runs. Add a pair of readings before events are written: times are converted by
 * the line through the last two pairs, which may be extended in both directions.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_EVENT_CLOCK_H
#define CN_LAUNCHER_FILES_EVENT_CLOCK_H

#include <stdint.h>

#include "base/bytes/bytes.h"

/* Both clocks, read at the same time. */
struct cn_clock_pair {
    uint64_t kernel_ns, recorded_ns;
};

struct cn_event_clock {
    struct cn_clock_pair first, last;
    uint32_t count; /* pairs in use: 0 to 2 */
};

/* Pairs that are close together are dropped: the line through them would be too steep. */
void cn_event_clock_add(struct cn_event_clock *clock, struct cn_clock_pair pair);

/* Unchanged as long as there is no pair. */
uint64_t cn_event_clock_convert(const struct cn_event_clock *clock, uint64_t kernel_ns);

/* Convert the times of whole records of the kernel's ring, in this machine's byte order.
 * Stops at a record whose size is wrong. */
void cn_event_clock_convert_records(const struct cn_event_clock *clock, uint8_t *records,
                                    uint64_t len);

#endif
