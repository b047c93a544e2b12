#include "analyze/cct/cct_costs.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { NEAR_FULL = 256 };

void cn_cct_costs_done(struct cn_cct_costs *costs)
{
    free(costs->list);
    free(costs->lines);
    *costs = (struct cn_cct_costs){0};
}

void cn_cct_costs_trim(struct cn_cct_costs *costs)
{
    if (costs->count > 0)
        costs->list = cn_realloc(costs->list, costs->count, sizeof(*costs->list));
    if (costs->line_count > 0)
        costs->lines = cn_realloc(costs->lines, costs->line_count, sizeof(*costs->lines));
    costs->capacity = costs->count;
    costs->line_capacity = costs->line_count;
}

void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node)
{
    while (costs->count <= node) {
        costs->list =
            cn_grow(costs->list, costs->count, &costs->capacity, sizeof(*costs->list));
        costs->list[costs->count++] = (struct cn_cct_cost){
            .min_ns = UINT64_MAX, .near.doubling = CN_CCT_NO_DOUBLING};
    }
}

static bool has_room(const struct cn_cct_line *line, struct cn_bucket bucket,
                     uint32_t calls)
{
    return line->doubling == bucket.doubling &&
           line->calls[bucket.step] <= UINT32_MAX - calls;
}

/* The line of a node that can take so many calls of a bucket; it becomes the first
 * one. */
static struct cn_cct_line *find_line(struct cn_cct_costs *costs, cn_cct_id node,
                                     struct cn_bucket bucket, uint32_t calls)
{
    uint32_t first = costs->list[node].line, before = 0, at = first;

    while (at != 0 && !has_room(&costs->lines[at], bucket, calls)) {
        before = at;
        at = costs->lines[at].next;
    }
    if (at == 0) {
        if (costs->line_count == 0)
            costs->line_count = 1; /* 0 means none */
        at = (uint32_t)costs->line_count;
        costs->lines = cn_grow(costs->lines, costs->line_count, &costs->line_capacity,
                               sizeof(*costs->lines));
        costs->lines[costs->line_count++] =
            (struct cn_cct_line){.doubling = bucket.doubling};
    } else if (before != 0) {
        costs->lines[before].next = costs->lines[at].next;
    }
    if (at != first)
        costs->lines[at].next = first;
    costs->list[node].line = at;
    return &costs->lines[at];
}

static void add_to_line(struct cn_cct_costs *costs, cn_cct_id node,
                        struct cn_bucket bucket, uint32_t calls)
{
    find_line(costs, node, bucket, calls)->calls[bucket.step] += calls;
}

static struct cn_bucket near_bucket(const struct cn_cct_near *near, unsigned i)
{
    return (struct cn_bucket){(uint8_t)(near->doubling + i / CN_BUCKET_STEPS),
                              (uint8_t)(i % CN_BUCKET_STEPS)};
}

/* From now on the durations around this bucket are the usual ones. */
static void move_near(struct cn_cct_costs *costs, cn_cct_id node, struct cn_bucket bucket)
{
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned below = bucket.doubling > 0 ? 1 : 0;

    for (unsigned i = 0; i < sizeof(near->calls); i++) {
        if (near->calls[i] > 0)
            add_to_line(costs, node, near_bucket(near, i), near->calls[i]);
        near->calls[i] = 0;
    }
    near->doubling = (uint8_t)(bucket.doubling - below);
    near->calls[below * CN_BUCKET_STEPS + bucket.step] = 1;
}

void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_bucket bucket)
{
    enum { MOVE_EARLY = 2, MOVE_LATE = 64 };
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned distance = (unsigned)bucket.doubling - near->doubling;

    /* The first call says little, nothing was in the caches then; the third one
     * more. */
    if (distance < CN_CCT_NEAR_DOUBLINGS)
        add_to_line(costs, node, bucket, NEAR_FULL);
    else if (near->doubling == CN_CCT_NO_DOUBLING || ++near->far_calls == MOVE_EARLY ||
             near->far_calls == MOVE_LATE)
        move_near(costs, node, bucket);
    else
        add_to_line(costs, node, bucket, 1);
}

/* Several calls of a bucket; fewer than twice what is full. */
static void join_near(struct cn_cct_costs *costs, cn_cct_id node, struct cn_bucket bucket,
                      uint32_t calls)
{
    struct cn_cct_near *near = &costs->list[node].near;
    unsigned distance = (unsigned)bucket.doubling - near->doubling;
    uint8_t *counter;
    uint32_t sum;

    if (distance >= CN_CCT_NEAR_DOUBLINGS) {
        add_to_line(costs, node, bucket, calls);
        return;
    }
    counter = &near->calls[distance * CN_BUCKET_STEPS + bucket.step];
    sum = *counter + calls;
    *counter = (uint8_t)sum;
    if (sum >= NEAR_FULL)
        add_to_line(costs, node, bucket, NEAR_FULL);
}

void cn_cct_costs_join(struct cn_cct_costs *costs, cn_cct_id node,
                       const struct cn_cct_costs *from, cn_cct_id from_node)
{
    struct cn_cct_cost other = cn_cct_costs_at(from, from_node);
    struct cn_cct_cost *cost;

    if (from_node >= from->count)
        return;
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    cost = &costs->list[node];
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
    for (uint32_t at = other.line; at != 0; at = from->lines[at].next) {
        struct cn_bucket bucket = {.doubling = from->lines[at].doubling};

        for (; bucket.step < CN_BUCKET_STEPS; bucket.step++)
            if (from->lines[at].calls[bucket.step] > 0)
                add_to_line(costs, node, bucket, from->lines[at].calls[bucket.step]);
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
    for (uint32_t at = cost.line; at != 0; at = costs->lines[at].next)
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            calls += costs->lines[at].calls[i];
    return calls;
}

static uint64_t add_bucket(struct cn_cct_buckets *out, unsigned doubling, unsigned step,
                           uint32_t calls)
{
    unsigned number =
        cn_bucket_number((struct cn_bucket){(uint8_t)doubling, (uint8_t)step});

    out->calls[number] += calls;
    out->used[number / 64] |= UINT64_C(1) << number % 64;
    return calls;
}

static uint64_t add_near(const struct cn_cct_near *near, struct cn_cct_buckets *out)
{
    uint64_t calls = 0;

    for (unsigned i = 0; i < sizeof(near->calls); i++)
        if (near->calls[i] > 0)
            calls += add_bucket(out, near->doubling + i / CN_BUCKET_STEPS,
                                i % CN_BUCKET_STEPS, near->calls[i]);
    return calls;
}

uint64_t cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                              struct cn_cct_buckets *out)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);
    uint64_t calls = add_near(&cost.near, out);

    for (uint32_t at = cost.line; at != 0; at = costs->lines[at].next)
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            if (costs->lines[at].calls[i] > 0)
                calls += add_bucket(out, costs->lines[at].doubling, i,
                                    costs->lines[at].calls[i]);
    return calls;
}
