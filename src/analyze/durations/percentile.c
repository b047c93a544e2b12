#include "analyze/durations/percentile.h"

#include <math.h>

#include "analyze/durations/histogram.h"
#include "base/select.h"

const char *const cn_percentile_names[CN_PERCENTILE_COUNT] = {
    [CN_P50] = "p50", [CN_P90] = "p90", [CN_P99] = "p99", [CN_P999] = "p99.9"};
const double cn_percentile_fractions[CN_PERCENTILE_COUNT] = {
    [CN_P50] = 0.5, [CN_P90] = 0.9, [CN_P99] = 0.99, [CN_P999] = 0.999};

static bool is_shorter(const void *durations, size_t a, size_t b)
{
    const uint64_t *list = durations;

    return list[a] < list[b];
}

static void swap(void *durations, size_t a, size_t b)
{
    uint64_t *list = durations, saved = list[a];

    list[a] = list[b];
    list[b] = saved;
}

void cn_percentiles_select(uint64_t *durations, size_t count,
                           uint64_t out[CN_PERCENTILES_SHOWN])
{
    static const unsigned percents[CN_PERCENTILES_SHOWN] = {
        [CN_P50] = 50, [CN_P90] = 90, [CN_P99] = 99};
    size_t done = 0;

    /* No duration before the index of a percentile is longer: the next one is after it. */
    for (unsigned i = 0; i < CN_PERCENTILES_SHOWN && count > 0; i++) {
        size_t at = (count * percents[i] + 99) / 100 - 1;

        cn_select(durations + done, count - done, at - done, is_shorter, swap);
        out[i] = durations[at];
        done = at;
    }
}

/* The duration in a range that is nearest to all others, relatively. */
static uint64_t middle(struct cn_bucket_range range)
{
    double low = (double)range.low_ns, high = (double)range.high_ns;
    double value = low + high > 0 ? 2 * low * high / (low + high) + 0.5 : 0;

    if (value <= low)
        return range.low_ns;
    return value < high ? (uint64_t)value : range.high_ns;
}

bool cn_percentile_of_buckets(const struct cn_bucket_calls *buckets, size_t count,
                              double fraction, uint64_t min_ns, uint64_t max_ns,
                              uint64_t *out_ns)
{
    double total = 0, rank, rest;
    size_t i = 0;

    for (size_t k = 0; k < count; k++)
        total += buckets[k].calls;
    if (!(total > 0))
        return false;
    rest = rank = fmax(ceil(total * fraction), 1);
    while (i + 1 < count && rest > buckets[i].calls)
        rest -= buckets[i++].calls;
    struct cn_bucket_range range = buckets[i].range;
    bool has_min = min_ns >= range.low_ns && min_ns <= range.high_ns;
    bool has_max = max_ns >= range.low_ns && max_ns <= range.high_ns;
    if (has_min)
        range.low_ns = min_ns;
    if (has_max)
        range.high_ns = max_ns;
    if (has_max && rank >= total)
        range.low_ns = max_ns;
    else if (has_min && rank <= 1)
        range.high_ns = min_ns;
    *out_ns = middle(range);
    if (*out_ns < min_ns)
        *out_ns = min_ns;
    if (*out_ns > max_ns)
        *out_ns = max_ns;
    return true;
}

size_t cn_buckets_resolve(struct cn_bucket_calls *buckets, size_t count,
                          uint64_t resolution_ns)
{
    size_t merged = 0, kept = 1;
    double calls = 0;

    while (merged < count && buckets[merged].range.low_ns < resolution_ns)
        calls += buckets[merged++].calls;
    if (merged == 0)
        return count;
    buckets[0].calls = calls;
    buckets[0].range = (struct cn_bucket_range){0, buckets[merged - 1].range.high_ns};
    if (buckets[0].range.high_ns + 1 < resolution_ns)
        buckets[0].range.high_ns = resolution_ns - 1;
    while (merged < count)
        buckets[kept++] = buckets[merged++];
    return kept;
}

bool cn_percentile_of_histogram(const struct cn_histogram *histogram, double fraction,
                                uint64_t min_ns, uint64_t max_ns, uint64_t *out_ns)
{
    struct cn_bucket_calls buckets[CN_BUCKET_COUNT];
    size_t count = cn_histogram_list(histogram, buckets);

    return cn_percentile_of_buckets(buckets, count, fraction, min_ns, max_ns, out_ns);
}
