#include "analyze/why/times.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

enum { PERIODS_MIN = 8 };      /* fewer intervals show no period */
#define CLUSTER_SHARE_MAX 0.2  /* of typical calls in a cluster */
#define CHANCE_MAX        0.01 /* of a cluster where there is none */
#define PERIOD_SPREAD_MAX 0.15 /* of intervals around their median */
#define FIRST_SHARE_MAX   0.02 /* of typical calls before the first cluster */

/* The share of the typical calls that begin before a time. */
static double share_before(const struct cn_why_calls *typical, uint64_t time_ns)
{
    if (typical->sample_count == 0)
        return 0;
    size_t before =
        cn_search_below_u64(&typical->samples->begin_ns, typical->sample_count,
                            sizeof(*typical->samples), time_ns);
    return (double)before / (double)typical->sample_count;
}

/* The logarithm of the probability that a window of this share of the typical calls has so
 * many of `n` slow calls somewhere: a bound of the binomial tail (Chernoff), times the number
 * of windows. */
static double log_chance(double n, double hits, double share)
{
    double rate = hits / n;
    double bound = rate * log(rate / share);

    if (rate < 1)
        bound += (1 - rate) * log((1 - rate) / (1 - share));
    return log(n / share) - n * bound;
}

/* The share of the typical calls that begin from slow call `first` to `last`, both included. */
static double share_within(const struct cn_why *why, size_t first, size_t last)
{
    const struct cn_why_call *slow = why->groups[CN_WHY_SLOW].samples;
    const struct cn_why_calls *typical = &why->groups[CN_WHY_TYPICAL];

    return share_before(typical, slow[last].begin_ns + 1) -
           share_before(typical, slow[first].begin_ns);
}

static void find_cluster(struct cn_why_cluster *cluster, const struct cn_why *why)
{
    const struct cn_why_calls *slow = &why->groups[CN_WHY_SLOW];
    const struct cn_why_calls *typical = &why->groups[CN_WHY_TYPICAL];
    size_t wanted = (slow->sample_count + 1) / 2, best = 0, end;
    double best_share = 2, share, least = 1 / (double)(typical->sample_count + 1);

    for (size_t i = 0; i + wanted <= slow->sample_count; i++) {
        share = share_within(why, i, i + wanted - 1);
        if (share < best_share) {
            best_share = share;
            best = i;
        }
    }
    /* Neighbours that do not make it less dense belong to it. */
    end = best + wanted - 1;
    while (end + 1 < slow->sample_count &&
           share_within(why, end, end + 1) * (double)wanted <= 2 * best_share)
        end++;
    while (best > 0 &&
           share_within(why, best - 1, best) * (double)wanted <= 2 * best_share)
        best--;
    share = share_within(why, best, end);
    if (share > CLUSTER_SHARE_MAX ||
        log_chance((double)slow->sample_count, (double)(end - best + 1),
                   share > least ? share : least) >= log(CHANCE_MAX))
        return;
    *cluster = (struct cn_why_cluster){
        .begin_ns = slow->samples[best].begin_ns,
        .end_ns = slow->samples[end].end_ns,
        .slow = end - best + 1,
        .typical_share = share,
        .is_first =
            share_before(typical, slow->samples[best].begin_ns) <= FIRST_SHARE_MAX,
    };
}

/* The median of the intervals if most of them are close to it. */
static uint64_t find_period(const struct cn_why_calls *slow)
{
    size_t count = slow->sample_count - 1;
    uint64_t *intervals = cn_alloc(count, sizeof(*intervals)), low, middle, high;

    for (size_t i = 0; i < count; i++)
        intervals[i] = slow->samples[i + 1].begin_ns - slow->samples[i].begin_ns;
    CN_SORT_VALUES(intervals, count);
    low = intervals[count / 5];
    middle = intervals[count / 2];
    high = intervals[count - 1 - count / 5];
    free(intervals);
    return (double)(high - low) <= PERIOD_SPREAD_MAX * (double)middle ? middle : 0;
}

/* Calls that begin before the latest end so far of other tasks, and those that end so. */
static uint64_t count_overlaps(const struct cn_why_calls *slow)
{
    bool *overlaps = cn_alloc(slow->sample_count, sizeof(*overlaps));
    uint64_t count = 0;
    size_t last = 0; /* the call that ends last of those before */

    for (size_t i = 1; i < slow->sample_count; i++) {
        const struct cn_why_call *call = &slow->samples[i];

        if (slow->samples[last].end_ns > call->begin_ns &&
            slow->samples[last].task != call->task)
            overlaps[i] = overlaps[last] = true;
        if (call->end_ns > slow->samples[last].end_ns)
            last = i;
    }
    for (size_t i = 0; i < slow->sample_count; i++)
        count += overlaps[i];
    free(overlaps);
    return count;
}

void cn_why_times_find(struct cn_why_times *times, const struct cn_why *why)
{
    const struct cn_why_calls *slow = &why->groups[CN_WHY_SLOW];

    *times = (struct cn_why_times){0};
    if (slow->sample_count < CN_WHY_SLOW_MIN ||
        why->groups[CN_WHY_TYPICAL].sample_count == 0)
        return;
    find_cluster(&times->cluster, why);
    /* A sample has no neighbours. */
    if (slow->sample_count == slow->count) {
        times->overlapping = count_overlaps(slow);
        if (slow->count > PERIODS_MIN && times->cluster.slow == 0)
            times->period_ns = find_period(slow);
    }
}
