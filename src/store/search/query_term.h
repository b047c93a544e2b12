/* One condition of a query: a name, a comparison and a value become a term.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEARCH_QUERY_TERM_H
#define CN_STORE_SEARCH_QUERY_TERM_H

#include "store/search/query.h"

/* Fill in a term whose op and is_negated are set. `value` is NULL for CN_QUERY_EXISTS; strings
 * outlive the term. "since", "until" and "last" are names, too. */
CN_CHECK bool cn_query_term_init(struct cn_query_term *term, const char *name,
                                 const char *value, uint64_t now_ns,
                                 struct cn_error *err);

#endif
