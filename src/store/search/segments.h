/* Visits the segments of a search in the order of their times, with the matching rows of each.
 * The hits of the last few queries are cached.
 *
 * Internal to store/search. Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEGMENTS_H
#define CN_STORE_SEARCH_SEGMENTS_H

#include "model/step.h"
#include "store/index/rows.h"
#include "store/search/search.h"
#include "store/search/trace_table.h"
#include "store/segment/index.h"

/* Called with the matching rows of a segment that has any. */
typedef bool (*cn_search_visit)(void *arg, uint32_t segment,
                                const struct cn_store_index *index,
                                const struct cn_rows *rows, struct cn_error *err);

/* Called before a segment is searched, with the time of its newest row (of its oldest row if
 * oldest first). False ends the walk: no later segment can matter. */
typedef bool (*cn_search_goes_on)(void *arg, uint64_t time_ns);

/* Which rows are visited. */
enum cn_search_kind {
    CN_SEARCH_MATCHES, /* those that match, each on its own */
    CN_SEARCH_HITS,    /* at least one row of each trace that matches */
    CN_SEARCH_WHOLE,   /* all rows of each trace that matches */
};

struct cn_search_seen;

struct cn_search_visitor {
    enum cn_search_kind kind;
    cn_search_visit visit;
    cn_search_goes_on goes_on; /* NULL: all segments */
    void *arg;
    bool is_oldest_first;
    bool is_rough;    /* of matches: see cn_match() */
    const bool *only; /* by segment: others are skipped; NULL: none is */
    size_t end;       /* of the walk, from cn_search_end_of(); 0: all segments */
    bool *is_cut;     /* receives whether a segment after `end` would have been next */
    /* Of matches: spans that are stored twice are visited once, and noted here; empty at first,
     * the caller's (seen.h). NULL: they are visited twice. */
    struct cn_search_seen *seen;
};

/* The end of a walk, newest first, over `part_max` segments that may have hits. */
size_t cn_search_end_of(const struct cn_search *search, const struct cn_query *query,
                        size_t part_max);

/* The times that hits may have: those of the segments, within those of the query. The first is above
 * the last if there are none. */
void cn_search_times(const struct cn_search *search, const struct cn_query *query,
                     uint64_t *first_ns, uint64_t *last_ns);

/* The number of segments that may have hits. */
size_t cn_search_segment_count(const struct cn_search *search,
                               const struct cn_query *query);

/* A condition that every trace has to meet in one of its spans, of those the one that the fewest
 * segments may have; NULL if the query has none. The caller frees it. */
struct cn_query *cn_search_seed(const struct cn_search *search,
                                const struct cn_query *query);

/* The rows of all segments by trace; with a query, at least those of the traces that it finds. One of all
 * rows is made once. Rows of a damaged segment are traces of one row each; cn_search_check() reports the
 * damage. */
CN_CHECK bool cn_search_trace_table(struct cn_search *search,
                                    const struct cn_query *query,
                                    enum cn_trace_table_needs needs,
                                    const struct cn_trace_table **out,
                                    struct cn_error *err);

/* A table of some traces, of the caller: to be released with cn_trace_table_done(). */
struct cn_trace_ids;
CN_CHECK bool cn_search_table_of(struct cn_search *search, const struct cn_trace_ids *ids,
                                 enum cn_trace_table_needs needs,
                                 struct cn_trace_table *out, struct cn_error *err);

/* The newest traces that a query finds: of its newest segments, those that may be among the newest.
 * Others are in the table with what these segments have of them. */
struct cn_search_newest {
    size_t end;       /* of the walk */
    size_t trace_max; /* traces whose rows are all in the table */
    uint64_t rest_ns; /* receives a time that no other trace is after; 0: there is none */
};
CN_CHECK bool
cn_search_newest_table(struct cn_search *search, const struct cn_query *query,
                       struct cn_search_newest *newest, enum cn_trace_table_needs needs,
                       const struct cn_trace_table **out, struct cn_error *err);

/* True if a table of so many traces is made faster than one of all. */
bool cn_search_is_few(const struct cn_search *search, size_t trace_max);

/* The table of the last call, which must have succeeded. */
const struct cn_trace_table *cn_search_traces_made(const struct cn_search *search);

/* Remove rows of spans that are stored twice, by the table if there is one; those of `rows` are then no
 * longer the cached ones. */
struct cn_rows;
void cn_search_drop_doubles(const struct cn_search *search, uint32_t segment,
                            struct cn_rows *rows, bool *is_kept);

/* The index of a segment, opened at the first call. */
CN_CHECK bool cn_search_index(struct cn_search *search, uint32_t segment,
                              const struct cn_store_index **out, struct cn_error *err);

CN_CHECK bool cn_search_walk(struct cn_search *search, const struct cn_query *query,
                             const struct cn_search_visitor *visitor,
                             struct cn_error *err);

/* The same for one segment: the next from *position on that may have hits; begin with 0.
 * CN_END if none is left. */
CN_CHECK enum cn_step cn_search_visit_next(struct cn_search *search,
                                           const struct cn_query *query,
                                           const struct cn_search_visitor *visitor,
                                           size_t *position, struct cn_error *err);

#endif
