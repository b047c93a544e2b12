/* Buckets for durations: 13 for each doubling, so that the value a bucket stands for
 * is off by 2.8 % at most. Counts in buckets add up over calls, threads and runs.
 *
 * Buckets are numbered in the order of their values; 0 is for the duration 0. Those
 * of the smallest durations may be empty: no whole number lies in them.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_BUCKETS_H
#define CN_ANALYZE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

enum {
    CN_BUCKET_STEPS = 13, /* of a doubling */
    CN_BUCKET_COUNT = 1 + 63 * CN_BUCKET_STEPS,
};

/* The step of a duration by the seven bits behind its highest one. */
extern const uint8_t cn_bucket_steps[128];

/* A bucket as its doubling, 0 for the duration 0 alone, and its step there. */
struct cn_bucket {
    uint8_t doubling, step;
};

static inline struct cn_bucket cn_bucket_of(uint64_t ns)
{
    /* The exponent of a floating-point number is the position of the highest bit,
     * and its fraction starts with the bits behind it. */
    double number = (double)(int64_t)(ns & INT64_MAX);
    uint64_t bits;
    unsigned high;

    if (ns == 0)
        return (struct cn_bucket){0, 0};
    memcpy(&bits, &number, sizeof(bits));
    high = (unsigned)(bits >> 45);
    return (struct cn_bucket){(uint8_t)((high >> 7) - 1022), cn_bucket_steps[high & 127]};
}

static inline unsigned cn_bucket_number(struct cn_bucket bucket)
{
    return bucket.doubling == 0
               ? 0
               : 1 + (bucket.doubling - 1U) * CN_BUCKET_STEPS + bucket.step;
}

/* Durations low..high, both inclusive; high is below low in an empty bucket. */
struct cn_bucket_range {
    uint64_t low_ns, high_ns;
};
struct cn_bucket_range cn_bucket_range(unsigned bucket);

/* The duration in a range that is nearest to all others, relatively. */
double cn_bucket_middle(struct cn_bucket_range range);

/* How the metric of a bucket is called, and what such a name means: "latency 96..101
 * ns". */
enum { CN_BUCKET_NAME_MAX = 64 };
void cn_bucket_name_print(struct cn_bucket_range range, char name[CN_BUCKET_NAME_MAX]);
bool cn_bucket_name_parse(const char *name, struct cn_bucket_range *out);

#endif
