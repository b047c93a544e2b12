/* The traces that may match a program, as the indexes tell.
 *
 * Each filter of the program is matched with the rows of all segments, as a query of store/search. Of
 * filters that must all have a span, the one with the fewest rows gives the traces; the others strike
 * those out that have none of their rows.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_CANDIDATES_H
#define CN_STORE_TRACEQL_CANDIDATES_H

#include "store/search/trace_ids.h"
#include "store/traceql/eval.h"

struct cn_tql_candidate {
    uint64_t high, low;
    uint64_t time_ns; /* the newest start of a row that may match */
    uint64_t mask;    /* a bit for each of the first filters: it has a row */
};

struct cn_tql_candidates {
    struct cn_tql_rows *filters; /* by filter of the program */
    uint64_t *row_counts;        /* the same: how many rows may match */
    size_t filter_count, segment_count;
    struct cn_tql_candidate *list; /* the newest first */
    size_t count, capacity;
    struct cn_trace_ids ids; /* of the list, until it is sorted */
};

/* Match the filters that the stages of `root` use, in times both ends of which are included. */
CN_CHECK bool cn_tql_candidates_match(struct cn_tql_candidates *out,
                                      struct cn_search *search,
                                      const struct cn_tql_program *program,
                                      uint64_t first_ns, uint64_t last_ns,
                                      struct cn_error *err);

/* List the traces that may match `root`, a spanset, a pipeline or a list of stages. */
CN_CHECK bool cn_tql_candidates_list(struct cn_tql_candidates *candidates,
                                     struct cn_tql_view *view,
                                     const struct cn_tql_node *root,
                                     struct cn_error *err);
void cn_tql_candidates_done(struct cn_tql_candidates *candidates);

#endif
