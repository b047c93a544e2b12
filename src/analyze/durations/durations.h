/* Durations of calls, counted finely: exactly below 8192 ns, to 1/4096 above.
 *
 * A zeroed cn_durations is empty; it allocates memory for the doublings that occur, released
 * by cn_durations_done(). Percentiles for people come from analyze/durations/histogram.h, which is
 * smaller; these buckets choose the slowest 1 % of calls where most are alike.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_DURATIONS_DURATIONS_H
#define CN_ANALYZE_DURATIONS_DURATIONS_H

#include <stdint.h>

enum { CN_DURATION_BITS = 12, CN_DURATION_DOUBLINGS = 64 - CN_DURATION_BITS + 1 };

struct cn_durations {
    uint64_t *doublings[CN_DURATION_DOUBLINGS]; /* 4096 counts each, or NULL */
    uint64_t count;
};

/* The durations of a bucket. */
struct cn_duration_range {
    uint64_t low_ns, high_ns;
};

void cn_durations_add(struct cn_durations *durations, uint64_t ns);
void cn_durations_merge(struct cn_durations *into, const struct cn_durations *from);
void cn_durations_done(struct cn_durations *durations);

/* The bucket of the call at `rank`, from 0 for the shortest; `rank` is below the count. */
struct cn_duration_range cn_durations_at(const struct cn_durations *durations,
                                         uint64_t rank);

/* The number of calls that take as long as `range` or longer. */
uint64_t cn_durations_from(const struct cn_durations *durations, uint64_t low_ns);

#endif
