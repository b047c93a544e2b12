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
 * than the row, and what it stands for is read again where two seem to be the same. Ids of traces are
 * read only if many traces use the same ids of spans, as those of agents that count from 1. */
struct cn_search_seen {
    struct cn_seen_segment *segments; /* that overlap others and were visited */
    size_t segment_count, segment_capacity;
    struct cn_seen_place {
        uint32_t row;
        uint16_t segment; /* number in `segments` plus 1; 0: the place is free */
        uint16_t mark;    /* of the id */
    } * places;
    size_t count, capacity; /* of places; capacity is a power of two, or 0 */
    bool is_by_trace;       /* places follow from the trace as well */
};

void cn_search_seen_done(struct cn_search_seen *seen);

/* Remove rows of spans that were seen in another segment; a segment has no span twice. If any is
 * removed, the rows are no longer the cached ones: `is_kept` receives false. */
CN_CHECK bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                                  uint32_t segment, const struct cn_store_index *index,
                                  struct cn_rows *rows, bool *is_kept,
                                  struct cn_error *err);

#endif
