/* Random distances between samples: exponentially distributed, so that each byte is sampled with the
 * same probability, whatever was sampled before.
 * Threads: any thread.
 */
#ifndef CN_SAMPLER_INSIDE_GAP_H
#define CN_SAMPLER_INSIDE_GAP_H

#include <stdint.h>

/* -ln(x / 2^53) for x from 1 to 2^53: the library needs no libm. */
static inline double cn_gap_log(uint64_t x)
{
    const double ln2 = 0.69314718055994530942;
    unsigned bits = 63 - (unsigned)__builtin_clzll(x);
    double part = (double)x / (double)(UINT64_C(1) << bits); /* from 1 to 2 */
    double z = (part - 1) / (part + 1), square = z * z, sum = 0, power = z;

    for (int k = 1; k < 40; k += 2) {
        sum += power / k;
        power *= square;
    }
    return (53 - (double)bits) * ln2 - 2 * sum;
}

static inline uint64_t cn_gap_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* Bytes until the next sample, `interval` in the mean. `state` is not 0. */
static inline int64_t cn_gap_next(uint64_t *state, uint64_t interval)
{
    double gap = (double)interval * cn_gap_log((cn_gap_random(state) >> 11) + 1);

    return gap < 1e18 ? (int64_t)gap + 1 : INT64_C(1000000000000000000);
}

#endif
