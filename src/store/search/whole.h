/* Finds the traces that match a query whose conditions may hold in different spans.
 *
 * Each condition is matched with the rows of the segments; the traces of matching rows are the set
 * that AND, OR and NOT work on. The right side of an AND is matched only in segments that have rows
 * of traces of its left side, and times come first, so that most segments of a long store are not
 * read.
 *
 * Internal to store/search. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_WHOLE_H
#define CN_STORE_SEARCH_WHOLE_H

#include "base/error.h"
#include "store/index/rows.h"
#include "store/search/trace_table.h"

struct cn_query;
struct cn_search;

/* The traces that match the last such query. Sets without words are empty. */
struct cn_whole {
    char *text; /* of the query; NULL: none is known */
    uint64_t now_ns;
    enum cn_trace_table_needs
        has;                /* `all` is without doubles only if the table had them */
    uint64_t made_count;    /* of the table that they are in; 0: they are all there are */
    struct cn_rows *firsts; /* by segment: one row of each trace */
    struct cn_rows *all;    /* by segment: all rows of the traces */
    size_t segment_count;
};

/* What the table of traces needs for a query, at least `needs`. */
enum cn_trace_table_needs cn_search_whole_needs(const struct cn_query *query,
                                                enum cn_trace_table_needs needs);

/* Find the traces, unless they are those of the last call. They belong to the search and are valid
 * until the next call; the table of traces is that of the search. With `is_of_table`, only segments
 * of the table that was made last are searched. */
CN_CHECK bool cn_search_whole(struct cn_search *search, const struct cn_query *query,
                              bool is_of_table, enum cn_trace_table_needs needs,
                              const struct cn_whole **out, struct cn_error *err);
void cn_whole_done(struct cn_whole *whole);

#endif
