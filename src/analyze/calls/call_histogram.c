/* Bucket i below 2 x STEPS holds the value i. From there on the bucket is the
 * position of the highest bit and the STEPS values of the five bits below it:
 *
 *     value 1 bbbbb xxxxx  ->  range = number of x + 1, step = bbbbb
 */

#include "analyze/calls/call_histogram.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { STEP_BITS = 5 };

static unsigned highest_bit(uint64_t value)
{
    unsigned bit = 0;

    for (unsigned width = 32; width > 0; width /= 2) {
        if (value >> width) {
            bit += width;
            value >>= width;
        }
    }
    return bit;
}

static unsigned bucket_of(uint64_t value)
{
    unsigned bit;

    if (value < CN_HISTOGRAM_STEPS)
        return (unsigned)value;
    bit = highest_bit(value);
    return (bit - STEP_BITS + 1) * CN_HISTOGRAM_STEPS +
           (unsigned)(value >> (bit - STEP_BITS)) % CN_HISTOGRAM_STEPS;
}

void cn_call_histogram_add(struct cn_call_histogram *histogram, uint64_t value)
{
    unsigned bucket = bucket_of(value);
    uint64_t **range = &histogram->ranges[bucket / CN_HISTOGRAM_STEPS];

    if (!*range)
        *range = cn_alloc(CN_HISTOGRAM_STEPS, sizeof(**range));
    (*range)[bucket % CN_HISTOGRAM_STEPS]++;
    histogram->count++;
}

void cn_call_histogram_merge(struct cn_call_histogram *into,
                             const struct cn_call_histogram *from)
{
    for (unsigned r = 0; r < CN_HISTOGRAM_RANGES; r++) {
        if (!from->ranges[r])
            continue;
        if (!into->ranges[r])
            into->ranges[r] = cn_alloc(CN_HISTOGRAM_STEPS, sizeof(*into->ranges[r]));
        for (unsigned i = 0; i < CN_HISTOGRAM_STEPS; i++)
            into->ranges[r][i] += from->ranges[r][i];
    }
    into->count += from->count;
}

void cn_call_histogram_done(struct cn_call_histogram *histogram)
{
    for (unsigned r = 0; r < CN_HISTOGRAM_RANGES; r++)
        free(histogram->ranges[r]);
    *histogram = (struct cn_call_histogram){0};
}

uint64_t cn_call_histogram_bucket(const struct cn_call_histogram *histogram, unsigned i,
                                  uint64_t *low, uint64_t *high)
{
    unsigned range = i / CN_HISTOGRAM_STEPS, step = i % CN_HISTOGRAM_STEPS;
    unsigned shift = range > 0 ? range - 1 : 0;

    *low = (uint64_t)(range > 0 ? CN_HISTOGRAM_STEPS + step : step) << shift;
    *high = *low + ((uint64_t)1 << shift) - 1;
    return histogram->ranges[range] ? histogram->ranges[range][step] : 0;
}

uint64_t cn_call_histogram_at(const struct cn_call_histogram *histogram, double fraction)
{
    uint64_t rest = (uint64_t)((double)histogram->count * fraction);
    uint64_t low = 0, high = 0;

    if (histogram->count == 0)
        return 0;
    if (rest >= histogram->count)
        rest = histogram->count - 1;
    for (unsigned i = 0; i < CN_HISTOGRAM_BUCKETS; i++) {
        uint64_t count = cn_call_histogram_bucket(histogram, i, &low, &high);

        if (rest < count)
            break;
        rest -= count;
    }
    return low + (high - low) / 2;
}
