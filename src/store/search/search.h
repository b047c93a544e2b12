/* Searches all segments of a store for spans: a sorted page of matching rows and their number.
 * store/search/traces.h searches for traces, store/groups/group.h groups either.
 *
 *     cn_search_open(&search, store, err)
 *     cn_search_rows(search, query, &order, &hits, err) ...
 *     cn_search_close(search)
 *
 * Indexes of segments are opened when they are needed; segments outside of the times of a query
 * are skipped. The search borrows the store. Damage costs the results of its segment only:
 * cn_search_check() reports it afterwards.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEARCH_H
#define CN_STORE_SEARCH_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/index/row.h"

struct cn_query;
struct cn_search;
struct cn_store;
struct cn_text;

CN_CHECK bool cn_search_open(struct cn_search **out, const struct cn_store *store,
                             struct cn_error *err);
void cn_search_close(struct cn_search *search); /* NULL is fine */
const struct cn_store *cn_search_store(const struct cn_search *search);

/* A store opened for one query: a path and the text of the query. On failure nothing has to be
 * released. */
struct cn_store_query {
    struct cn_store *store;
    struct cn_search *search;
    struct cn_query *query;
};
CN_CHECK bool cn_store_query_open(struct cn_store_query *out, const char *path,
                                  const char *query, struct cn_error *err);
void cn_store_query_close(struct cn_store_query *query); /* safe when never opened */

/* Search a later snapshot of a store. Indexes of shared segments are reused, and cached hits move
 * over. The earlier search can still be used, by the same thread. */
CN_CHECK bool cn_search_open_again(struct cn_search **out, const struct cn_store *store,
                                   struct cn_search *earlier, struct cn_error *err);

/* Fails if the searches so far may have found too little: a segment is damaged, and its traces are
 * missing or only partly searched. The error names the first damage and counts the others. */
CN_CHECK bool cn_search_check(const struct cn_search *search, struct cn_error *err);

/* Release the mapped pages of postings. */
void cn_search_forget(struct cn_search *search);

enum cn_search_sort {
    CN_SEARCH_BY_TIME, /* the newest first, of equals the largest id of trace and span */
    CN_SEARCH_BY_DURATION, /* this and the following: the largest first, of equals the newest */
    CN_SEARCH_BY_CALLS,
    CN_SEARCH_BY_ERRORS,
    CN_SEARCH_BY_RECORDS,
    CN_SEARCH_BY_SPANS, /* of traces; spans have one each */
};

/* What is counted and grouped. store/search/traces.h lists traces. */
enum cn_search_unit { CN_SEARCH_SPANS, CN_SEARCH_TRACES };

struct cn_search_order {
    enum cn_search_sort sort;
    bool is_reversed;
    uint64_t offset, limit; /* of the sorted hits; UINT64_MAX: no limit */
};

struct cn_search_hit {
    uint32_t segment; /* index for cn_store_segment() */
    uint32_t row;
    uint64_t key, time_ns;
};

struct cn_search_hits {
    struct cn_search_hit *list;
    size_t count;
};

/* The page of hits that `order` selects. */
CN_CHECK bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                             const struct cn_search_order *order,
                             struct cn_search_hits *out, struct cn_error *err);
void cn_search_hits_done(struct cn_search_hits *hits);

/* The same for rows that match `query`, of traces that match `traces`. */
CN_CHECK bool cn_search_rows_of(struct cn_search *search, const struct cn_query *traces,
                                const struct cn_query *query,
                                const struct cn_search_order *order,
                                struct cn_search_hits *out, struct cn_error *err);

/* The number of matching rows. */
CN_CHECK bool cn_search_count(struct cn_search *search, const struct cn_query *query,
                              uint64_t *count, struct cn_error *err);

/* The row of a hit, with the numbers of all parts of its trace. */
CN_CHECK bool cn_search_hit_row(struct cn_search *search, const struct cn_search_hit *hit,
                                struct cn_store_row *row, struct cn_error *err);

/* Append a word of the row of a hit; methods as "com.example.Dao.query". */
CN_CHECK bool cn_search_hit_word(struct cn_search *search,
                                 const struct cn_search_hit *hit, uint32_t word,
                                 struct cn_text *out, struct cn_error *err);

#endif
