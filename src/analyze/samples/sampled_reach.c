#include "analyze/samples/sampled_reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Shares of all samples of a profile: so many, and so many more for each sample. */
enum { SHARES_MAX = 65536, SHARES_PER_SAMPLE_MAX = 8 };

/* What was measured at a function that was launched. */
struct cn_reach_launches {
    double count, sampled_count;
    bool has_count, has_sampled_count;
};

struct cn_reach_sample {
    struct cn_sampled_spot spot;
    double instructions;
};

/* A possible way; its calls live as long as the answer that named them. */
struct cn_reach_way {
    const struct cn_call_path *path;
    uint32_t parent;
    double scale;  /* by launches */
    double weight; /* by calls */
};

/* Ways that have their innermost `depth` calls in common. */
struct cn_reach_group {
    size_t begin, end, depth;
    double weight;
};

static uint32_t find_metric(const struct cn_sampled_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->metric_count; i++) {
        struct cn_bytes own = profile->metrics[i].name;

        if (own.len == strlen(name) && memcmp(own.ptr, name, own.len) == 0)
            return (uint32_t)i;
    }
    return CN_NONE;
}

void cn_sampled_reach_begin_points(struct cn_sampled_reach *r)
{
    r->point_count = 0;
    cn_map_done(&r->points_of);
}

static void begin(struct cn_sampled_reach *r, size_t sample_count)
{
    r->share_count = 0;
    r->tried_count = 0;
    r->share_max = SHARES_MAX + sample_count * SHARES_PER_SAMPLE_MAX;
    r->launch_count = 0;
    r->sample_count = 0;
    cn_sampled_reach_begin_points(r);
    cn_map_done(&r->launched);
}

void cn_sampled_reach_begin(struct cn_sampled_reach *r,
                            const struct cn_sampled_profile *profile)
{
    begin(r, profile->node_count);
    r->launches = find_metric(profile, CN_REACH_LAUNCHES);
    r->sampled_launches = find_metric(profile, CN_REACH_SAMPLED_LAUNCHES);
    r->instructions = find_metric(profile, CN_REACH_INSTRUCTIONS);
}

static uint32_t find_measured(const struct cn_sampled_metrics *metrics, const char *name)
{
    for (size_t i = 0; i < metrics->count; i++)
        if (strcmp(metrics->list[i].name, name) == 0)
            return (uint32_t)i;
    return CN_NONE;
}

void cn_sampled_reach_begin_measured(struct cn_sampled_reach *r,
                                     const struct cn_sampled_metrics *metrics,
                                     size_t sample_count)
{
    begin(r, sample_count);
    r->launches = find_measured(metrics, CN_REACH_LAUNCHES);
    r->sampled_launches = find_measured(metrics, CN_REACH_SAMPLED_LAUNCHES);
    r->instructions = find_measured(metrics, CN_REACH_INSTRUCTIONS);
}

void cn_sampled_reach_begin_samples(struct cn_sampled_reach *r)
{
    r->sample_count = 0;
}

void cn_sampled_reach_add_point(struct cn_sampled_reach *r, struct cn_reach_point point)
{
    r->points =
        cn_grow(r->points, r->point_count, &r->point_capacity, sizeof(*r->points));
    (void)cn_map_at(&r->points_of, point.function, (uint32_t)r->point_count);
    r->points[r->point_count++] = point;
}

void cn_sampled_reach_note_value(struct cn_sampled_reach *r, uint32_t context,
                                 uint32_t metric, double value)
{
    uint32_t at = *cn_map_at(&r->launched, context, (uint32_t)r->launch_count);
    struct cn_reach_launches *launches;

    if (at == r->launch_count) {
        r->launch_list = cn_grow(r->launch_list, r->launch_count, &r->launch_capacity,
                                 sizeof(*r->launch_list));
        r->launch_list[r->launch_count++] = (struct cn_reach_launches){0};
    }
    launches = &r->launch_list[at];
    if (metric == r->launches) {
        launches->count += value;
        launches->has_count = true;
    } else if (metric == r->sampled_launches) {
        launches->sampled_count += value;
        launches->has_sampled_count = true;
    }
}

void cn_sampled_reach_note_sample(struct cn_sampled_reach *r,
                                  const struct cn_sampled_spot *spot, uint32_t metric,
                                  double value)
{
    if (metric != r->instructions)
        return;
    r->samples =
        cn_grow(r->samples, r->sample_count, &r->sample_capacity, sizeof(*r->samples));
    r->samples[r->sample_count++] = (struct cn_reach_sample){*spot, value};
}

static int compare_spots(const struct cn_sampled_spot *a, const struct cn_sampled_spot *b)
{
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static int compare_samples(const void *left, const void *right)
{
    const struct cn_reach_sample *a = left, *b = right;

    return compare_spots(&a->spot, &b->spot);
}

void cn_sampled_reach_ready(struct cn_sampled_reach *r)
{
    size_t count = 0;

    if (r->sample_count == 0)
        return;
    qsort(r->samples, r->sample_count, sizeof(*r->samples), compare_samples);
    for (size_t i = 1; i < r->sample_count; i++) {
        if (compare_samples(&r->samples[count], &r->samples[i]) == 0)
            r->samples[count].instructions += r->samples[i].instructions;
        else
            r->samples[++count] = r->samples[i];
    }
    r->sample_count = count + 1;
}

static double sampled_at(const struct cn_sampled_reach *r,
                         const struct cn_sampled_spot *spot, uint64_t address)
{
    struct cn_reach_sample key = {{spot->parent, spot->module, address}, 0};
    const struct cn_reach_sample *found = NULL;

    if (r->sample_count > 0)
        found = bsearch(&key, r->samples, r->sample_count, sizeof(key), compare_samples);
    return found ? found->instructions : 0;
}

/* How many launches a sampled one stands for; 0 for a function that was not launched
 * here. */
static double scale_at(const struct cn_sampled_reach *r, uint32_t context)
{
    uint32_t at = cn_map_find(&r->launched, context, CN_NONE);
    const struct cn_reach_launches *launches;

    if (at == CN_NONE)
        return 0;
    launches = &r->launch_list[at];
    if (!launches->has_count || !launches->has_sampled_count ||
        launches->sampled_count == 0)
        return 1;
    return launches->count / launches->sampled_count;
}

/* The call that is `depth` calls away from the sample. */
static uint64_t call_of(const struct cn_reach_way *way, size_t depth)
{
    return way->path->calls[way->path->call_count - 1 - depth];
}

/* From the inside out, so that ways with the same last calls are neighbours. */
static int compare_ways(const void *left, const void *right)
{
    const struct cn_reach_way *a = left, *b = right;
    size_t least = a->path->call_count < b->path->call_count ? a->path->call_count
                                                             : b->path->call_count;

    for (size_t i = 0; i < least; i++) {
        uint64_t of_a = call_of(a, i), of_b = call_of(b, i);

        if (of_a != of_b)
            return of_a < of_b ? -1 : 1;
    }
    if (a->path->call_count != b->path->call_count)
        return a->path->call_count < b->path->call_count ? -1 : 1;
    return (a->path > b->path) - (a->path < b->path);
}

static size_t group_end(const struct cn_sampled_reach *r, size_t begin, size_t end,
                        size_t depth)
{
    size_t at = begin + 1;

    while (at < end && call_of(&r->ways[at], depth) == call_of(&r->ways[begin], depth))
        at++;
    return at;
}

static void push_group(struct cn_sampled_reach *r, size_t *count,
                       struct cn_reach_group group)
{
    r->groups = cn_grow(r->groups, *count, &r->group_capacity, sizeof(*r->groups));
    r->groups[(*count)++] = group;
}

/* Split a group by the next call, in proportion to what was sampled there. */
static void split(struct cn_sampled_reach *r, const struct cn_sampled_spot *spot,
                  struct cn_reach_group group, size_t *count)
{
    double sum = 0;
    size_t part_count = 0, next;

    for (size_t at = group.begin; at < group.end; at = next) {
        next = group_end(r, at, group.end, group.depth);
        sum += sampled_at(r, spot, call_of(&r->ways[at], group.depth));
        part_count++;
    }
    for (size_t at = group.begin; at < group.end; at = next) {
        double own = sampled_at(r, spot, call_of(&r->ways[at], group.depth));

        next = group_end(r, at, group.end, group.depth);
        push_group(r, count,
                   (struct cn_reach_group){
                       at, next, group.depth + 1,
                       group.weight * (sum > 0 ? own / sum : 1 / (double)part_count)});
    }
}

static void weigh_ways(struct cn_sampled_reach *r, const struct cn_sampled_spot *spot,
                       size_t way_count)
{
    size_t count = 0;

    qsort(r->ways, way_count, sizeof(*r->ways), compare_ways);
    push_group(r, &count, (struct cn_reach_group){0, way_count, 0, 1});
    while (count > 0) {
        struct cn_reach_group group = r->groups[--count];

        if (group.end - group.begin > 1 && group.weight > 0 &&
            r->ways[group.begin].path->call_count > group.depth) {
            split(r, spot, group, &count);
            continue;
        }
        for (size_t i = group.begin; i < group.end; i++)
            r->ways[i].weight = group.weight;
    }
}

static void add_way(struct cn_sampled_reach *r, size_t *count, struct cn_reach_way way)
{
    if (way.scale == 0)
        return;
    r->ways = cn_grow(r->ways, *count, &r->way_capacity, sizeof(*r->ways));
    r->ways[(*count)++] = way;
}

static size_t points_end(const struct cn_sampled_reach *r, size_t first)
{
    size_t end = first;

    while (end < r->point_count && r->points[end].function == r->points[first].function)
        end++;
    return end;
}

/* The ways that begin with a path, from all points that it can begin at. */
static size_t list_ways_from_points(struct cn_sampled_reach *r,
                                    const struct cn_call_paths *paths)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        size_t first = cn_map_find(&r->points_of, paths->list[i].entry.function, CN_NONE);
        size_t end = first == CN_NONE ? first : points_end(r, first);

        for (size_t k = first; k < end; k++) {
            const struct cn_reach_point *point = &r->points[k];

            add_way(r, &count,
                    (struct cn_reach_way){&paths->list[i], point->parent,
                                          scale_at(r, point->entry) * point->share, 0});
        }
        /* What was tried for nothing counts, too: it must not take the time of samples
         * times launches. */
        r->tried_count += end - first;
        if (r->tried_count > r->share_max)
            return 0;
    }
    return count;
}

/* Only ways from functions that were launched here count. */
static size_t list_ways(struct cn_sampled_reach *r, struct cn_sampled_contexts *contexts,
                        const struct cn_sampled_spot *spot,
                        const struct cn_call_paths *paths)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        uint32_t entry =
            cn_sampled_contexts_way(contexts, spot, i, &paths->list[i].entry);

        add_way(
            r, &count,
            (struct cn_reach_way){&paths->list[i], spot->parent, scale_at(r, entry), 0});
    }
    return count;
}

static bool add_share(struct cn_sampled_reach *r, struct cn_sampled_contexts *contexts,
                      const struct cn_sampled_spot *spot, const struct cn_reach_way *way,
                      struct cn_error *err)
{
    struct cn_sampled_expansion expansion = {.last = way->parent};

    for (size_t i = 0; i < way->path->call_count; i++)
        if (!cn_sampled_contexts_expand(contexts, expansion.last, spot->module,
                                        way->path->calls[i], &expansion, err))
            return false;
    if (!cn_sampled_contexts_expand(contexts, expansion.last, spot->module, spot->address,
                                    &expansion, err))
        return false;
    r->shares =
        cn_grow(r->shares, r->share_count, &r->share_capacity, sizeof(*r->shares));
    r->shares[r->share_count++] = (struct cn_sampled_share){
        .first = expansion.first,
        .last = expansion.last,
        .weight = way->scale * way->weight,
    };
    return true;
}

bool cn_sampled_reach_find(struct cn_sampled_reach *r,
                           struct cn_sampled_contexts *contexts,
                           const struct cn_sampled_spot *spot, uint32_t *out,
                           struct cn_error *err)
{
    size_t first = r->share_count, way_count;
    struct cn_call_paths paths;

    *out = CN_NONE;
    if (!cn_measurements_call_paths(contexts->measurements, spot->module, spot->address,
                                    &paths, err))
        return false;
    if (paths.count == 0 || paths.count > r->share_max - first || first >= CN_NONE)
        return true;
    way_count = spot->parent == CN_REACH_POINTS ? list_ways_from_points(r, &paths)
                                                : list_ways(r, contexts, spot, &paths);
    if (way_count == 0)
        return true;
    weigh_ways(r, spot, way_count);
    for (size_t i = 0; i < way_count; i++)
        if (!add_share(r, contexts, spot, &r->ways[i], err))
            return false;
    r->shares[r->share_count - 1].is_last = true;
    *out = (uint32_t)first;
    return true;
}

void cn_sampled_reach_done(struct cn_sampled_reach *r)
{
    free(r->shares);
    cn_map_done(&r->launched);
    free(r->launch_list);
    free(r->samples);
    free(r->points);
    cn_map_done(&r->points_of);
    free(r->ways);
    free(r->groups);
    *r = (struct cn_sampled_reach){0};
}
