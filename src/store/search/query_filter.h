/* Whether a segment can have hits, by the filter of its words and trace ids alone.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEARCH_QUERY_FILTER_H
#define CN_STORE_SEARCH_QUERY_FILTER_H

#include <stdbool.h>

#include "base/bytes/bytes.h"

struct cn_query;

/* False if no row of a segment with this filter (store/index/word_filter.h) matches. */
bool cn_query_may_match(const struct cn_query *query, struct cn_bytes filter);

#endif
