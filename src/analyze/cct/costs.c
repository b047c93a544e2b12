#include "analyze/cct/costs.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { NEAR_FULL = 256 };

void cn_cct_costs_done(struct cn_cct_costs *costs)
{
    free(costs->list);
    free(costs->overflows);
    *costs = (struct cn_cct_costs){0};
}

void cn_cct_costs_trim(struct cn_cct_costs *costs)
{
    if (costs->count > 0)
        costs->list = cn_realloc(costs->list, costs->count, sizeof(*costs->list));
    if (costs->overflow_count > 0)
        costs->overflows = cn_realloc(costs->overflows, costs->overflow_count,
                                      sizeof(*costs->overflows));
    costs->capacity = costs->count;
    costs->overflow_capacity = costs->overflow_count;
}

void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node)
{
    while (costs->count <= node) {
        CN_PUSH(costs->list, costs->count, costs->capacity,
                (struct cn_cct_cost){.min_ns = UINT64_MAX,
                                     .near.doubling = CN_CCT_NO_DOUBLING});
    }
}

/* Add calls to the overflow counters of a node; the struct becomes the first of its list. */
static void add_overflow(struct cn_cct_costs *costs, cn_cct_id node,
                         struct cn_histogram_bucket bucket, uint32_t calls)
{
    uint32_t first = costs->list[node].overflow, before = 0, at = first;

    while (at != 0 && (costs->overflows[at].doubling != bucket.doubling ||
                       costs->overflows[at].calls[bucket.step] > UINT32_MAX - calls)) {
        before = at;
        at = costs->overflows[at].next;
    }
    if (at == 0) {
        if (costs->overflow_count == 0)
            costs->overflow_count = 1; /* 0 means none */
        at = (uint32_t)costs->overflow_count;
        CN_PUSH(costs->overflows, costs->overflow_count, costs->overflow_capacity,
                (struct cn_cct_overflow){.doubling = bucket.doubling});
    } else if (before != 0) {
        costs->overflows[before].next = costs->overflows[at].next;
    }
    if (at != first)
        costs->overflows[at].next = first;
    costs->list[node].overflow = at;
    costs->overflows[at].calls[bucket.step] += calls;
}

static struct cn_histogram_bucket near_bucket(const struct cn_cct_near *near, unsigned i)
{
    return (struct cn_histogram_bucket){(uint8_t)(near->doubling + i / CN_BUCKET_STEPS),
                                        (uint8_t)(i % CN_BUCKET_STEPS)};
}

/* Make the durations around this bucket the usual ones. */
static void move_near(struct cn_cct_costs *costs, cn_cct_id node,
                      struct cn_histogram_bucket bucket)
{
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned below = bucket.doubling > 0 ? 1 : 0;

    for (unsigned i = 0; i < sizeof(near->calls); i++) {
        if (near->calls[i] > 0)
            add_overflow(costs, node, near_bucket(near, i), near->calls[i]);
        near->calls[i] = 0;
    }
    near->doubling = (uint8_t)(bucket.doubling - below);
    near->calls[below * CN_BUCKET_STEPS + bucket.step] = 1;
}

void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_histogram_bucket bucket)
{
    enum { MOVE_EARLY = 2, MOVE_LATE = 64 };
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned distance = (unsigned)bucket.doubling - near->doubling;

    /* The first call is often slow, because caches are cold; later ones are typical. */
    if (distance < CN_CCT_NEAR_DOUBLINGS)
        add_overflow(costs, node, bucket, NEAR_FULL);
    else if (near->doubling == CN_CCT_NO_DOUBLING || ++near->far_calls == MOVE_EARLY ||
             near->far_calls == MOVE_LATE)
        move_near(costs, node, bucket);
    else
        add_overflow(costs, node, bucket, 1);
}

/* Add several calls of a bucket; at most 255. */
static void join_near(struct cn_cct_costs *costs, cn_cct_id node,
                      struct cn_histogram_bucket bucket, uint32_t calls)
{
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned distance = (unsigned)bucket.doubling - near->doubling;
    uint8_t *counter;

    if (distance >= CN_CCT_NEAR_DOUBLINGS) {
        add_overflow(costs, node, bucket, calls);
        return;
    }
    counter = &near->calls[distance * CN_BUCKET_STEPS + bucket.step];
    uint32_t sum = *counter + calls;
    *counter = (uint8_t)sum;
    if (sum >= NEAR_FULL)
        add_overflow(costs, node, bucket, NEAR_FULL);
}

void cn_cct_costs_join(struct cn_cct_costs *costs, cn_cct_id node,
                       const struct cn_cct_costs *from, cn_cct_id from_node)
{
    struct cn_cct_cost other = cn_cct_costs_at(from, from_node);

    if (from_node >= from->count)
        return;
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    struct cn_cct_cost *cost = &costs->list[node];
    cost->self_ns += other.self_ns;
    cost->untimed_calls += other.untimed_calls;
    cost->min_ns = other.min_ns < cost->min_ns ? other.min_ns : cost->min_ns;
    cost->max_ns = other.max_ns > cost->max_ns ? other.max_ns : cost->max_ns;
    if (cost->near.doubling == CN_CCT_NO_DOUBLING) {
        cost->near = other.near;
    } else {
        for (unsigned i = 0; i < sizeof(other.near.calls); i++)
            if (other.near.calls[i] > 0)
                join_near(costs, node, near_bucket(&other.near, i), other.near.calls[i]);
    }
    for (uint32_t at = other.overflow; at != 0; at = from->overflows[at].next) {
        struct cn_histogram_bucket bucket = {.doubling = from->overflows[at].doubling};

        for (; bucket.step < CN_BUCKET_STEPS; bucket.step++)
            if (from->overflows[at].calls[bucket.step] > 0)
                add_overflow(costs, node, bucket, from->overflows[at].calls[bucket.step]);
    }
}

struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node)
{
    return node < costs->count ? costs->list[node] : (struct cn_cct_cost){0};
}

uint64_t cn_cct_costs_calls(const struct cn_cct_costs *costs, cn_cct_id node)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);
    uint64_t calls = cost.untimed_calls;

    for (size_t i = 0; i < sizeof(cost.near.calls); i++)
        calls += cost.near.calls[i];
    for (uint32_t at = cost.overflow; at != 0; at = costs->overflows[at].next)
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            calls += costs->overflows[at].calls[i];
    return calls;
}

static uint64_t add_bucket(struct cn_cct_buckets *out, struct cn_histogram_bucket bucket,
                           uint32_t calls)
{
    unsigned number = cn_bucket_number(bucket);

    out->calls[number] += calls;
    out->used[number / 64] |= UINT64_C(1) << number % 64;
    return calls;
}

uint64_t cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                              struct cn_cct_buckets *out)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);
    uint64_t calls = 0;

    for (unsigned i = 0; i < sizeof(cost.near.calls); i++)
        if (cost.near.calls[i] > 0)
            calls += add_bucket(out, near_bucket(&cost.near, i), cost.near.calls[i]);
    for (uint32_t at = cost.overflow; at != 0; at = costs->overflows[at].next)
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            if (costs->overflows[at].calls[i] > 0)
                calls += add_bucket(out,
                                    (struct cn_histogram_bucket){
                                        costs->overflows[at].doubling, (uint8_t)i},
                                    costs->overflows[at].calls[i]);
    return calls;
}
