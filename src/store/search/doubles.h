/* Spans of a page that are stored a second time, because their sender repeated a request.
 *
 * The traces of a few spans are looked up in every segment; for many spans, the table of all traces
 * (store/search/trace_table.h) is made faster and says the same.
 *
 * Internal to store/search. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_DOUBLES_H
#define CN_STORE_SEARCH_DOUBLES_H

#include "store/search/search.h"

/* Remove the hits whose span has another row that counts instead. The others keep their order.
 * Segments that cannot be read are left out; cn_search_check() reports them. */
CN_CHECK bool cn_doubles_drop(struct cn_search *search, struct cn_search_hits *hits,
                              struct cn_error *err);

#endif
