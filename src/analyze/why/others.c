#include "analyze/why/others.h"

#include <stdlib.h>

#include "analyze/calls/visit.h"
#include "base/alloc.h"
#include "base/sort.h"

enum {
    MOMENTS = 200, /* of a group */
    FRAMES = 32,   /* innermost open calls of a task */
};

/* The middle of a call. */
struct moment {
    uint64_t time_ns;
    uint32_t task; /* of the call */
    uint32_t call; /* its number: first typical calls, then slow ones */
};

/* A function that was open in another task. */
struct seen {
    uint32_t call;
    uint32_t above; /* calls that it made: 0 is the innermost */
    uint32_t function;
};

struct seen_list {
    struct seen *list;
    size_t count, capacity;
};

struct others_walk {
    struct cn_task_walk base; /* first */
    size_t next;              /* moment */
    struct seen_list seen;
};

struct others_build {
    const struct cn_call_query *query;
    struct moment moments[CN_WHY_GROUPS * MOMENTS]; /* by time */
    size_t moment_count;
    struct cn_why_call samples[CN_WHY_GROUPS][MOMENTS];
    size_t sample_counts[CN_WHY_GROUPS];
    struct seen_list *workers, seen;
};

static void add_seen(struct seen_list *into, const struct seen *seen)
{
    CN_PUSH(into->list, into->count, into->capacity, *seen);
}

static struct others_walk *walk_of(struct cn_task_walk *base)
{
    return (struct others_walk *)base;
}

static void look(const struct others_build *build, struct others_walk *walk,
                 const struct moment *moment)
{
    const struct cn_call_stack *stack = &walk->base.stack;
    uint32_t above = 0;

    if (moment->task == build->query->tasks[walk->base.slot])
        return;
    for (uint32_t i = stack->count; i-- > 0 && above < FRAMES;) {
        const struct cn_call_frame *frame = &stack->frames[i];

        if (frame->function < build->query->rec->function_count &&
            (frame->flags & CN_FRAME_SHOWN))
            add_seen(&walk->seen, &(struct seen){moment->call, above++, frame->function});
    }
}

static void walk_done(void *arg, struct cn_task_walk *base)
{
    (void)arg;
    free(walk_of(base)->seen.list);
}

static void walk_count(void *arg, struct cn_task_walk *base,
                       const struct cn_call_batch *batch)
{
    const struct others_build *build = arg;
    struct others_walk *walk = walk_of(base);

    for (size_t i = 0; i < batch->count; i++) {
        const struct cn_call *call = &batch->calls[i];

        while (walk->next < build->moment_count &&
               build->moments[walk->next].time_ns < cn_call_recorded_ns(batch, call))
            look(build, walk, &build->moments[walk->next++]);
        cn_call_stack_follow(&walk->base.stack, call, batch);
    }
}

static void walk_merge(void *arg, const struct cn_task_walk *base, unsigned worker)
{
    const struct others_build *build = arg;
    const struct others_walk *walk = (const struct others_walk *)base;

    for (size_t i = 0; i < walk->seen.count; i++)
        add_seen(&build->workers[worker], &walk->seen.list[i]);
}

static int compare_seen(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;

    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static void choose_moments(struct others_build *build, const struct cn_why *why)
{
    for (uint32_t k = 0; k < CN_WHY_GROUPS; k++) {
        const struct cn_why_calls *group = &why->groups[k];
        size_t count = group->sample_count < MOMENTS ? group->sample_count : MOMENTS;

        build->sample_counts[k] = count;
        for (uint32_t i = 0; i < count; i++) {
            const struct cn_why_call *call =
                &group->samples[(size_t)i * group->sample_count / count];

            build->samples[k][i] = *call;
            build->moments[build->moment_count++] =
                (struct moment){call->begin_ns + (call->end_ns - call->begin_ns) / 2,
                                call->task, k * MOMENTS + i};
        }
    }
    CN_SORT(build->moments, build->moment_count, CN_UP(struct moment, time_ns),
            CN_UP(struct moment, call));
}

/* The functions seen during a call; each counts once. */
static void add_values(void *arg, const struct cn_why_call *call,
                       struct cn_traits *traits)
{
    const struct others_build *build = arg;
    const struct cn_recording *rec = build->query->rec;
    int group = call >= build->samples[CN_WHY_SLOW] ? CN_WHY_SLOW : CN_WHY_TYPICAL;
    struct seen key = {.call =
                           (uint32_t)(group * MOMENTS + (call - build->samples[group]))};
    size_t low = 0, high = build->seen.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (compare_seen(&build->seen.list[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < build->seen.count && build->seen.list[low].call == key.call; low++)
        cn_traits_add(traits, "other task",
                      rec->functions[build->seen.list[low].function].name, NULL);
}

bool cn_why_others_find(struct cn_signs *signs, const struct cn_why *why,
                        const struct cn_call_query *query, unsigned workers,
                        struct cn_error *err)
{
    static const struct cn_call_visitor visitor = {
        .walk_size = sizeof(struct others_walk),
        .done = walk_done,
        .count = walk_count,
        .merge = walk_merge,
    };
    unsigned worker_count = workers > 0 ? workers : 1;
    struct others_build *build = cn_alloc(1, sizeof(*build));
    struct cn_call_visit visit = {
        .query = query,
        .is_ordered = query->filter->has_switches,
        .workers = worker_count,
        .visitor = &visitor,
        .arg = build,
    };
    struct cn_call_damages damages = {0}; /* reported by the readings before */
    struct cn_why chosen = {0};

    *signs = (struct cn_signs){0};
    build->query = query;
    build->workers = cn_alloc(worker_count, sizeof(*build->workers));
    choose_moments(build, why);
    bool ok = cn_call_visit_run(&visit, &damages, err);
    for (unsigned i = 0; i < worker_count; i++) {
        for (size_t k = 0; k < build->workers[i].count; k++)
            add_seen(&build->seen, &build->workers[i].list[k]);
        free(build->workers[i].list);
    }
    if (build->seen.count > 0)
        qsort(build->seen.list, build->seen.count, sizeof(*build->seen.list),
              compare_seen);
    for (int k = 0; k < CN_WHY_GROUPS; k++) {
        chosen.groups[k].samples = build->samples[k];
        chosen.groups[k].sample_count = build->sample_counts[k];
    }
    cn_why_signs_find(signs, &chosen, query->rec, add_values, build);
    cn_call_damages_done(&damages);
    free(build->workers);
    free(build->seen.list);
    free(build);
    return ok;
}
