/* Spans that a search has seen: one that is stored twice is found once.
 *
 * For searches of the store and what groups their hits. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEEN_H
#define CN_STORE_SEARCH_SEEN_H

#include "base/map.h"
#include "store/index/rows.h"
#include "store/search/search.h"
#include "store/segment/index.h"

/* Rows of spans, by the id of the span alone. Where spans of several traces have the same id, it
 * stands for the first, and the others have a key of trace and span. */
struct cn_search_seen {
    struct cn_map keys;     /* in `rows` */
    uint32_t segment_count; /* that overlap others and were visited */
    struct cn_seen_row {
        uint32_t segment, row;
    } * rows;
    size_t count, capacity;
};

void cn_search_seen_done(struct cn_search_seen *seen);

/* Remove rows of spans that were seen in another segment; a segment has no span twice. If any is
 * removed, the rows are no longer the cached ones: `is_kept` receives false. */
CN_CHECK bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                                  uint32_t segment, const struct cn_store_index *index,
                                  struct cn_rows *rows, bool *is_kept,
                                  struct cn_error *err);

#endif
