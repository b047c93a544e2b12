/* Searching a whole store: rows that match, sorted and cut to a page; how many there are; groups
 * with their counts, error rates and durations; how they are spread over time.
 *
 *     cn_search_open(&search, store, err)
 *     cn_search_rows(search, query, &order, &hits, err) ...
 *     cn_search_close(search)
 *
 * Segments are opened when they are needed; those whose times cannot match are left out. The
 * search borrows the store.
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
struct cn_segment;
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

/* A search of a store that shares segments with an earlier one: what that one knows of them need
 * not be found again. The hits it kept move over; it goes on to work, by the same thread. */
CN_CHECK bool cn_search_open_again(struct cn_search **out, const struct cn_store *store,
                                   struct cn_search *earlier, struct cn_error *err);

/* Give back the mapped pages of postings. */
void cn_search_forget(struct cn_search *search);

enum cn_search_sort {
    CN_SEARCH_BY_TIME,     /* the newest first */
    CN_SEARCH_BY_DURATION, /* these: the largest first, of equal ones the newest */
    CN_SEARCH_BY_CALLS,
    CN_SEARCH_BY_ERRORS,
    CN_SEARCH_BY_RECORDS,
};

struct cn_search_order {
    enum cn_search_sort sort;
    bool is_reversed;
    uint64_t offset, limit; /* of what matches, sorted; UINT64_MAX: no limit */
};

struct cn_search_hit {
    uint32_t segment; /* as cn_store_segment() counts */
    uint32_t row;
    uint64_t key, time_ns;
};

struct cn_search_hits {
    struct cn_search_hit *list;
    size_t count;
};

/* The page of rows that `order` asks for. */
CN_CHECK bool cn_search_rows(struct cn_search *search, const struct cn_query *query,
                             const struct cn_search_order *order,
                             struct cn_search_hits *out, struct cn_error *err);
void cn_search_hits_done(struct cn_search_hits *hits);

/* How many rows match. */
CN_CHECK bool cn_search_count(struct cn_search *search, const struct cn_query *query,
                              uint64_t *count, struct cn_error *err);

/* The row of a hit, with the numbers of all parts of its trace. */
CN_CHECK bool cn_search_hit_row(struct cn_search *search, const struct cn_search_hit *hit,
                                struct cn_store_row *row, struct cn_error *err);

/* Append a word of the row of a hit; methods as "com.example.Dao.query". */
CN_CHECK bool cn_search_hit_word(struct cn_search *search,
                                 const struct cn_search_hit *hit, uint32_t word,
                                 struct cn_text *out, struct cn_error *err);

/* How many rows match in each of `count` steps of time, and how many of them have errors. What
 * is before or after the steps is left out. */
struct cn_search_time_step {
    uint64_t count, error_count;
};
CN_CHECK bool cn_search_histogram(struct cn_search *search, const struct cn_query *query,
                                  uint64_t first_ns, uint64_t step_ns, size_t count,
                                  struct cn_search_time_step *out, struct cn_error *err);

/* The times of all rows that match; the first is above the last when there are none. */
CN_CHECK bool cn_search_time_range(struct cn_search *search, const struct cn_query *query,
                                   uint64_t *first_ns, uint64_t *last_ns,
                                   struct cn_error *err);

#endif
