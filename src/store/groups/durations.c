#include "store/groups/durations.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/durations/percentile.h"
#include "base/alloc.h"
#include "base/best.h"
#include "base/run/pool.h"
#include "store/groups/key_numbers.h"

enum { SLICE_MEMBERS = 1 << 20 /* about so many are summarized at a time */ };

static void free_part(struct cn_group_part *part)
{
    free(part->shares);
    free(part->short_ns);
    free(part->long_ns);
}

void cn_group_members_done(struct cn_group_members *members)
{
    for (size_t i = 0; i < members->part_count; i++)
        free_part(&members->parts[i]);
    cn_words_done(&members->values);
    free(members->parts);
    free(members->added);
    free(members->sizes);
    free(members->errors);
    free(members->others);
    *members = (struct cn_group_members){0};
}

void cn_group_members_reserve(struct cn_group_members *members)
{
    size_t old = members->size_capacity, needed = (size_t)members->values.count + 1;
    size_t capacity = old, all = old;

    CN_GROW_TO(members->sizes, needed, capacity);
    CN_GROW_TO(members->others, needed, all);
    CN_GROW_TO(members->errors, needed, members->size_capacity);
    memset(members->sizes + old, 0, (capacity - old) * sizeof(*members->sizes));
    memset(members->others + old, 0, (all - old) * sizeof(*members->others));
    memset(members->errors + old, 0, (capacity - old) * sizeof(*members->errors));
}

/* Count the members by group. `numbers` receives the share of each. */
static void find_shares(struct cn_group_part *part, const struct cn_group_member *list,
                        size_t count, uint32_t *numbers)
{
    struct cn_key_numbers numbering = {0};
    size_t capacity = 0;

    for (size_t i = 0; i < count; i++) {
        uint32_t number = cn_key_number_of(&numbering, list[i].group);

        if (number == part->share_count)
            CN_PUSH(part->shares, part->share_count, capacity,
                    (struct cn_group_share){.group = list[i].group});
        part->shares[number].count++;
        part->shares[number].error_count += list[i].has_errors;
        part->total_ns += list[i].duration_ns;
        numbers[i] = number;
    }
    cn_key_numbers_done(&numbering);
}

void cn_group_part_make(struct cn_group_part *part, const struct cn_group_member *list,
                        size_t count)
{
    uint32_t *numbers = cn_alloc(count, sizeof(*numbers)), *ends;
    uint64_t longest_ns = 0;
    uint32_t sum = 0;

    *part = (struct cn_group_part){0};
    find_shares(part, list, count, numbers);
    ends = cn_alloc(part->share_count, sizeof(*ends));
    for (size_t i = 0; i < part->share_count; i++) {
        ends[i] = sum;
        sum += part->shares[i].count;
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].duration_ns > longest_ns)
            longest_ns = list[i].duration_ns;
    if (longest_ns <= UINT32_MAX)
        part->short_ns = cn_alloc(count, sizeof(*part->short_ns));
    else
        part->long_ns = cn_alloc(count, sizeof(*part->long_ns));
    for (size_t i = 0; i < count; i++) {
        uint32_t at = ends[numbers[i]]++;

        if (part->short_ns)
            part->short_ns[at] = (uint32_t)list[i].duration_ns;
        else
            part->long_ns[at] = list[i].duration_ns;
    }
    free(numbers);
    free(ends);
}

void cn_group_members_take(struct cn_group_members *members, struct cn_group_part *part)
{
    cn_group_members_reserve(members);
    for (size_t i = 0; i < part->share_count; i++) {
        const struct cn_group_share *share = &part->shares[i];

        members->sizes[share->group] += share->count;
        members->errors[share->group] += share->error_count;
    }
    CN_PUSH(members->parts, members->part_count, members->part_capacity, *part);
    *part = (struct cn_group_part){0};
}

static void take_added(struct cn_group_members *members)
{
    struct cn_group_part part;

    if (members->added_count == 0)
        return;
    cn_group_part_make(&part, members->added, members->added_count);
    cn_group_members_take(members, &part);
    members->added_count = 0;
}

void cn_group_members_add(struct cn_group_members *members, uint32_t group,
                          uint64_t duration_ns, bool has_errors)
{
    if (!members->added)
        members->added = cn_alloc(CN_GROUP_PART_MEMBERS, sizeof(*members->added));
    if (members->added_count == CN_GROUP_PART_MEMBERS)
        take_added(members);
    members->added[members->added_count++] =
        (struct cn_group_member){duration_ns, group, has_errors};
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

/* Summarizes listed groups, so many at a time that their durations fit into memory. */
struct summarizing {
    const struct cn_group_members *members;
    struct cn_groups *out;
    uint32_t *slots; /* by group: 1 + index in the list */
    struct summary_slice {
        size_t first, end; /* in the list */
    } * slices;
    size_t slice_count, slice_capacity;
};

/* Append the durations of a part that are of groups of a slice. */
static void gather(const struct summarizing *summarizing,
                   const struct summary_slice *slice, const struct cn_group_part *part,
                   size_t *ends, uint64_t *durations)
{
    size_t at = 0;

    for (size_t i = 0; i < part->share_count; at += part->shares[i++].count) {
        uint32_t slot = summarizing->slots[part->shares[i].group];

        if (slot <= slice->first || slot > slice->end)
            continue;
        size_t *end = &ends[slot - 1 - slice->first];
        for (size_t k = at; k < at + part->shares[i].count; k++)
            durations[(*end)++] = part->short_ns ? part->short_ns[k] : part->long_ns[k];
    }
}

static void summarize_slice(void *arg, size_t job, unsigned worker)
{
    const struct summarizing *summarizing = arg;
    const struct cn_group_members *members = summarizing->members;
    const struct summary_slice *slice = &summarizing->slices[job];
    struct cn_group *list = summarizing->out->list;
    size_t *ends = cn_alloc(slice->end - slice->first, sizeof(*ends)), sum = 0;

    (void)worker;
    for (size_t i = slice->first; i < slice->end; i++) {
        ends[i - slice->first] = sum;
        sum += (size_t)list[i].count;
    }
    uint64_t *durations = cn_alloc(sum, sizeof(*durations));
    for (size_t i = 0; i < members->part_count; i++)
        gather(summarizing, slice, &members->parts[i], ends, durations);
    for (size_t i = slice->first; i < slice->end; i++)
        summarize(&list[i], durations + (ends[i - slice->first] - (size_t)list[i].count));
    free(durations);
    free(ends);
}

static void summarize_all(const struct cn_group_members *members,
                          const struct cn_best *best, struct cn_groups *out,
                          size_t group_count)
{
    struct summarizing summarizing = {.members = members, .out = out};
    struct cn_jobs jobs = {.arg = &summarizing, .run = summarize_slice};
    size_t first = 0, sum = 0;

    summarizing.slots = cn_alloc(group_count, sizeof(*summarizing.slots));
    for (size_t i = 0; i < out->count; i++) {
        summarizing.slots[best->list[i].id] = (uint32_t)i + 1;
        sum += (size_t)out->list[i].count;
        if (sum < SLICE_MEMBERS && i + 1 < out->count)
            continue;
        CN_PUSH(summarizing.slices, summarizing.slice_count, summarizing.slice_capacity,
                (struct summary_slice){first, i + 1});
        first = i + 1;
        sum = 0;
    }
    jobs.count = summarizing.slice_count;
    cn_pool_run(&jobs, cn_pool_default_workers());
    free(summarizing.slices);
    free(summarizing.slots);
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

void cn_group_members_rank(struct cn_group_members *members, size_t limit,
                           struct cn_groups *out)
{
    size_t group_count = (size_t)members->values.count + 1;
    struct cn_best best;

    *out = (struct cn_groups){0};
    take_added(members);
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
    for (size_t i = 0; i < members->part_count; i++)
        out->total_ns += members->parts[i].total_ns;
    cn_best_sort(&best, 0);
    list_groups(members, &best, out);
    summarize_all(members, &best, out, group_count);
    cn_best_done(&best);
}
