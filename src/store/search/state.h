/* The state of a search.
 *
 * Internal to store/search. Threads: one thread at a time; indexes of different segments may be
 * opened by different threads.
 */
#ifndef CN_STORE_SEARCH_STATE_H
#define CN_STORE_SEARCH_STATE_H

#include "store/search/kept_hits.h"
#include "store/search/segments.h"
#include "store/search/trace_table.h"
#include "store/search/whole.h"

/* The times of a segment are known before its index is opened. */
struct cn_search_segment {
    uint32_t segment;
    uint64_t first_ns, last_ns;
};

/* An index that one or more searches use. */
struct cn_shared_index {
    struct cn_store_index index;
    unsigned user_count;
};

struct cn_search {
    const struct cn_store *store;
    struct cn_search_segment *newest; /* the one with the newest row first */
    struct cn_search_segment *oldest; /* the one with the oldest row first */
    size_t count;
    struct cn_kept_hits kept;
    struct cn_shared_index **indexes; /* by segment; NULL: not open */
    struct cn_error *failures;        /* by segment: why it could not be searched */
    bool *overlaps;         /* by segment: another one has spans of the same time */
    uint32_t overlap_count; /* segments of which this is true */
    uint64_t row_count;
    struct cn_trace_table traces; /* made when it is first needed */
    uint64_t made_count;          /* how often */
    struct cn_whole whole;        /* the traces of the last query that needed it */
    bool *in_traces;  /* by segment: the table has its rows; NULL: there is no table */
    char *traces_key; /* what a table of some traces was made for; NULL: it is of all */
    uint64_t looked_count;   /* hits that tables of some traces were chosen by */
    uint64_t traces_rest_ns; /* of cn_search_newest, when it was made */
};

/* How many segments are read at a time: those in object storage are waited for, not computed. */
unsigned cn_search_workers(const struct cn_search *search);

#endif
