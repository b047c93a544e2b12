#include "server/served/served_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "server/served/served_store.h"
#include "store/search/query.h"

static void forget(struct cn_served_groups *groups)
{
    cn_grouping_free(groups->grouping);
    cn_groups_done(&groups->groups);
    cn_query_free(groups->query);
    cn_snapshot_release(groups->snapshot);
    free(groups->by);
    free(groups->text);
    *groups = (struct cn_served_groups){0};
}

void cn_served_groups_done(struct cn_served_store *served)
{
    for (size_t i = 0; i < CN_SERVED_GROUPS_MAX; i++)
        forget(&served->groups[i]);
}

static bool begin(struct cn_served_store *served, const struct cn_query *query,
                  const char *by, size_t limit, struct cn_served_groups *groups,
                  struct cn_error *err)
{
    forget(groups);
    if (!cn_query_parse(&groups->query, query->text, query->now_ns, err) ||
        !cn_grouping_new(&groups->grouping, served->search, groups->query, by, err)) {
        forget(groups);
        return false;
    }
    groups->by = cn_strdup(by);
    groups->text = cn_strdup(query->text);
    groups->limit = limit;
    groups->snapshot = cn_snapshot_use(served->snapshot);
    return true;
}

/* A time that "last" counts from is as good as one that is a little later. */
static bool is_known(const struct cn_served_store *served,
                     const struct cn_served_groups *at, const struct cn_query *query,
                     const char *by, size_t limit)
{
    return at->by && at->limit == limit && strcmp(at->by, by) == 0 &&
           strcmp(at->text, query->text) == 0 &&
           cn_snapshot_is_fresh(served, at->snapshot, at->complete_ns,
                                query->now_ns == at->query->now_ns);
}

static struct cn_served_groups *choose(struct cn_served_store *served,
                                       const struct cn_query *query, const char *by,
                                       size_t limit, bool *is_new)
{
    struct cn_served_groups *oldest = &served->groups[0];

    *is_new = false;
    for (size_t i = 0; i < CN_SERVED_GROUPS_MAX; i++) {
        struct cn_served_groups *at = &served->groups[i];

        if (is_known(served, at, query, by, limit))
            return at;
        if (at->used_at < oldest->used_at)
            oldest = at;
    }
    *is_new = true;
    return oldest;
}

static void rank(struct cn_served_groups *groups)
{
    uint64_t begin_ns = cn_clock_ns();

    cn_groups_done(&groups->groups);
    cn_grouping_groups(groups->grouping, groups->limit, &groups->groups);
    groups->is_ranked = true;
    groups->rank_ns = cn_clock_ns() - begin_ns;
}

/* Of a million groups, the largest are not looked for again in every answer, nor in the one that
 * has just read the last traces: that comes back with what was known. */
static bool is_left_for_later(const struct cn_served_groups *groups, uint64_t spent_ns,
                              uint64_t budget_ns)
{
    return groups->is_ranked && spent_ns > budget_ns / 4 &&
           spent_ns + groups->rank_ns > budget_ns + budget_ns / 2;
}

static bool look_on(struct cn_served_groups *groups, uint64_t budget_ns,
                    struct cn_error *err)
{
    uint64_t begin_ns = cn_clock_ns();
    enum cn_step step;

    do {
        step = cn_grouping_next(groups->grouping, err);
    } while (step == CN_ITEM && cn_clock_ns() - begin_ns < budget_ns);
    if (step == CN_FAIL)
        return false;
    if (is_left_for_later(groups, cn_clock_ns() - begin_ns, budget_ns))
        return true;
    rank(groups);
    if (step == CN_END) {
        cn_grouping_free(groups->grouping);
        groups->grouping = NULL;
        groups->complete_ns = cn_clock_ns();
    }
    return true;
}

bool cn_served_groups_find(struct cn_served_store *served, const struct cn_query *query,
                           const char *by, size_t limit, uint64_t budget_ns,
                           const struct cn_served_groups **out, struct cn_error *err)
{
    bool is_new;
    struct cn_served_groups *groups = choose(served, query, by, limit, &is_new);

    if (is_new && !begin(served, query, by, limit, groups, err))
        return false;
    groups->used_at = ++served->use_count;
    if (groups->grouping && !look_on(groups, budget_ns, err)) {
        forget(groups);
        return false;
    }
    *out = groups;
    return true;
}
