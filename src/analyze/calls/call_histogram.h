/* How durations are distributed: counts in logarithmic buckets, 32 for each
 * doubling, so that a percentile is off by 1.6 % at most. Histograms merge by
 * addition.
 *
 * A zeroed histogram is ready for use; memory is taken for the doublings that occur.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_CALL_HISTOGRAM_H
#define CN_ANALYZE_CALLS_CALL_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CN_HISTOGRAM_STEPS = 32, /* buckets of a doubling */
    CN_HISTOGRAM_RANGES = 60,
    CN_HISTOGRAM_BUCKETS = CN_HISTOGRAM_STEPS * CN_HISTOGRAM_RANGES,
};

struct cn_call_histogram {
    uint64_t *ranges[CN_HISTOGRAM_RANGES]; /* NULL: nothing there */
    uint64_t count;
};

void cn_call_histogram_add(struct cn_call_histogram *histogram, uint64_t value);
void cn_call_histogram_merge(struct cn_call_histogram *into,
                             const struct cn_call_histogram *from);
void cn_call_histogram_done(struct cn_call_histogram *histogram);

/* The value below which `fraction` of all lie; 0 when there are none. */
uint64_t cn_call_histogram_at(const struct cn_call_histogram *histogram, double fraction);

/* Bucket `i`: values from *low to *high, and how many there are. */
uint64_t cn_call_histogram_bucket(const struct cn_call_histogram *histogram, unsigned i,
                                  uint64_t *low, uint64_t *high);

#endif
