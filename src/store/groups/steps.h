/* Matching traces or spans over time: number, errors and percentiles of durations in each step.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_STEPS_H
#define CN_STORE_GROUPS_STEPS_H

#include "store/search/search.h"

struct cn_search_step {
    uint64_t count, error_count; /* as in cn_group, and the following */
    double estimate;
    uint64_t p50_ns, p90_ns, p99_ns; /* 0 if there are none */
};

struct cn_search_steps {
    struct cn_search_step *list;
    size_t count;
    uint64_t first_ns, step_ns; /* of starts; both 0 if nothing matches */
};

/* Divide the time of all matches into `count` steps. The caller releases `out`; a failure leaves
 * nothing. */
CN_CHECK bool cn_search_steps(struct cn_search *search, const struct cn_query *query,
                              enum cn_search_unit unit, size_t count,
                              struct cn_search_steps *out, struct cn_error *err);
void cn_search_steps_done(struct cn_search_steps *steps);

#endif
