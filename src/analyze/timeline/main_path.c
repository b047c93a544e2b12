#include "analyze/timeline/main_path.h"

#include <stdlib.h>

#include "analyze/views/frames.h"
#include "base/alloc.h"

void cn_main_path_init(struct cn_main_path *path, const struct cn_frames *frames)
{
    *path = (struct cn_main_path){
        .frames = frames,
        .sums = cn_alloc(frames->count + 1, sizeof(*path->sums)),
    };
}

void cn_main_path_done(struct cn_main_path *path)
{
    free(path->sums);
    free(path->used);
    free(path->ready);
    *path = (struct cn_main_path){0};
}

static uint32_t caller_of(const struct cn_main_path *path, uint32_t frame)
{
    return frame < path->frames->count ? path->frames->list[frame].parent : CN_NONE;
}

void cn_main_path_add(struct cn_main_path *path, uint32_t frame, uint64_t ns)
{
    path->sums[frame].total_ns += ns;
    while (!path->sums[frame].is_used) {
        uint32_t caller = caller_of(path, frame);

        path->used = cn_grow(path->used, path->used_count, &path->used_capacity,
                             sizeof(*path->used));
        path->used[path->used_count++] = frame;
        path->sums[frame].is_used = 1;
        if (caller == CN_NONE)
            break;
        path->sums[caller].open++;
        frame = caller;
    }
}

/* True if a frame wins against the best one so far. Equals go by number, so that the result
 * does not depend on the order of adding. */
static bool is_better(uint64_t ns, uint32_t frame, uint64_t best_ns, uint32_t best)
{
    return ns > best_ns || (ns == best_ns && (best == CN_NONE || frame < best));
}

static void add_to_caller(struct cn_path_sum *caller, uint32_t frame, uint64_t total_ns)
{
    if (caller->callees_ns == 0)
        caller->best = CN_NONE;
    caller->total_ns += total_ns;
    caller->callees_ns += total_ns;
    if (is_better(total_ns, frame, caller->best_ns, caller->best)) {
        caller->best_ns = total_ns;
        caller->best = frame;
    }
}

/* Add all frames to their callers, each after its callees; returns the best of those without
 * caller. */
static uint32_t add_up(struct cn_main_path *path)
{
    uint32_t top = CN_NONE;
    uint64_t top_ns = 0;
    size_t ready_count = 0;

    if (path->ready_capacity < path->used_capacity) {
        path->ready_capacity = path->used_capacity;
        path->ready = cn_realloc(path->ready, path->ready_capacity, sizeof(*path->ready));
    }
    for (size_t i = 0; i < path->used_count; i++)
        if (path->sums[path->used[i]].open == 0)
            path->ready[ready_count++] = path->used[i];
    while (ready_count > 0) {
        uint32_t frame = path->ready[--ready_count];
        uint32_t caller = caller_of(path, frame);
        uint64_t total_ns = path->sums[frame].total_ns;

        if (caller != CN_NONE) {
            add_to_caller(&path->sums[caller], frame, total_ns);
            if (--path->sums[caller].open == 0)
                path->ready[ready_count++] = caller;
        } else if (is_better(total_ns, frame, top_ns, top)) {
            top = frame;
            top_ns = total_ns;
        }
    }
    return top;
}

uint32_t cn_main_path_take(struct cn_main_path *path, uint64_t *total_ns)
{
    uint32_t frame = add_up(path);

    *total_ns = 0;
    if (frame != CN_NONE) {
        while (path->sums[frame].callees_ns > 0 &&
               path->sums[frame].callees_ns >=
                   path->sums[frame].total_ns - path->sums[frame].callees_ns)
            frame = path->sums[frame].best;
        *total_ns = path->sums[frame].total_ns;
    }
    for (size_t i = 0; i < path->used_count; i++)
        path->sums[path->used[i]] = (struct cn_path_sum){0};
    path->used_count = 0;
    return frame;
}
