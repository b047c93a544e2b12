/* The hits of the last few queries, so that a count, a page of rows, a histogram and groups of the
 * same query match its conditions once.
 *
 * A query is known by its text, and by the time that "last" counts from where it has one. There is a
 * bit for each row: sets of very large stores are kept while there is room.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_KEPT_HITS_H
#define CN_STORE_SEARCH_KEPT_HITS_H

#include <stddef.h>
#include <stdint.h>

#include "store/index/rows.h"

struct cn_query;

enum { CN_KEPT_QUERIES = 16, CN_KEPT_LEN_MAX = 32 << 20 /* bytes of all sets */ };

/* One query; `rows` has a set for each segment, its words NULL while it is not known. */
struct cn_kept_query {
    char *text; /* NULL: free */
    uint64_t now_ns, used_at;
    struct cn_rows *rows;
    uint64_t len; /* bytes of its sets */
};

struct cn_kept_hits {
    struct cn_kept_query queries[CN_KEPT_QUERIES];
    size_t segment_count;
    uint64_t use_count;
};

void cn_kept_hits_init(struct cn_kept_hits *kept, size_t segment_count);
void cn_kept_hits_done(struct cn_kept_hits *kept);

/* What is kept of a query; the one that was not asked for longest makes room for a new one.
 * Valid until the next call. */
struct cn_kept_query *cn_kept_hits_of(struct cn_kept_hits *kept,
                                      const struct cn_query *query);

/* Take the set of a segment over. False when there is no room: it stays the caller's. */
bool cn_kept_hits_add(struct cn_kept_hits *kept, struct cn_kept_query *query,
                      uint32_t segment, const struct cn_rows *rows);

/* Know the queries of an earlier snapshot, without hits; then move the hits of each segment that is
 * the same over. */
void cn_kept_hits_begin_again(struct cn_kept_hits *kept,
                              const struct cn_kept_hits *earlier);
void cn_kept_hits_move(struct cn_kept_hits *kept, size_t segment,
                       struct cn_kept_hits *earlier, size_t earlier_segment);

#endif
