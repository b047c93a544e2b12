/* Matching traces or spans by time and duration: a map of how many there are, for more of them than
 * dots that can be drawn. Rows are steps of durations on a logarithmic scale.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_HEAT_H
#define CN_STORE_GROUPS_HEAT_H

#include "store/search/search.h"

/* Row i has durations from 2^(i/4) up to 2^((i+1)/4) ns. */
enum { CN_HEAT_ROWS = 256 };

struct cn_heat_cell {
    uint32_t count, error_count;
};

struct cn_heat {
    uint64_t count;             /* matches */
    uint64_t first_ns, step_ns; /* of starts; both 0 if nothing matches */
    size_t step_count;
    struct cn_heat_cell *cells; /* by step and row */
};

/* Divide the time of all matches into `step_count` steps. The caller releases `out`; a failure leaves
 * nothing. */
CN_CHECK bool cn_search_heat(struct cn_search *search, const struct cn_query *query,
                             enum cn_search_unit unit, size_t step_count,
                             struct cn_heat *out, struct cn_error *err);
void cn_heat_done(struct cn_heat *heat);

/* The least duration of a row, in ns. */
double cn_heat_low(size_t row);

#endif
