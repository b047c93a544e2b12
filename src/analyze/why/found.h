/* What a reader of calls found out about the calls of a function (why.h): durations in the
 * first reading, costs of both groups and samples in the second.
 *
 * Each task, or part of it, has one; they are merged in any order. Private to why.c.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WHY_FOUND_H
#define CN_ANALYZE_WHY_FOUND_H

#include "analyze/calls/tree.h"
#include "analyze/durations/durations.h"
#include "analyze/why/why.h"
#include "base/text.h"

/* Durations of the calls of each group. */
struct cn_why_limits {
    uint64_t low_ns[CN_WHY_GROUPS], high_ns[CN_WHY_GROUPS];
    uint64_t example_ns[CN_WHY_GROUPS]; /* the median */
    uint64_t keep[CN_WHY_GROUPS]; /* a call is sampled if its hash is at most this */
    bool has_at;                  /* the slow group is one call: see cn_why_options */
    uint64_t at_ns, at_end_ns;
};

/* False if there are too few calls, or too few slow ones. */
bool cn_why_limits_choose(struct cn_why_limits *limits,
                          const struct cn_durations *durations,
                          const struct cn_why_options *options);

/* A sampled call. */
struct cn_why_sample {
    struct cn_why_call call; /* its data is at these offsets instead */
    size_t arguments_off, result_off;
};

struct cn_why_found {
    struct cn_durations durations;
    uint64_t shortest_ns, longest_ns, begin_ns, end_ns;
    uint64_t open_count, lost_count;

    struct cn_call_tree tree;                   /* its root is the function */
    struct cn_why_cost (*costs)[CN_WHY_GROUPS]; /* by node */
    size_t cost_count, cost_capacity;
    struct cn_why_calls groups[CN_WHY_GROUPS]; /* without samples */
    struct cn_why_sample *samples[CN_WHY_GROUPS];
    size_t sample_counts[CN_WHY_GROUPS], sample_capacities[CN_WHY_GROUPS];
    struct cn_text data; /* of samples */
};

void cn_why_found_init(struct cn_why_found *found, const struct cn_recording *rec);
void cn_why_found_done(struct cn_why_found *found);

/* Forget all calls. */
void cn_why_found_clear(struct cn_why_found *found);

/* Add the duration of a call. */
void cn_why_found_measure(struct cn_why_found *found, const struct cn_why_call *call);

/* Add a call to its group, if it is in one, with the costs of the nodes `touched`. */
void cn_why_found_add(struct cn_why_found *found, const struct cn_why_limits *limits,
                      const struct cn_why_call *call, const struct cn_why_cost *costs,
                      const uint32_t *touched, size_t touched_count);

void cn_why_found_merge(struct cn_why_found *into, const struct cn_why_found *from);

/* Move the groups and contexts to the result. */
void cn_why_found_take(struct cn_why_found *found, struct cn_why *why);

#endif
