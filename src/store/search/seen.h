/* Spans that a search has seen: one that is stored twice is found once.
 *
 * For searches of the store and what groups their hits. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEEN_H
#define CN_STORE_SEARCH_SEEN_H

#include "store/index/rows.h"
#include "store/search/search.h"
#include "store/segment/index.h"

/* Where rows of spans are, by the id of the span: a store may have millions, so a place has little more
 * than the row, and what it stands for is read again where two seem to be the same. There is a table for each
 * range of mixed ids, so that a table fits into the cache and all processors fill them. */
struct cn_search_seen {
    struct cn_seen_segment *segments; /* that overlap others and were visited */
    size_t segment_count;
    struct cn_seen_table *tables; /* NULL: nothing was visited */
};

void cn_search_seen_done(struct cn_search_seen *seen);

/* Remove rows of spans that were seen in another segment; a segment has no span twice. If any is
 * removed, the rows are no longer the cached ones: `is_kept` receives false. */
CN_CHECK bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                                  uint32_t segment, const struct cn_store_index *index,
                                  struct cn_rows *rows, bool *is_kept,
                                  struct cn_error *err);

#endif
