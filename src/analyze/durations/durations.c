#include "analyze/durations/durations.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { STEPS = 1 << CN_DURATION_BITS };

struct durations_bucket {
    unsigned doubling, step;
};

static struct durations_bucket bucket_of(uint64_t ns)
{
    if (ns < STEPS)
        return (struct durations_bucket){0, (unsigned)ns};
    unsigned shift = 63 - CN_DURATION_BITS - (unsigned)__builtin_clzll(ns);
    return (struct durations_bucket){shift + 1, (unsigned)(ns >> shift) & (STEPS - 1)};
}

static struct cn_duration_range range_of(unsigned doubling, unsigned step)
{
    unsigned shift = doubling > 0 ? doubling - 1 : 0;
    uint64_t low = ((doubling > 0 ? (uint64_t)STEPS : 0) | step) << shift;

    return (struct cn_duration_range){low, low + ((UINT64_C(1) << shift) - 1)};
}

void cn_durations_add(struct cn_durations *durations, uint64_t ns)
{
    struct durations_bucket bucket = bucket_of(ns);

    if (!durations->doublings[bucket.doubling])
        durations->doublings[bucket.doubling] = cn_alloc(STEPS, sizeof(uint64_t));
    durations->doublings[bucket.doubling][bucket.step]++;
    durations->count++;
}

void cn_durations_merge(struct cn_durations *into, const struct cn_durations *from)
{
    into->count += from->count;
    for (size_t i = 0; i < CN_DURATION_DOUBLINGS; i++) {
        if (!from->doublings[i])
            continue;
        if (!into->doublings[i])
            into->doublings[i] = cn_alloc(STEPS, sizeof(uint64_t));
        for (size_t k = 0; k < STEPS; k++)
            into->doublings[i][k] += from->doublings[i][k];
    }
}

void cn_durations_done(struct cn_durations *durations)
{
    for (size_t i = 0; i < CN_DURATION_DOUBLINGS; i++)
        free(durations->doublings[i]);
    *durations = (struct cn_durations){0};
}

struct cn_duration_range cn_durations_at(const struct cn_durations *durations,
                                         uint64_t rank)
{
    assert(rank < durations->count);
    for (unsigned i = 0; i < CN_DURATION_DOUBLINGS; i++) {
        for (unsigned k = 0; durations->doublings[i] && k < STEPS; k++) {
            uint64_t count = durations->doublings[i][k];

            if (rank < count)
                return range_of(i, k);
            rank -= count;
        }
    }
    return (struct cn_duration_range){0};
}

uint64_t cn_durations_from(const struct cn_durations *durations, uint64_t low_ns)
{
    struct durations_bucket first = bucket_of(low_ns);
    uint64_t count = 0;

    for (unsigned i = first.doubling; i < CN_DURATION_DOUBLINGS; i++)
        for (unsigned k = i == first.doubling ? first.step : 0;
             durations->doublings[i] && k < STEPS; k++)
            count += durations->doublings[i][k];
    return count;
}
