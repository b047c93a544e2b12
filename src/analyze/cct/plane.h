/* The values of one task by context, then by metric, as a database stores them.
 *
 *     cn_cct_plane_init(&plane, &merged, &task, nodes);
 *     cn_cct_plane_measure(&plane);              counts the values
 *     while ((count = cn_cct_plane_next(&plane, values)) > 0) ...
 *     cn_cct_plane_done(&plane);
 *
 * The open calls of the task must be counted before (cn_cct_task_count_open()).
 * Threads: one thread at a time for each plane.
 */
#ifndef CN_ANALYZE_CCT_PLANE_H
#define CN_ANALYZE_CCT_PLANE_H

#include "analyze/cct/merge.h"
#include "analyze/cct/metrics.h"

/* The total cost of a node. */
struct cn_cct_total {
    uint64_t calls, time_ns;
    uint64_t wait_ns[CN_WAIT_KINDS]; /* part of the time */
    uint64_t min_ns, max_ns;         /* of a call; min above max when there is none */
};

/* Counters that were read. */
struct cn_cct_plane_counters {
    unsigned used[CN_CCT_COUNTERS], count;
    uint64_t *totals; /* [node][counter] */
    /* Of the current context; zero between contexts. */
    uint64_t own[CN_CCT_COUNTERS], total[CN_CCT_COUNTERS];
};

/* A context between a node and its parent: an inlined function, or a line. */
struct cn_cct_pass {
    uint32_t context;
    cn_cct_id node;
};

struct cn_cct_plane {
    const struct cn_cct_merged *merged;
    const struct cn_cct_task *task;
    const uint32_t *nodes;       /* by node of the task: its merged node */
    struct cn_cct_total *totals; /* by node of the task */
    struct cn_cct_pass *passes;  /* contexts that are no node of the task */
    size_t pass_count;
    uint64_t *order; /* context << 32 | node, or node_count + pass; ascending */
    size_t next;     /* in the order */
    bool has_global; /* the global context was returned */
    struct cn_cct_buckets calls; /* of the current context; zero between contexts */
    bool has_bucket[CN_BUCKET_COUNT];
    struct cn_cct_plane_counters counters;
    uint64_t value_count;
    uint32_t context_count;
};

void cn_cct_plane_init(struct cn_cct_plane *plane, const struct cn_cct_merged *merged,
                       const struct cn_cct_task *task, const uint32_t *nodes);
void cn_cct_plane_done(struct cn_cct_plane *plane);

/* Fills in value_count, context_count and has_bucket, and starts over. */
void cn_cct_plane_measure(struct cn_cct_plane *plane);

/* The values of the next context; returns how many, 0 at the end. */
size_t cn_cct_plane_next(struct cn_cct_plane *plane,
                         struct cn_value values[CN_CCT_ID_COUNT]);

#endif
