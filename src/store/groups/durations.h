/* Ranks groups of rows by size and summarizes the durations of the largest.
 *
 * Internal to store/groups/group.h. Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_DURATIONS_H
#define CN_STORE_GROUPS_DURATIONS_H

#include "store/groups/group.h"

/* Rows in groups, one array per number. A group is the word of its value in `values`; 0 is the
 * empty text. */
struct cn_group_members {
    struct cn_words values;
    uint32_t *groups; /* by member */
    uint64_t *durations_ns;
    size_t count, capacity;
    uint32_t *sizes, *errors; /* by group */
    double *others; /* by group: that sampled members stand for, beside themselves */
    size_t size_capacity;
};

void cn_group_members_done(struct cn_group_members *members);

/* Reserve room for `count` more members and for all values. */
void cn_group_members_reserve(struct cn_group_members *members, size_t count);

/* Requires a call of cn_group_members_reserve(). */
static inline void cn_group_members_add(struct cn_group_members *members, uint32_t group,
                                        uint64_t duration_ns, bool has_errors)
{
    members->groups[members->count] = group;
    members->durations_ns[members->count++] = duration_ns;
    members->sizes[group]++;
    members->errors[group] += has_errors;
}

/* The member that was added last stands for others as well. */
static inline void cn_group_members_weigh(struct cn_group_members *members, double weight)
{
    members->others[members->groups[members->count - 1]] += weight - 1;
}

void cn_group_members_rank(const struct cn_group_members *members, size_t limit,
                           struct cn_groups *out);

#endif
