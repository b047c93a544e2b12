/* Follows a store in a directory: the spans that match a query, as they are committed.
 *
 *     cn_follow_open(&follow, path, "errors", err)
 *     cn_follow_last(follow, 10, visit, arg, err)     those that are there, the last ten
 *     cn_follow_next(follow, visit, arg, err) ...     those that came since, again and again
 *     cn_follow_close(follow)
 *
 * Each span is visited once, in the order in which it arrived in its segment, also when segments are
 * joined or removed meanwhile.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_FOLLOW_H
#define CN_STORE_SEARCH_FOLLOW_H

#include <stddef.h>

#include "store/search/search.h"

struct cn_follow;

/* The search and the hit are valid until the callback returns. False ends the walk with its error. */
typedef bool (*cn_follow_visit)(void *arg, struct cn_search *search,
                                const struct cn_search_hit *hit, struct cn_error *err);

CN_CHECK bool cn_follow_open(struct cn_follow **out, const char *path, const char *query,
                             struct cn_error *err);
void cn_follow_close(struct cn_follow *follow); /* NULL is fine */

/* The `limit` newest spans of those that were there when it was opened, the oldest first. Before
 * cn_follow_next(). */
CN_CHECK bool cn_follow_last(struct cn_follow *follow, uint64_t limit,
                             cn_follow_visit visit, void *arg, struct cn_error *err);

/* The spans that were committed since the last call. */
CN_CHECK bool cn_follow_next(struct cn_follow *follow, cn_follow_visit visit, void *arg,
                             struct cn_error *err);

/* As opened: for names that the store does not know. */
const struct cn_store_query *cn_follow_query(const struct cn_follow *follow);

#endif
