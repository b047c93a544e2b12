/* The segments of a search, newest first, and the rows of each that match.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEGMENTS_H
#define CN_STORE_SEARCH_SEGMENTS_H

#include "store/index.h"
#include "store/rows.h"
#include "store/search.h"

/* Called with the matching rows of one segment, if there are any. */
typedef bool (*cn_search_visit)(void *arg, uint32_t segment,
                                const struct cn_store_index *index,
                                const struct cn_rows *rows, struct cn_error *err);

/* Asked before a segment is searched whose newest row is from `last_ns`: false ends the walk,
 * as no older segment can matter. NULL: all of them. */
typedef bool (*cn_search_goes_on)(void *arg, uint64_t last_ns);

CN_CHECK bool cn_search_walk(struct cn_search *search, const struct cn_query *query,
                             cn_search_goes_on goes_on, cn_search_visit visit, void *arg,
                             struct cn_error *err);

#endif
