#include "analyze/samples/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Limit of the shares of a profile: a constant, and more per sample. */
enum { SHARES_MAX = 65536, SHARES_PER_SAMPLE_MAX = 8 };

/* The launches of a function. */
struct cn_reach_launches {
    double count, sampled_count;
    bool has_count, has_sampled_count;
};

struct cn_reach_sample {
    struct cn_sampled_spot spot;
    double instructions;
};

/* A candidate call path; the path is borrowed from cn_measurements_call_paths(). */
struct cn_reach_candidate {
    const struct cn_call_path *path;
    uint32_t parent;
    double scale;  /* by launches */
    double weight; /* by calls */
};

/* Candidates with the same innermost `depth` calls. */
struct cn_reach_group {
    size_t begin, end, depth;
    double weight;
};

static uint32_t find_metric(const struct cn_sampled_profile *profile, const char *name)
{
    for (size_t i = 0; i < profile->metric_count; i++)
        if (cn_bytes_equal(profile->metrics[i].name, name))
            return (uint32_t)i;
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
    CN_GROW(r->points, r->point_count, r->point_capacity);
    (void)cn_map_at(&r->points_of, point.function, (uint32_t)r->point_count);
    r->points[r->point_count++] = point;
}

void cn_sampled_reach_note_value(struct cn_sampled_reach *r, uint32_t context,
                                 uint32_t metric, double value)
{
    uint32_t at = *cn_map_at(&r->launched, context, (uint32_t)r->launch_count);

    if (at == r->launch_count) {
        CN_PUSH(r->launch_list, r->launch_count, r->launch_capacity,
                (struct cn_reach_launches){0});
    }
    struct cn_reach_launches *launches = &r->launch_list[at];
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
    CN_PUSH(r->samples, r->sample_count, r->sample_capacity,
            (struct cn_reach_sample){*spot, value});
}

static int compare_samples(const void *left, const void *right)
{
    const struct cn_reach_sample *a = left, *b = right;

    if (a->spot.parent != b->spot.parent)
        return a->spot.parent < b->spot.parent ? -1 : 1;
    if (a->spot.module != b->spot.module)
        return a->spot.module < b->spot.module ? -1 : 1;
    return (a->spot.address > b->spot.address) - (a->spot.address < b->spot.address);
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

/* The launches per sampled launch; 0 for a function that was not launched here. */
static double scale_at(const struct cn_sampled_reach *r, uint32_t context)
{
    uint32_t at = cn_map_find(&r->launched, context, CN_NONE);

    if (at == CN_NONE)
        return 0;
    const struct cn_reach_launches *launches = &r->launch_list[at];
    if (!launches->has_count || !launches->has_sampled_count ||
        launches->sampled_count == 0)
        return 1;
    return launches->count / launches->sampled_count;
}

/* The call at distance `depth` from the sample. */
static uint64_t call_of(const struct cn_reach_candidate *candidate, size_t depth)
{
    return candidate->path->calls[candidate->path->call_count - 1 - depth];
}

/* From the inside out, so that candidates with the same last calls are adjacent. */
static int compare_candidates(const void *left, const void *right)
{
    const struct cn_reach_candidate *a = left, *b = right;
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

    while (at < end &&
           call_of(&r->candidates[at], depth) == call_of(&r->candidates[begin], depth))
        at++;
    return at;
}

static void push_group(struct cn_sampled_reach *r, size_t *count,
                       struct cn_reach_group group)
{
    CN_PUSH(r->groups, *count, r->group_capacity, group);
}

/* Split a group by the next call, in proportion to the samples at the call sites. */
static void split(struct cn_sampled_reach *r, const struct cn_sampled_spot *spot,
                  struct cn_reach_group group, size_t *count)
{
    double sum = 0;
    size_t part_count = 0, next;

    for (size_t at = group.begin; at < group.end; at = next) {
        next = group_end(r, at, group.end, group.depth);
        sum += sampled_at(r, spot, call_of(&r->candidates[at], group.depth));
        part_count++;
    }
    for (size_t at = group.begin; at < group.end; at = next) {
        double own = sampled_at(r, spot, call_of(&r->candidates[at], group.depth));

        next = group_end(r, at, group.end, group.depth);
        push_group(r, count,
                   (struct cn_reach_group){
                       at, next, group.depth + 1,
                       group.weight * (sum > 0 ? own / sum : 1 / (double)part_count)});
    }
}

static void weigh_candidates(struct cn_sampled_reach *r,
                             const struct cn_sampled_spot *spot, size_t candidate_count)
{
    size_t count = 0;

    qsort(r->candidates, candidate_count, sizeof(*r->candidates), compare_candidates);
    push_group(r, &count, (struct cn_reach_group){0, candidate_count, 0, 1});
    while (count > 0) {
        struct cn_reach_group group = r->groups[--count];

        if (group.end - group.begin > 1 && group.weight > 0 &&
            r->candidates[group.begin].path->call_count > group.depth) {
            split(r, spot, group, &count);
            continue;
        }
        for (size_t i = group.begin; i < group.end; i++)
            r->candidates[i].weight = group.weight;
    }
}

static void add_candidate(struct cn_sampled_reach *r, size_t *count,
                          struct cn_reach_candidate candidate)
{
    if (candidate.scale == 0)
        return;
    CN_PUSH(r->candidates, *count, r->candidate_capacity, candidate);
}

/* List the paths as candidates, from all points of their first function. */
static size_t list_from_points(struct cn_sampled_reach *r,
                               const struct cn_call_paths *paths)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        size_t first = cn_map_find(&r->points_of, paths->list[i].entry.function, CN_NONE);
        size_t end = first;

        for (;
             end < r->point_count && r->points[end].function == r->points[first].function;
             end++) {
            const struct cn_reach_point *point = &r->points[end];

            add_candidate(
                r, &count,
                (struct cn_reach_candidate){&paths->list[i], point->parent,
                                            scale_at(r, point->entry) * point->share, 0});
        }
        /* Failed tries count as well: work must not grow with samples times launches. */
        r->tried_count += end - first;
        if (r->tried_count > r->share_max)
            return 0;
    }
    return count;
}

/* List the paths from functions that were launched here. */
static size_t list_candidates(struct cn_sampled_reach *r,
                              struct cn_sampled_contexts *contexts,
                              const struct cn_sampled_spot *spot,
                              const struct cn_call_paths *paths)
{
    size_t count = 0;

    for (size_t i = 0; i < paths->count; i++) {
        uint32_t entry =
            cn_sampled_contexts_path(contexts, spot, i, &paths->list[i].entry);

        add_candidate(r, &count,
                      (struct cn_reach_candidate){&paths->list[i], spot->parent,
                                                  scale_at(r, entry), 0});
    }
    return count;
}

static bool add_share(struct cn_sampled_reach *r, struct cn_sampled_contexts *contexts,
                      const struct cn_sampled_spot *spot,
                      const struct cn_reach_candidate *candidate, struct cn_error *err)
{
    struct cn_sampled_expansion expansion = {.last = candidate->parent};

    for (size_t i = 0; i < candidate->path->call_count; i++)
        if (!cn_sampled_contexts_expand(contexts, expansion.last, spot->module,
                                        candidate->path->calls[i], &expansion, err))
            return false;
    if (!cn_sampled_contexts_expand(contexts, expansion.last, spot->module, spot->address,
                                    &expansion, err))
        return false;
    CN_PUSH(r->shares, r->share_count, r->share_capacity,
            (struct cn_sampled_share){
                .first = expansion.first,
                .last = expansion.last,
                .weight = candidate->scale * candidate->weight,
            });
    return true;
}

bool cn_sampled_reach_find(struct cn_sampled_reach *r,
                           struct cn_sampled_contexts *contexts,
                           const struct cn_sampled_spot *spot, uint32_t *out,
                           struct cn_error *err)
{
    size_t first = r->share_count, candidate_count;
    struct cn_call_paths paths;

    *out = CN_NONE;
    if (!cn_measurements_call_paths(contexts->measurements, spot->module, spot->address,
                                    &paths, err))
        return false;
    if (paths.count == 0 || paths.count > r->share_max - first || first >= CN_NONE)
        return true;
    candidate_count = spot->parent == CN_REACH_POINTS
                          ? list_from_points(r, &paths)
                          : list_candidates(r, contexts, spot, &paths);
    if (candidate_count == 0)
        return true;
    weigh_candidates(r, spot, candidate_count);
    for (size_t i = 0; i < candidate_count; i++)
        if (!add_share(r, contexts, spot, &r->candidates[i], err))
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
    free(r->candidates);
    free(r->groups);
    *r = (struct cn_sampled_reach){0};
}
