/* Each match of a query once, whether traces or spans are asked for.
 *
 * Internal to store/groups. Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_MATCHES_H
#define CN_STORE_GROUPS_MATCHES_H

#include "store/search/search.h"
#include "store/search/traces.h"

/* The number of matches and the range of their starts, the first above the last if there are none. */
CN_CHECK bool cn_matches_count(struct cn_search *search, const struct cn_query *query,
                               enum cn_search_unit unit,
                               struct cn_search_trace_count *out, struct cn_error *err);

/* The same number before sampling, estimated: each match stands for others by its rate. */
CN_CHECK bool cn_matches_estimate(struct cn_search *search, const struct cn_query *query,
                                  enum cn_search_unit unit, double *out,
                                  struct cn_error *err);

/* Visit each match, for its time, duration and errors, and one of its rows; `errors` of a span is not 0 if it failed
 * itself. */
CN_CHECK bool cn_matches_visit(struct cn_search *search, const struct cn_query *query,
                               enum cn_search_unit unit, cn_search_trace_visit visit,
                               void *arg, struct cn_error *err);

#endif
