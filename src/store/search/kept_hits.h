/* The cached hits of the most recent queries, so that a count, a page of rows, a
 * histogram and groups of the same query match its conditions once.
 *
 * The key of a query is its text and the time that "last" counts from. The hits are a bit
 * per row: those of very large stores are cached while there is room. The number of matching traces
 * is cached with them.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_KEPT_HITS_H
#define CN_STORE_SEARCH_KEPT_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/cache.h"
#include "store/index/rows.h"
#include "store/search/traces.h"

enum { CN_KEPT_QUERIES = 16, CN_KEPT_LEN_MAX = 32 << 20 /* bytes of all sets */ };

/* One query; `rows` has a set for each segment, its words NULL while it is not known. */
struct cn_kept_query {
    struct cn_cached *cached;
    struct cn_rows *rows;
    size_t segment_count;
    struct cn_search_trace_count traces; /* if `is_counted` */
    bool is_counted;
};

struct cn_kept_hits {
    struct cn_cache queries;
    size_t segment_count;
};

void cn_kept_hits_init(struct cn_kept_hits *kept, size_t segment_count);
void cn_kept_hits_done(struct cn_kept_hits *kept);

/* The cached hits of a query, none at first, exact or rough (store/search/match.h); valid until the
 * next call. */
struct cn_kept_query *cn_kept_hits_of(struct cn_kept_hits *kept,
                                      const struct cn_query *query, bool is_rough);

/* Take the set of a segment over. False when there is no room: it stays the caller's. */
bool cn_kept_hits_add(struct cn_kept_hits *kept, struct cn_kept_query *query,
                      uint32_t segment, const struct cn_rows *rows);

/* Add the queries of an earlier snapshot, without hits and counts; then move over the hits of
 * each segment that is the same. */
void cn_kept_hits_begin_again(struct cn_kept_hits *kept,
                              const struct cn_kept_hits *earlier);
void cn_kept_hits_move(struct cn_kept_hits *kept, size_t segment,
                       struct cn_kept_hits *earlier, size_t earlier_segment);

#endif
