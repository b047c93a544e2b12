/* Matching rows in groups: by an attribute's value, by the method of the first call, by type or
 * service.
 *
 * A row that has an attribute more than once, with different values, belongs to several groups; a
 * row without it to none.
 *
 * All at once: cn_search_group(). One segment after the other, for whoever wants to show what is
 * known so far:
 *     cn_grouping_new(&grouping, search, query, by, err)
 *     while ((step = cn_grouping_next(grouping, err)) == CN_ITEM)
 *         cn_grouping_groups(grouping, limit, &groups) ...
 *     cn_grouping_free(grouping)
 * It borrows the search and the query.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_GROUP_H
#define CN_STORE_SEARCH_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/step.h"
#include "model/traces/words.h"

struct cn_grouping;
struct cn_query;
struct cn_search;

struct cn_group {
    uint32_t value; /* word of cn_groups.values */
    uint64_t count, error_count;
    uint64_t total_ns, p50_ns, p90_ns, p99_ns, max_ns; /* durations */
};

struct cn_groups {
    struct cn_words values;
    struct cn_group *list; /* the largest first; of equal ones by value */
    size_t count;
    size_t all_count; /* groups there are, listed or not */
};

/* The largest groups, `limit` of them at most. `by` is a name as in queries: "type", "service",
 * "method" (of the first call), or an attribute, also as "@name" and "root.name". */
CN_CHECK bool cn_search_group(struct cn_search *search, const struct cn_query *query,
                              const char *by, size_t limit, struct cn_groups *out,
                              struct cn_error *err);
void cn_groups_done(struct cn_groups *groups);

CN_CHECK bool cn_grouping_new(struct cn_grouping **out, struct cn_search *search,
                              const struct cn_query *query, const char *by,
                              struct cn_error *err);
void cn_grouping_free(struct cn_grouping *grouping); /* NULL is fine */

/* Add the rows of one more segment; CN_END when there was none left. */
CN_CHECK enum cn_step cn_grouping_next(struct cn_grouping *grouping,
                                       struct cn_error *err);

/* The groups of what was added so far. */
void cn_grouping_groups(const struct cn_grouping *grouping, size_t limit,
                        struct cn_groups *out);

#endif
