/* Groups of traces that are found from answer to answer: where there are very many of them, the first
 * answers tell what is known so far.
 *
 * The last few are kept: complete ones as long as the store does not change, and a while longer.
 * Threads: with the lock of its served thing held.
 */
#ifndef CN_SERVER_SERVED_SERVED_GROUPS_H
#define CN_SERVER_SERVED_SERVED_GROUPS_H

#include "base/error.h"
#include "store/search/group.h"

struct cn_query;
struct cn_served_store;
struct cn_snapshot;

struct cn_served_groups {
    char *by, *text; /* what was asked for; NULL: free */
    size_t limit;
    uint64_t used_at;
    uint64_t complete_ns; /* when it became complete; 0: it is not */
    struct cn_snapshot *snapshot;
    struct cn_query *query;       /* its own */
    struct cn_grouping *grouping; /* NULL: complete */
    struct cn_groups groups;      /* as far as they are known */
    bool is_ranked;               /* there are some, perhaps of fewer traces */
    uint64_t rank_ns;             /* what finding the largest took last */
};

enum { CN_SERVED_GROUPS_MAX = 16 };

/* The groups of a query, looked for about `budget_ns`. Borrowed until the next call. */
CN_CHECK bool cn_served_groups_find(struct cn_served_store *served,
                                    const struct cn_query *query, const char *by,
                                    size_t limit, uint64_t budget_ns,
                                    const struct cn_served_groups **out,
                                    struct cn_error *err);
void cn_served_groups_done(struct cn_served_store *served);

#endif
