/* Histograms of durations.
 *
 * Durations are counted in buckets, 13 per doubling; bucket 0 contains the duration 0 alone.
 * Counts add up over calls, threads and runs. Percentiles: percentile.h.
 *
 * A zeroed cn_histogram is empty; it allocates memory for the doublings that occur, released
 * by cn_histogram_done(). Where every byte counts, callers keep the counters themselves
 * (analyze/cct/costs.h) and use the bucket functions.
 * Threads: one thread at a time for each histogram; everything else any thread.
 */
#ifndef CN_ANALYZE_DURATIONS_HISTOGRAM_H
#define CN_ANALYZE_DURATIONS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "model/contexts/bucket.h"

enum {
    CN_BUCKET_STEPS = 13, /* per doubling */
    CN_BUCKET_DOUBLINGS = 64,
    CN_BUCKET_COUNT = 1 + (CN_BUCKET_DOUBLINGS - 1) * CN_BUCKET_STEPS,
};

/* The last bucket contains these and all longer durations: they would round up to 2^63. */
#define CN_BUCKET_LIMIT_NS (UINT64_C(0x7ffffffffffffc00))

/* The step of a duration by the seven bits after its highest one. */
extern const uint8_t cn_bucket_steps[128];

/* A bucket as its doubling, 0 for the duration 0 alone, and its step there. */
struct cn_histogram_bucket {
    uint8_t doubling, step;
};

static inline struct cn_histogram_bucket cn_bucket_of(uint64_t ns)
{
    /* The exponent of a floating-point number is the position of the highest bit,
     * and its fraction starts with the bits after it. */
    double number = (double)(int64_t)ns;
    uint64_t bits;
    unsigned high;

    if (ns - 1 >= CN_BUCKET_LIMIT_NS - 1)
        return ns == 0 ? (struct cn_histogram_bucket){0, 0}
                       : (struct cn_histogram_bucket){CN_BUCKET_DOUBLINGS - 1,
                                                      CN_BUCKET_STEPS - 1};
    memcpy(&bits, &number, sizeof(bits));
    high = (unsigned)(bits >> 45);
    return (struct cn_histogram_bucket){(uint8_t)((high >> 7) - 1022),
                                        cn_bucket_steps[high & 127]};
}

/* Buckets are numbered in the order of their durations. */
static inline unsigned cn_bucket_number(struct cn_histogram_bucket bucket)
{
    return bucket.doubling == 0
               ? 0
               : 1 + (bucket.doubling - 1U) * CN_BUCKET_STEPS + bucket.step;
}

/* Buckets of a few nanoseconds may be empty, with high_ns below low_ns: no whole number lies
 * in them. */
struct cn_bucket_range cn_bucket_range(unsigned number);

/* The metrics of a database that contain the shortest and the longest duration. */
#define CN_LATENCY_MIN_NAME "min time (sec)"
#define CN_LATENCY_MAX_NAME "max time (sec)"

struct cn_bucket_calls {
    struct cn_bucket_range range;
    double calls; /* above 0 */
};

struct cn_histogram {
    uint64_t *doublings[CN_BUCKET_DOUBLINGS]; /* CN_BUCKET_STEPS counts each, or NULL */
};

void cn_histogram_add(struct cn_histogram *histogram, uint64_t ns);
void cn_histogram_merge(struct cn_histogram *into, const struct cn_histogram *from);
void cn_histogram_done(struct cn_histogram *histogram);

/* Write the buckets that have calls to `out`, in ascending order; returns how many. */
size_t cn_histogram_list(const struct cn_histogram *histogram,
                         struct cn_bucket_calls out[CN_BUCKET_COUNT]);

#endif
