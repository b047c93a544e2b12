#include "store/groups/durations.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/durations/percentile.h"
#include "base/alloc.h"
#include "base/best.h"

void cn_group_members_done(struct cn_group_members *members)
{
    cn_words_done(&members->values);
    free(members->groups);
    free(members->durations_ns);
    free(members->sizes);
    free(members->errors);
    free(members->others);
    *members = (struct cn_group_members){0};
}

void cn_group_members_reserve(struct cn_group_members *members, size_t count)
{
    size_t old = members->size_capacity, needed = (size_t)members->values.count + 1;
    size_t capacity = old, all = old, room = members->capacity;

    CN_GROW_TO(members->sizes, needed, capacity);
    CN_GROW_TO(members->others, needed, all);
    CN_GROW_TO(members->errors, needed, members->size_capacity);
    memset(members->sizes + old, 0, (capacity - old) * sizeof(*members->sizes));
    memset(members->others + old, 0, (all - old) * sizeof(*members->others));
    memset(members->errors + old, 0, (capacity - old) * sizeof(*members->errors));
    CN_GROW_TO(members->groups, members->count + count, room);
    CN_GROW_TO(members->durations_ns, members->count + count, members->capacity);
}

static int compare_values(const void *arg, uint64_t a, uint64_t b)
{
    const struct cn_words *values = arg;
    struct cn_bytes x = cn_word_bytes(values, (uint32_t)a);
    struct cn_bytes y = cn_word_bytes(values, (uint32_t)b);
    size_t len = x.len < y.len ? x.len : y.len;
    int order = len > 0 ? memcmp(y.ptr, x.ptr, len) : 0;

    return order != 0 ? order : y.len < x.len ? -1 : y.len > x.len;
}

static void summarize(struct cn_group *group, uint64_t *durations)
{
    size_t count = (size_t)group->count;
    uint64_t percentiles[CN_PERCENTILES_SHOWN] = {0};

    for (size_t i = 0; i < count; i++) {
        group->total_ns += durations[i];
        group->max_ns = durations[i] > group->max_ns ? durations[i] : group->max_ns;
    }
    cn_percentiles_select(durations, count, percentiles);
    group->p50_ns = percentiles[CN_P50];
    group->p90_ns = percentiles[CN_P90];
    group->p99_ns = percentiles[CN_P99];
}

/* Gather the durations of each listed group, then summarize them. */
static void summarize_all(const struct cn_group_members *members,
                          const struct cn_best *best, struct cn_groups *out,
                          size_t group_count)
{
    size_t *ends = cn_alloc(out->count, sizeof(*ends)), sum = 0;
    uint32_t *slots = cn_alloc(group_count, sizeof(*slots)); /* 1 + index in the list */

    for (size_t i = 0; i < out->count; i++) {
        slots[best->list[i].id] = (uint32_t)i + 1;
        ends[i] = sum;
        sum += (size_t)out->list[i].count;
    }
    uint64_t *durations = cn_alloc(sum, sizeof(*durations));
    for (size_t i = 0; i < members->count; i++) {
        uint32_t slot = slots[members->groups[i]];

        if (slot > 0)
            durations[ends[slot - 1]++] = members->durations_ns[i];
    }
    for (size_t i = 0; i < out->count; i++)
        summarize(&out->list[i], durations + (ends[i] - (size_t)out->list[i].count));
    free(durations);
    free(slots);
    free(ends);
}

static void list_groups(const struct cn_group_members *members,
                        const struct cn_best *best, struct cn_groups *out)
{
    out->count = best->count;
    out->list = cn_alloc(best->count, sizeof(*out->list));
    for (size_t i = 0; i < best->count; i++) {
        uint32_t group = (uint32_t)best->list[i].id;

        out->list[i] = (struct cn_group){
            .value = cn_words_add(&out->values, CN_WORD_TEXT,
                                  cn_word_bytes(&members->values, group)),
            .count = members->sizes[group],
            .estimate = members->sizes[group] + members->others[group],
            .error_count = members->errors[group],
        };
    }
}

void cn_group_members_rank(const struct cn_group_members *members, size_t limit,
                           struct cn_groups *out)
{
    size_t group_count = (size_t)members->values.count + 1;
    struct cn_best best;

    *out = (struct cn_groups){0};
    if (group_count > members->size_capacity)
        group_count = members->size_capacity;
    cn_best_init(&best, limit);
    best.compare = compare_values;
    best.arg = &members->values;
    for (uint32_t i = 0; i < group_count; i++)
        if (members->sizes[i] > 0)
            cn_best_offer(&best,
                          &(struct cn_best_item){.key = members->sizes[i], .id = i});
    out->all_count = (size_t)best.offered;
    for (size_t i = 0; i < members->count; i++)
        out->total_ns += members->durations_ns[i];
    cn_best_sort(&best, 0);
    list_groups(members, &best, out);
    summarize_all(members, &best, out, group_count);
    cn_best_done(&best);
}
