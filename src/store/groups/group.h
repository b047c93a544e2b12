/* Groups matching spans, or the traces they belong to, by the value of an attribute, the method of
 * the first call, type, service or operation: service and method of a span.
 *
 * A span with several values of an attribute is in several groups, a span without it in none. A
 * trace is in the groups of its matching spans, once in each, with its own duration and errors.
 *
 * cn_search_group() searches the whole store. To show intermediate results, group one segment
 * after the other:
 *     cn_grouping_new(&grouping, search, query, unit, by, err)
 *     while ((step = cn_grouping_next(grouping, err)) == CN_ITEM)
 *         cn_grouping_groups(grouping, limit, &groups) ...
 *     cn_grouping_free(grouping)
 * A grouping borrows the search and the query.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_GROUP_H
#define CN_STORE_GROUPS_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/step.h"
#include "model/traces/words.h"
#include "store/search/search.h"

struct cn_grouping;

struct cn_group {
    uint32_t value; /* word of cn_groups.values */
    uint64_t count;
    double estimate;      /* of the count before sampling (store/sampling) */
    uint64_t error_count; /* spans that failed themselves, traces with a failed call */
    uint64_t total_ns, p50_ns, p90_ns, p99_ns, max_ns; /* durations */
};

/* Members of a group that began in one step of time. */
struct cn_group_step {
    uint32_t count, error_count;
};

struct cn_groups {
    struct cn_words values;
    struct cn_group *list; /* the largest first, equals by value */
    size_t count;
    size_t all_count;  /* groups, listed or not */
    uint64_t total_ns; /* durations of the members of all of them */

    /* With cn_grouping_count_steps(): `step_count` steps of each listed group, one group after the
     * other; NULL without. */
    struct cn_group_step *steps;
    size_t step_count;
    uint64_t first_ns, step_ns;
};

/* The largest groups, at most `limit`. `by` is a name as in queries: "type", "service", "method"
 * (of the first call) or an attribute, also as "@name" and "root.name"; or "operation", whose
 * values are "service: method" and whose members are spans for either unit. */
CN_CHECK bool cn_search_group(struct cn_search *search, const struct cn_query *query,
                              enum cn_search_unit unit, const char *by, size_t limit,
                              struct cn_groups *out, struct cn_error *err);
void cn_groups_done(struct cn_groups *groups);

CN_CHECK bool cn_grouping_new(struct cn_grouping **out, struct cn_search *search,
                              const struct cn_query *query, enum cn_search_unit unit,
                              const char *by, struct cn_error *err);
void cn_grouping_free(struct cn_grouping *grouping); /* NULL is fine */

/* Also count members over time, in `count` steps of the time that the query may match; before the
 * first segment, of spans only. Of more than CN_GROUPS_STEPPED groups, others have steps without
 * members. */
enum { CN_GROUPS_STEPPED = 4096 };
void cn_grouping_count_steps(struct cn_grouping *grouping, size_t count);

/* Add the rows of the next segment; CN_END if there is none. */
CN_CHECK enum cn_step cn_grouping_next(struct cn_grouping *grouping,
                                       struct cn_error *err);

/* The groups of the rows added so far. */
void cn_grouping_groups(struct cn_grouping *grouping, size_t limit,
                        struct cn_groups *out);

#endif
