/* The best of many hits, in order, without sorting all of them.
 *
 *     cn_best_init(&best, &order);
 *     cn_best_offer(&best, &hit) ...
 *     cn_best_take(&best, &hits);
 *
 * Hits are gathered until there are twice as many as wanted; then the worse half goes. So the work
 * is linear in the hits that are offered, however they come and however deep the page is.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_SEARCH_BEST_H
#define CN_STORE_SEARCH_SEARCH_BEST_H

#include "store/search/search.h"

struct cn_best {
    const struct cn_search_order *order;
    struct cn_search_hit *hits; /* turned so that the largest numbers come first */
    size_t count, capacity, limit;
    bool has_worst;
    struct cn_search_hit worst; /* of `limit` hits: what comes after it is refused */
};

void cn_best_init(struct cn_best *best, const struct cn_search_order *order);
void cn_best_done(struct cn_best *best);
void cn_best_offer(struct cn_best *best, const struct cn_search_hit *hit);

/* Whether a hit from `time_ns` can still be among the best, when they are sorted by time. */
bool cn_best_may_take(struct cn_best *best, uint64_t time_ns);

/* The page that the order asks for; `best` is released. */
void cn_best_take(struct cn_best *best, struct cn_search_hits *out);

#endif
