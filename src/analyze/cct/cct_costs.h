/* What the nodes of one task's calling context tree cost: calls, time, and how
 * durations are distributed.
 *
 * A zeroed one is ready for use. Nodes without costs need no place: look them up
 * with cn_cct_costs_at().
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_CCT_COSTS_H
#define CN_ANALYZE_CCT_CCT_COSTS_H

#include "analyze/cct/cct.h"
#include "analyze/histogram.h"

/* Calls of the usual durations are counted side by side with what else nearly every
 * call touches, and every 256 of them, like all others, in lines: one for each doubling
 * that occurs. */
enum { CN_CCT_NEAR_DOUBLINGS = 4, CN_CCT_NO_DOUBLING = 255 };

struct cn_cct_near {
    uint8_t doubling;  /* the lowest one, or CN_CCT_NO_DOUBLING */
    uint8_t far_calls; /* how many were not near, without their carry */
    uint8_t calls[CN_CCT_NEAR_DOUBLINGS * CN_BUCKET_STEPS];
};

struct cn_cct_cost {
    uint64_t self_ns;
    uint64_t min_ns, max_ns; /* of whole calls */
    uint32_t line;           /* the one used last, the others behind it; 0: none */
    uint32_t untimed_calls;  /* those whose duration is not known */
    struct cn_cct_near near;
};

struct cn_cct_line {
    uint32_t calls[CN_BUCKET_STEPS];
    uint32_t next; /* 0: none */
    uint8_t doubling;
};

struct cn_cct_costs {
    struct cn_cct_cost *list; /* by node */
    size_t count, capacity;
    struct cn_cct_line *lines; /* from 1 on */
    size_t line_count, line_capacity;
};

void cn_cct_costs_done(struct cn_cct_costs *costs);

/* Give back memory that nothing is in. */
void cn_cct_costs_trim(struct cn_cct_costs *costs);

/* Make room for a node; cn_cct_costs_add*() do it themselves. */
void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node);

/* Count calls of a bucket that is not near, or that is full there. */
void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_bucket bucket);

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
    costs->list[node].untimed_calls++;
}

/* A call that took `total_ns`, of which `self_ns` in the function itself. */
static inline void cn_cct_costs_add(struct cn_cct_costs *costs, cn_cct_id node,
                                    uint64_t total_ns, uint64_t self_ns)
{
    struct cn_bucket bucket = cn_bucket_of(total_ns);
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

/* Add what a node of other costs has to a node. */
void cn_cct_costs_join(struct cn_cct_costs *costs, cn_cct_id node,
                       const struct cn_cct_costs *from, cn_cct_id from_node);

/* The costs of a node; all zero when it has none. */
struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node);

/* All calls of a node. */
uint64_t cn_cct_costs_calls(const struct cn_cct_costs *costs, cn_cct_id node);

/* Add the calls of a node whose duration is known, by bucket. Returns how many. */
struct cn_cct_buckets {
    uint64_t calls[CN_BUCKET_COUNT];
    uint64_t used[CN_BUCKET_COUNT / 64 + 1]; /* bits of those that are not 0 */
};
uint64_t cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                              struct cn_cct_buckets *out);

#endif
