/* Costs of the nodes of one task's calling context tree: calls, self time, and a histogram
 * of durations.
 *
 * Zeroed costs are empty. Nodes after the last one with costs have no entry; read them with
 * cn_cct_costs_at().
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_COSTS_H
#define CN_ANALYZE_CCT_COSTS_H

#include "analyze/durations/histogram.h"

typedef uint32_t cn_cct_id; /* of a node of a calling context tree */

/* Calls of the usual durations are counted in the node's entry, in bytes that nearly every
 * call touches anyway. All others, and the carries of the bytes, are counted in overflow
 * counters: one struct for each doubling that occurs. */
enum { CN_CCT_NEAR_DOUBLINGS = 4, CN_CCT_NO_DOUBLING = 255 };

struct cn_cct_near {
    uint8_t doubling;  /* the lowest one, or CN_CCT_NO_DOUBLING */
    uint8_t far_calls; /* calls that were not near, modulo 256 */
    uint8_t calls[CN_CCT_NEAR_DOUBLINGS * CN_BUCKET_STEPS];
};

struct cn_cct_cost {
    uint64_t self_ns;
    uint64_t min_ns, max_ns; /* durations of calls */
    uint32_t overflow;       /* the one used last, first of a list; 0: none */
    uint32_t untimed_calls;  /* calls of unknown duration */
    struct cn_cct_near near;
};

struct cn_cct_overflow {
    uint32_t calls[CN_BUCKET_STEPS];
    uint32_t next; /* 0: none */
    uint8_t doubling;
};

struct cn_cct_costs {
    struct cn_cct_cost *list; /* by node */
    size_t count, capacity;
    struct cn_cct_overflow *overflows; /* from 1 on */
    size_t overflow_count, overflow_capacity;
};

void cn_cct_costs_done(struct cn_cct_costs *costs);

/* Release unused capacity. */
void cn_cct_costs_trim(struct cn_cct_costs *costs);

/* Add entries up to a node. */
void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node);

/* Count a call of a bucket that is not near, or whose near counter wrapped to 0. */
void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_histogram_bucket bucket);

/* Add self time to a node, without a call. */
static inline void cn_cct_costs_add_time(struct cn_cct_costs *costs, cn_cct_id node,
                                         uint64_t self_ns)
{
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    costs->list[node].self_ns += self_ns;
}

/* Count a call of unknown duration. */
static inline void cn_cct_costs_add_call(struct cn_cct_costs *costs, cn_cct_id node)
{
    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    costs->list[node].untimed_calls++;
}

/* Count a call with its total and self time. */
static inline void cn_cct_costs_add(struct cn_cct_costs *costs, cn_cct_id node,
                                    uint64_t total_ns, uint64_t self_ns)
{
    struct cn_histogram_bucket bucket = cn_bucket_of(total_ns);
    struct cn_cct_cost *cost;
    struct cn_cct_near *near;
    unsigned distance;

    if (node >= costs->count)
        cn_cct_costs_reach(costs, node);
    cost = &costs->list[node];
    near = &cost->near;
    cost->self_ns += self_ns;
    if (total_ns < cost->min_ns)
        cost->min_ns = total_ns;
    if (total_ns > cost->max_ns)
        cost->max_ns = total_ns;
    distance = (unsigned)bucket.doubling - near->doubling;
    if (distance >= CN_CCT_NEAR_DOUBLINGS ||
        ++near->calls[distance * CN_BUCKET_STEPS + bucket.step] == 0)
        cn_cct_costs_add_far(costs, node, bucket);
}

/* Add the costs of a node of another tree to a node. */
void cn_cct_costs_join(struct cn_cct_costs *costs, cn_cct_id node,
                       const struct cn_cct_costs *from, cn_cct_id from_node);

/* The costs of a node; all zero when it has none. */
struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node);

/* The number of calls of a node. */
uint64_t cn_cct_costs_calls(const struct cn_cct_costs *costs, cn_cct_id node);

/* Add the calls of known duration of a node to `out`, by bucket. Returns how many. */
struct cn_cct_buckets {
    uint64_t calls[CN_BUCKET_COUNT];
    uint64_t used[CN_BUCKET_COUNT / 64 + 1]; /* bits of the counts that are not 0 */
};
uint64_t cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                              struct cn_cct_buckets *out);

#endif
