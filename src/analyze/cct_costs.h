/* What the nodes of one task's calling context tree cost: calls, time, and how durations are
 * distributed.
 *
 * A zeroed one is ready for use. Nodes without costs need no place: look them up with
 * cn_cct_costs_at().
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_COSTS_H
#define CN_ANALYZE_CCT_COSTS_H

#include "analyze/buckets.h"
#include "analyze/cct.h"

/* Most calls of a node fall into a few buckets: one is kept here, ten more in each line. */
struct cn_cct_cost {
    uint64_t calls;
    uint64_t self_ns;
    uint64_t min_ns, max_ns; /* of whole calls */
    uint32_t line;           /* 0: none */
    uint32_t bucket_calls;   /* 0: no call had a duration */
    uint16_t bucket;
};

enum { CN_CCT_LINE_BUCKETS = 10 };

struct cn_cct_line {
    uint32_t calls[CN_CCT_LINE_BUCKETS]; /* 0: free, and so are those behind it */
    uint16_t buckets[CN_CCT_LINE_BUCKETS];
    uint32_t next; /* 0: none */
};

struct cn_cct_costs {
    struct cn_cct_cost *list; /* by node */
    size_t count, capacity;
    struct cn_cct_line *lines; /* from 1 on */
    size_t line_count, line_capacity;
};

void cn_cct_costs_done(struct cn_cct_costs *costs);

/* Make room for a node; cn_cct_costs_add*() do it themselves. */
void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node);

/* Count a duration that is not in the node's first bucket. */
void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node, unsigned bucket);

/* Time that belongs to a node but is no call of it. */
static inline void cn_cct_costs_add_time(struct cn_cct_costs *costs, cn_cct_id node,
                                         uint64_t self_ns)
{
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    costs->list[node].self_ns += self_ns;
}

/* A call whose duration is not known. */
static inline void cn_cct_costs_add_call(struct cn_cct_costs *costs, cn_cct_id node)
{
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    costs->list[node].calls++;
}

/* A call that took `total_ns`, of which `self_ns` in the function itself. */
static inline void cn_cct_costs_add(struct cn_cct_costs *costs, cn_cct_id node,
                                    uint64_t total_ns, uint64_t self_ns)
{
    unsigned bucket = cn_bucket_of(total_ns);
    struct cn_cct_cost *cost;

    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    cost = &costs->list[node];
    cost->calls++;
    cost->self_ns += self_ns;
    if (total_ns < cost->min_ns)
        cost->min_ns = total_ns;
    if (total_ns > cost->max_ns)
        cost->max_ns = total_ns;
    if (cost->bucket == bucket && cost->bucket_calls - 1 < UINT32_MAX - 1)
        cost->bucket_calls++;
    else
        cn_cct_costs_add_far(costs, node, bucket);
}

/* The costs of a node; all zero when it has none. */
struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node);

/* Add the calls of a node, by bucket, to `calls`; sets bits of buckets in `used`. */
struct cn_bucket_calls {
    uint64_t calls[CN_BUCKET_COUNT];
    uint64_t used[CN_BUCKET_COUNT / 64 + 1];
};
void cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_bucket_calls *out);

#endif
