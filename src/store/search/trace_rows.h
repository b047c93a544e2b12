/* The rows of traces that a search has chosen: what describes a trace, and its spans.
 *
 * A trace is given by one of its rows. Internal to store/search. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_TRACE_ROWS_H
#define CN_STORE_SEARCH_TRACE_ROWS_H

#include "store/search/traces.h"

CN_CHECK bool cn_trace_rows_describe(struct cn_search *search,
                                     const struct cn_search_hit *hits, size_t count,
                                     struct cn_search_traces *out, struct cn_error *err);

CN_CHECK bool cn_trace_rows_list(struct cn_search *search,
                                 const struct cn_search_hit *hits, size_t count,
                                 struct cn_search_hits *out, struct cn_error *err);

#endif
