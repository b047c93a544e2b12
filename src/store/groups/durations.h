/* Ranks groups of rows by size and summarizes the durations of the largest.
 *
 * Internal to store/groups/group.h. Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_DURATIONS_H
#define CN_STORE_GROUPS_DURATIONS_H

#include "store/groups/group.h"

/* A row or trace in a group. A group is the word of its value in `values`; 0 is the empty text. */
struct cn_group_member {
    uint64_t duration_ns;
    uint32_t group;
    bool has_errors;
};

/* Members, those of a group one after the other. */
struct cn_group_part {
    struct cn_group_share {
        uint32_t group, count, error_count;
    } * shares;
    size_t share_count;
    uint32_t *short_ns; /* durations; NULL: */
    uint64_t *long_ns;  /* not all of them fit into 32 bits */
    uint64_t total_ns;
};

enum { CN_GROUP_PART_MEMBERS = 1 << 15 };

struct cn_group_members {
    struct cn_words values;
    struct cn_group_part *parts;
    size_t part_count, part_capacity;
    struct cn_group_member *added; /* that will be the next part */
    size_t added_count;
    uint32_t *sizes, *errors; /* by group */
    double *others; /* by group: that sampled members stand for, beside themselves */
    size_t size_capacity;
};

void cn_group_members_done(struct cn_group_members *members);

/* Reserve room for all values. */
void cn_group_members_reserve(struct cn_group_members *members);

/* Members as a part, which may be made by any thread; then taken over in order. */
void cn_group_part_make(struct cn_group_part *part, const struct cn_group_member *list,
                        size_t count);
void cn_group_members_take(struct cn_group_members *members, struct cn_group_part *part);

/* Requires a call of cn_group_members_reserve(). */
void cn_group_members_add(struct cn_group_members *members, uint32_t group,
                          uint64_t duration_ns, bool has_errors);

/* A member of a group stands for others as well. */
static inline void cn_group_members_weigh(struct cn_group_members *members,
                                          uint32_t group, double weight)
{
    members->others[group] += weight - 1;
}

void cn_group_members_rank(struct cn_group_members *members, size_t limit,
                           struct cn_groups *out);

#endif
