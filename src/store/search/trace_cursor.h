/* The spans that match a query, or all spans of the traces that match it, one by one, the oldest
 * first; of those that begin at the same time, the longest first, so that a caller is before its
 * callees.
 *
 *     cn_trace_cursor_open(&cursor, search, query, CN_SEARCH_TRACES, err)
 *     while ((step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM)
 *         cn_trace_cursor_load(&cursor, &trace, err) ...
 *     cn_trace_cursor_close(&cursor);
 *
 * Spans inside of other traces and later parts of a trace are not visited: they are loaded
 * with the trace they belong to.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_TRACE_CURSOR_H
#define CN_STORE_SEARCH_TRACE_CURSOR_H

#include "model/step.h"
#include "store/search/search.h"

struct cn_segment_loader;

struct cn_trace_cursor {
    const struct cn_store *store;
    struct cn_search_hits hits;
    size_t next;
    struct cn_segment_loader *loader;
};

CN_CHECK bool cn_trace_cursor_open(struct cn_trace_cursor *cursor,
                                   struct cn_search *search, const struct cn_query *query,
                                   enum cn_search_unit unit, struct cn_error *err);
void cn_trace_cursor_close(struct cn_trace_cursor *cursor); /* safe when never opened */

CN_CHECK enum cn_step cn_trace_cursor_next(struct cn_trace_cursor *cursor,
                                           struct cn_store_row *row,
                                           struct cn_error *err);

/* Load the span of the last row. Its words are checked and belong to the store. */
CN_CHECK bool cn_trace_cursor_load(struct cn_trace_cursor *cursor, struct cn_trace *trace,
                                   struct cn_error *err);

#endif
