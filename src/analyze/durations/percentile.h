/* Percentiles of durations: which there are, and how they are found.
 *
 * Of single durations they are exact. Of durations counted in buckets (histogram.h), a
 * percentile is the middle of its bucket in whole nanoseconds: it is off by 2.8 % at most, plus
 * half a nanosecond. It never lies outside the shortest and the longest duration; the first and
 * the last call in order, and so a single one, are exact.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_DURATIONS_PERCENTILE_H
#define CN_ANALYZE_DURATIONS_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_bucket_calls;
struct cn_histogram;

enum cn_percentile {
    CN_P50,
    CN_P90,
    CN_P99,
    CN_PERCENTILES_SHOWN, /* those above, unless asked for */
    CN_P999 = CN_PERCENTILES_SHOWN,
    CN_PERCENTILE_COUNT,
};

extern const char *const cn_percentile_names[CN_PERCENTILE_COUNT]; /* "p99.9" */
extern const double cn_percentile_fractions[CN_PERCENTILE_COUNT];  /* 0.999 */

/* The percentiles that are shown, of single durations, which are reordered. */
void cn_percentiles_select(uint64_t *durations, size_t count,
                           uint64_t out[CN_PERCENTILES_SHOWN]);

/* The duration that a fraction of the calls (0.99: p99) do not exceed; false without calls.
 * Buckets are in ascending order; min_ns and max_ns are the extremes, 0 and UINT64_MAX where
 * they are unknown. */
bool cn_percentile_of_buckets(const struct cn_bucket_calls *buckets, size_t count,
                              double fraction, uint64_t min_ns, uint64_t max_ns,
                              uint64_t *out_ns);

/* The same of the buckets of a histogram. */
bool cn_percentile_of_histogram(const struct cn_histogram *histogram, double fraction,
                                uint64_t min_ns, uint64_t max_ns, uint64_t *out_ns);

/* A duration of one call, with what the clock resolves (time_base.h; 0: everything): a shorter one,
 * except for 0, which is none, is that. */
static inline uint64_t cn_duration_resolved(uint64_t ns, uint64_t resolution_ns)
{
    return ns > 0 && ns < resolution_ns ? resolution_ns : ns;
}

/* Merge the buckets of durations that the clock does not tell apart into the first one; returns how
 * many are left. */
size_t cn_buckets_resolve(struct cn_bucket_calls *buckets, size_t count,
                          uint64_t resolution_ns);

#endif
