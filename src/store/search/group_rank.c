#include "store/search/group_rank.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"

void cn_group_members_done(struct cn_group_members *members)
{
    cn_words_done(&members->values);
    free(members->groups);
    free(members->durations_ns);
    free(members->sizes);
    free(members->errors);
    *members = (struct cn_group_members){0};
}

void cn_group_members_reserve(struct cn_group_members *members, size_t count)
{
    size_t old = members->size_capacity, needed = (size_t)members->values.count + 1;
    size_t capacity = old, room = members->capacity;

    members->sizes =
        cn_grow_to(members->sizes, needed, &capacity, sizeof(*members->sizes));
    members->errors = cn_grow_to(members->errors, needed, &members->size_capacity,
                                 sizeof(*members->errors));
    memset(members->sizes + old, 0, (capacity - old) * sizeof(*members->sizes));
    memset(members->errors + old, 0, (capacity - old) * sizeof(*members->errors));
    members->groups = cn_grow_to(members->groups, members->count + count, &room,
                                 sizeof(*members->groups));
    members->durations_ns =
        cn_grow_to(members->durations_ns, members->count + count, &members->capacity,
                   sizeof(*members->durations_ns));
}

/* The largest groups so far, in order. */
struct top {
    const struct cn_group_members *members;
    uint32_t *groups;
    size_t count, capacity, limit;
};

static int compare_values(struct cn_bytes a, struct cn_bytes b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.ptr, b.ptr, len) : 0;

    if (order != 0)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

static bool is_before(const struct cn_group_members *members, uint32_t a, uint32_t b)
{
    if (members->sizes[a] != members->sizes[b])
        return members->sizes[a] > members->sizes[b];
    return compare_values(cn_word_bytes(&members->values, a),
                          cn_word_bytes(&members->values, b)) < 0;
}

static bool is_not_after(const void *top, uint64_t i, uint64_t group)
{
    const struct top *t = top;

    return !is_before(t->members, (uint32_t)group, t->groups[i]);
}

static void insert(struct top *top, uint32_t group)
{
    size_t at;

    if (top->count == top->limit &&
        !is_before(top->members, group, top->groups[top->count - 1]))
        return;
    at = (size_t)cn_search(0, top->count, is_not_after, top, group);
    if (top->count < top->limit)
        top->count++;
    memmove(top->groups + at + 1, top->groups + at,
            (top->count - 1 - at) * sizeof(*top->groups));
    top->groups[at] = group;
}

/* For a small limit groups are inserted one by one, otherwise all are sorted. */
struct ranked {
    uint32_t group, size;
    struct cn_bytes value;
};

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    return compare_values(x->value, y->value);
}

static void sort_all(struct top *top, size_t group_count)
{
    struct ranked *ranked = cn_alloc(group_count, sizeof(*ranked));
    size_t count = 0;

    for (uint32_t i = 0; i < group_count; i++) {
        if (top->members->sizes[i] > 0)
            ranked[count++] = (struct ranked){i, top->members->sizes[i],
                                              cn_word_bytes(&top->members->values, i)};
    }
    if (count > 0)
        qsort(ranked, count, sizeof(*ranked), compare_ranked);
    top->count = count < top->limit ? count : top->limit;
    for (size_t i = 0; i < top->count; i++)
        top->groups[i] = ranked[i].group;
    free(ranked);
}

/* The value at index `at` if the values were sorted; partitions them around it. */
static uint64_t select_value(uint64_t *values, size_t count, size_t at)
{
    size_t first = 0, last = count - 1;

    while (first < last) {
        uint64_t pivot = values[first + (last - first) / 2];
        size_t low = first, high = last;

        while (low <= high) {
            while (values[low] < pivot)
                low++;
            while (values[high] > pivot)
                high--;
            if (low <= high) {
                uint64_t value = values[low];

                values[low++] = values[high];
                values[high] = value;
                if (high-- == 0)
                    break;
            }
        }
        if (at >= low)
            first = low;
        else if (high != SIZE_MAX && at <= high)
            last = high;
        else
            break;
    }
    return values[at];
}

/* Buckets by the highest set bit and the six bits below. */
enum { BUCKET_BITS = 6, BUCKETS = 64 << BUCKET_BITS };

static unsigned bucket_of(uint64_t value)
{
    unsigned shift;

    if (value >> BUCKET_BITS == 0)
        return (unsigned)value;
    shift = 63 - (unsigned)__builtin_clzll(value) - BUCKET_BITS;
    return (shift + 1) << BUCKET_BITS |
           (unsigned)(value >> shift & ((1 << BUCKET_BITS) - 1));
}

/* Values and the size of each bucket. */
struct spread {
    const uint64_t *values;
    size_t count;
    uint32_t *counts;
    uint64_t *part; /* scratch for the values of a bucket */
};

/* The smallest value that `percent` of all do not exceed. */
static uint64_t percentile(const struct spread *spread, unsigned percent)
{
    size_t at = (spread->count * percent + 99) / 100 - 1, part_count = 0;
    unsigned bucket = 0;

    while (at >= spread->counts[bucket])
        at -= spread->counts[bucket++];
    for (size_t i = 0; i < spread->count; i++) {
        if (bucket_of(spread->values[i]) == bucket)
            spread->part[part_count++] = spread->values[i];
    }
    return select_value(spread->part, part_count, at);
}

static void summarize(struct cn_group *group, const uint64_t *durations, uint64_t *part)
{
    uint32_t counts[BUCKETS] = {0};
    struct spread spread = {durations, (size_t)group->count, counts, part};

    for (size_t i = 0; i < spread.count; i++) {
        counts[bucket_of(durations[i])]++;
        group->total_ns += durations[i];
        group->max_ns = durations[i] > group->max_ns ? durations[i] : group->max_ns;
    }
    group->p50_ns = percentile(&spread, 50);
    group->p90_ns = percentile(&spread, 90);
    group->p99_ns = percentile(&spread, 99);
}

/* For few values selecting is faster than buckets. Values before a percentile are below it. */
static void summarize_few(struct cn_group *group, uint64_t *durations)
{
    size_t count = (size_t)group->count;
    size_t half = (count * 50 + 99) / 100 - 1, most = (count * 90 + 99) / 100 - 1;
    size_t nearly_all = (count * 99 + 99) / 100 - 1;

    for (size_t i = 0; i < count; i++) {
        group->total_ns += durations[i];
        group->max_ns = durations[i] > group->max_ns ? durations[i] : group->max_ns;
    }
    group->p50_ns = select_value(durations, count, half);
    group->p90_ns = select_value(durations + half, count - half, most - half);
    group->p99_ns = select_value(durations + most, count - most, nearly_all - most);
}

/* Gather the durations of each listed group, then summarize them. */
static void summarize_all(const struct cn_group_members *members, const struct top *top,
                          struct cn_groups *out, size_t group_count)
{
    enum { FEW = 4096 };
    size_t *ends = cn_alloc(top->count, sizeof(*ends)), sum = 0, most = 0;
    uint32_t *slots = cn_alloc(group_count, sizeof(*slots)); /* 1 + index in the list */
    uint64_t *durations;

    for (size_t i = 0; i < top->count; i++) {
        slots[top->groups[i]] = (uint32_t)i + 1;
        ends[i] = sum;
        sum += (size_t)out->list[i].count;
        most = out->list[i].count > most ? (size_t)out->list[i].count : most;
    }
    durations = cn_alloc(sum + most, sizeof(*durations));
    for (size_t i = 0; i < members->count; i++) {
        uint32_t slot = slots[members->groups[i]];

        if (slot > 0)
            durations[ends[slot - 1]++] = members->durations_ns[i];
    }
    for (size_t i = 0; i < top->count; i++) {
        uint64_t *begin = durations + (ends[i] - (size_t)out->list[i].count);

        if (out->list[i].count <= FEW)
            summarize_few(&out->list[i], begin);
        else
            summarize(&out->list[i], begin, durations + sum);
    }
    free(durations);
    free(slots);
    free(ends);
}

static void list_groups(const struct cn_group_members *members, const struct top *top,
                        struct cn_groups *out)
{
    out->count = top->count;
    out->list = cn_alloc(top->count, sizeof(*out->list));
    for (size_t i = 0; i < top->count; i++) {
        uint32_t group = top->groups[i];

        out->list[i] = (struct cn_group){
            .value = cn_words_add(&out->values, CN_WORD_TEXT,
                                  cn_word_bytes(&members->values, group)),
            .count = members->sizes[group],
            .error_count = members->errors[group],
        };
    }
}

void cn_group_members_rank(const struct cn_group_members *members, size_t limit,
                           struct cn_groups *out)
{
    enum { INSERT_MAX = 1024 };
    size_t group_count = (size_t)members->values.count + 1;
    struct top top = {.members = members, .limit = limit};

    *out = (struct cn_groups){0};
    if (group_count > members->size_capacity)
        group_count = members->size_capacity;
    top.groups = cn_alloc(limit < group_count ? limit : group_count, sizeof(*top.groups));
    for (uint32_t i = 0; i < group_count; i++) {
        out->all_count += members->sizes[i] > 0;
        if (members->sizes[i] > 0 && limit > 0 && limit <= INSERT_MAX)
            insert(&top, i);
    }
    if (limit > INSERT_MAX)
        sort_all(&top, group_count);
    list_groups(members, &top, out);
    summarize_all(members, &top, out, group_count);
    free(top.groups);
}
