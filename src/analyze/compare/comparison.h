/* Two populations of calls, matched by context.
 *
 * A population is one or more runs: databases, or selections of threads of databases. The
 * functions of all runs form one tree: a node is a function in a call path, whatever its
 * address, line or loop. Functions are matched by name (function_name.h), those that only one
 * side has by their neighbourhood (neighbours.h).
 *
 *     cn_comparison_init(&c);
 *     cn_comparison_add(&c, &run, ...) ...       A's runs, then B's
 *     cn_comparison_scale_by(&c, ...)            optional
 *     cn_comparison_finish(&c);
 *     ... c.nodes in c.order, c.self, c.total ...
 *     cn_comparison_done(&c);
 *
 * Totals are sums of self costs: so sums of differences are differences of sums. About 100 bytes a node with one run on each side.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_COMPARISON_H
#define CN_ANALYZE_COMPARE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/run/progress.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"

enum cn_side { CN_SIDE_A, CN_SIDE_B, CN_SIDES };

/* How a node was matched. */
enum cn_match_how {
    CN_BY_NAME,
    CN_RENAMED, /* it has another name on side B: new_name */
    CN_INLINED, /* contains `merged`, which is a function of its own on side A only */
    CN_SPLIT,   /* contains `merged`, which is a function of its own on side B only */
};

struct cn_compared {
    uint32_t parent; /* CN_NONE at the top */
    uint32_t name;   /* index into the names; CN_NONE: merged into another node */
    uint32_t other;  /* see enum cn_match_how; CN_NONE: nothing */
    uint32_t first_child, next_sibling;
    uint32_t into; /* of a merged node: the one that has its calls; CN_NONE: none */
    uint8_t sides; /* 1 << CN_SIDE_A, 1 << CN_SIDE_B: which have it */
    uint8_t how;   /* enum cn_match_how */
};

/* Calls of a node that took about as long. */
struct cn_compared_duration {
    uint32_t node;
    double ns, width_ns, calls; /* `ns` give or take half of the width */
};

/* What is known about the noise of the self costs of a node in a single run. */
struct cn_node_error {
    double variance;   /* NAN: unknown */
    double rest;       /* variance squared by degrees of freedom; 0: of infinitely many */
    double correction; /* standard error of the recorder's cost that was subtracted */
};

struct cn_compared_run {
    enum cn_side side;
    double *self, *calls; /* by node; calls NULL: unknown */
    size_t count;         /* of nodes so far; all of them after finishing */
    uint32_t thread_count;
    double trace_count; /* request traces; of some threads, outermost calls; 0: none */
    double seconds;     /* from the first to the last sample; NAN: unknown */
    struct cn_compared_duration *durations; /* of nodes that are not too small */
    size_t duration_count;
    struct cn_hook_cost recorder; /* its cost that was subtracted; 0: none */
    double sample_weight;         /* cost of one sample; 0: it has no samples */
    double *sample_weights;       /* by node, where they differ; NULL: they do not */
};

/* Costs are divided by the calls of a context, by threads, seconds or request traces; or side A becomes what
 * side B should be, with the same work in all (strong) or for each thread (weak). */
enum cn_compare_scaling {
    CN_SCALE_NOT,
    CN_SCALE_PER_CALL,
    CN_SCALE_PER_THREAD,
    CN_SCALE_PER_SECOND,
    CN_SCALE_PER_TRACE,
    CN_SCALE_STRONG,
    CN_SCALE_WEAK,
};

struct cn_comparison {
    struct cn_names names;
    const char *metric; /* the one that is compared, as side A presents it */
    char *metric_copy;
    const char
        *bases[CN_SIDES]; /* what the times of a side are (time_base.h); NULL: none */
    struct cn_compared *nodes;
    size_t node_count, node_capacity;
    struct cn_map children; /* by parent and name */
    uint32_t first_top;
    struct cn_compared_run *runs;
    size_t run_count, run_capacity;
    size_t side_runs[CN_SIDES];
    bool has_calls;           /* all runs have them */
    bool has_threads_as_runs; /* the runs are threads: see cn_comparison_add_threads() */
    enum cn_compare_scaling scaling;

    /* Set by cn_comparison_finish(). By node: means over the runs of a side. */
    uint32_t *order; /* nodes, parents before children, in the order of a walk */
    size_t order_count;
    double *self[CN_SIDES], *total[CN_SIDES], *calls[CN_SIDES];
    double whole[CN_SIDES];
    uint8_t *name_sides; /* by name: which sides have functions of it */
    /* Of single runs (call_evidence.h), else NULL: by node. */
    struct cn_node_error *errors[CN_SIDES];
    double speed_variance, speed_rest; /* of how much the speed of the runs differs */
    size_t uncounted; /* with CN_SCALE_PER_CALL: nodes that one side never calls */
};

struct cn_compare_run {
    enum cn_side side;
    struct cn_database *db;
    const char *metric;         /* name or unique prefix; NULL: the default one */
    bool counts_waits;          /* see cn_costs_default_metrics() */
    const char *const *threads; /* selections, as cn_costs_select() takes them */
    size_t threads_count;
    bool has_range; /* only this time, in the clock of the database */
    uint64_t begin_ns, end_ns;
    /* The other side is a range of time, which has recorded times: so has this one, from its
     * timelines, if its costs are corrected. */
    bool is_recorded;
    bool has_durations; /* read those of calls, where the database has them */
    bool is_of_traces;  /* traces at the same time are threads: one entry point for all */
    bool may_be_empty;  /* it is one of the threads of a side */
    bool
        is_derived; /* costs are no sums of samples: of a single run, no noise is known */
};

/* True for an entry point: a root like <main thread>. */
static inline bool cn_comparison_is_entry(const struct cn_comparison *c, uint32_t node)
{
    return c->nodes[node].parent == CN_NONE &&
           c->names.list[c->nodes[node].name][0] == '<';
}

void cn_comparison_init(struct cn_comparison *c);
void cn_comparison_done(struct cn_comparison *c);

/* Add a run. Fails with CN_ERR_USAGE if its metric is another one than that of the runs
 * before it, does not add up, or has no values: nothing to compare. */
CN_CHECK bool cn_comparison_add(struct cn_comparison *c, const struct cn_compare_run *run,
                                const struct cn_progress *progress, struct cn_error *err);

/* Add the selected threads of a run, as runs whose mean is the sum over threads. */
CN_CHECK bool cn_comparison_add_threads(struct cn_comparison *c,
                                        const struct cn_compare_run *all,
                                        const struct cn_progress *progress,
                                        struct cn_error *err);

/* Multiply the values of a run. */
void cn_comparison_scale(struct cn_comparison *c, size_t run, double factor);

/* Scale all runs. Per call, all values of a node are scaled to the calls that side B makes; costs
 * of nodes that a side never calls do not count. Fails with CN_ERR_USAGE if a side has no calls,
 * threads, seconds or traces to divide by. */
CN_CHECK bool cn_comparison_scale_by(struct cn_comparison *c,
                                     enum cn_compare_scaling scaling,
                                     struct cn_error *err);

/* The scaling of texts as of the options --per and --scaling; NULL: not given. */
CN_CHECK bool cn_compare_scaling_parse(const char *per, const char *scaling,
                                       enum cn_compare_scaling *out,
                                       struct cn_error *err);

/* The mean number of threads of the runs of a side. */
double cn_comparison_threads(const struct cn_comparison *c, enum cn_side side);

void cn_comparison_finish(struct cn_comparison *c);

/* What tells changes from noise: values of runs or threads; of single runs, the durations of
 * calls, the number of samples, or nothing else, because numbers of calls are exact. */
enum cn_compare_over {
    CN_OVER_NOTHING,
    CN_OVER_RUNS,
    CN_OVER_THREADS,
    CN_OVER_CALLS,
    CN_OVER_SAMPLES,
    CN_OVER_COUNTS,
};

/* True if evidence comes from single runs: call_evidence.h. */
static inline bool cn_compare_over_is_single(enum cn_compare_over over)
{
    return over >= CN_OVER_CALLS;
}

enum cn_compare_over cn_comparison_over(const struct cn_comparison *c);
const char *cn_compare_over_name(enum cn_compare_over over); /* NULL for nothing */

/* The node of a function below `parent` (CN_NONE: at the top), made when new. */
uint32_t cn_comparison_node_add(struct cn_comparison *c, uint32_t parent, uint32_t name);

/* The child of a node (CN_NONE: at the top) with this name, or CN_NONE. */
uint32_t cn_comparison_child(const struct cn_comparison *c, uint32_t parent,
                             uint32_t name);

/* Merge a node into another one, with everything below it. `counts` says that calls of the
 * one are calls of the other. Before the order is known. */
void cn_comparison_merge(struct cn_comparison *c, uint32_t from, uint32_t into,
                         bool counts);

static inline double cn_comparison_change(const struct cn_comparison *c, uint32_t node)
{
    return c->self[CN_SIDE_B][node] - c->self[CN_SIDE_A][node];
}

static inline bool cn_compared_on(const struct cn_compared *node, enum cn_side side)
{
    return (node->sides >> side & 1) != 0;
}

/* Append the calls that lead to a node, outermost first: "main > solve > norm"; entry points
 * are left out, long paths shortened in the middle. */
void cn_comparison_path_add(struct cn_text *text, const struct cn_comparison *c,
                            uint32_t node);

/* Append a node's name, and what it was matched with: "old → new". */
void cn_comparison_label_add(struct cn_text *text, const struct cn_comparison *c,
                             uint32_t node);

#endif
