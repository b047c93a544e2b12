#include "analyze/timeline/main_path.h"

#include <stdlib.h>

#include "analyze/timeline/tally.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"

void cn_main_path_init(struct cn_main_path *path, const struct cn_frames *frames)
{
    *path = (struct cn_main_path){
        .frames = frames,
        .slot_of_frame = cn_alloc(frames->count + 1, sizeof(*path->slot_of_frame)),
    };
}

void cn_main_path_done(struct cn_main_path *path)
{
    free(path->slot_of_frame);
    free(path->slots);
    free(path->used);
    free(path->ready);
    *path = (struct cn_main_path){0};
}

static uint32_t add_slot(struct cn_main_path *path, uint32_t frame)
{
    CN_GROW(path->slots, path->slot_count, path->slot_capacity);
    path->slots[path->slot_count] =
        (struct cn_path_slot){.frame = frame, .caller = CN_NONE};
    path->slot_of_frame[frame] = (uint32_t)++path->slot_count;
    return (uint32_t)path->slot_count - 1;
}

uint32_t cn_main_path_slot(struct cn_main_path *path, uint32_t frame)
{
    uint32_t slot, callee;

    if (path->slot_of_frame[frame])
        return path->slot_of_frame[frame] - 1;
    slot = callee = add_slot(path, frame);
    while (frame < path->frames->count &&
           (frame = path->frames->list[frame].parent) != CN_NONE) {
        bool is_known = path->slot_of_frame[frame] != 0;
        uint32_t caller =
            is_known ? path->slot_of_frame[frame] - 1 : add_slot(path, frame);

        path->slots[callee].caller = caller;
        if (is_known)
            break;
        callee = caller;
    }
    return slot;
}

/* True if a frame wins against the best one so far. Equals go by number, so that the result
 * does not depend on the order of adding. */
static bool is_better(uint64_t ns, uint32_t frame, uint64_t other_ns, uint32_t other)
{
    return ns > other_ns || (ns == other_ns && frame < other);
}

/* A thread was in a frame, not in its callees, for so long. Once a frame. */
static void add_stack(struct cn_main_path *path, uint32_t slot, uint64_t ns)
{
    struct cn_path_stack *stacks = path->stacks;
    size_t at = path->stack_count;

    if (at == CN_PATH_STACKS_MAX &&
        !is_better(ns, path->slots[slot].frame, stacks[at - 1].ns,
                   path->slots[stacks[at - 1].slot].frame))
        return;
    if (at < CN_PATH_STACKS_MAX)
        path->stack_count++;
    else
        at--;
    while (at > 0 && is_better(ns, path->slots[slot].frame, stacks[at - 1].ns,
                               path->slots[stacks[at - 1].slot].frame)) {
        stacks[at] = stacks[at - 1];
        at--;
    }
    stacks[at] = (struct cn_path_stack){slot, ns};
}

/* Mark the frames of a stack that are not yet. */
static void use_stack(struct cn_main_path *path, const struct cn_path_stack *stack)
{
    uint32_t slot = stack->slot;

    path->slots[slot].total_ns += stack->ns;
    while (!path->slots[slot].is_used) {
        uint32_t caller = path->slots[slot].caller;

        CN_PUSH(path->used, path->used_count, path->used_capacity, slot);
        path->slots[slot].is_used = true;
        if (caller == CN_NONE)
            break;
        path->slots[caller].open++;
        slot = caller;
    }
}

static void add_to_caller(struct cn_main_path *path, uint32_t slot)
{
    const struct cn_path_slot *callee = &path->slots[slot];
    struct cn_path_slot *caller = &path->slots[callee->caller];

    if (caller->callees_ns == 0 ||
        is_better(callee->total_ns, callee->frame, caller->best_ns,
                  path->slots[caller->best].frame)) {
        caller->best_ns = callee->total_ns;
        caller->best = slot;
    }
    caller->total_ns += callee->total_ns;
    caller->callees_ns += callee->total_ns;
}

/* Add all frames to their callers, each after its callees; returns the best of those without
 * caller. */
static uint32_t add_up(struct cn_main_path *path)
{
    uint32_t top = CN_NONE;
    size_t ready_count = 0;

    if (path->ready_capacity < path->used_capacity) {
        path->ready_capacity = path->used_capacity;
        path->ready = cn_realloc(path->ready, path->ready_capacity, sizeof(*path->ready));
    }
    for (size_t i = 0; i < path->used_count; i++)
        if (path->slots[path->used[i]].open == 0)
            path->ready[ready_count++] = path->used[i];
    while (ready_count > 0) {
        uint32_t slot = path->ready[--ready_count];
        const struct cn_path_slot *of = &path->slots[slot];

        if (of->caller != CN_NONE) {
            add_to_caller(path, slot);
            if (--path->slots[of->caller].open == 0)
                path->ready[ready_count++] = of->caller;
        } else if (top == CN_NONE ||
                   is_better(of->total_ns, of->frame, path->slots[top].total_ns,
                             path->slots[top].frame)) {
            top = slot;
        }
    }
    return top;
}

static void forget(struct cn_main_path *path)
{
    for (size_t i = 0; i < path->used_count; i++) {
        struct cn_path_slot *slot = &path->slots[path->used[i]];

        *slot = (struct cn_path_slot){.frame = slot->frame, .caller = slot->caller};
    }
    path->used_count = 0;
    path->stack_count = 0;
}

/* The last frame of the path and its total time; CN_NONE if nothing was added. Everything
 * added is forgotten. */
static uint32_t take(struct cn_main_path *path, uint64_t *total_ns)
{
    const struct cn_path_slot *slot;

    *total_ns = 0;
    if (path->stack_count == 0)
        return CN_NONE;
    if (path->stack_count == 1) {
        path->stack_count = 0;
        *total_ns = path->stacks[0].ns;
        return path->slots[path->stacks[0].slot].frame;
    }
    for (size_t i = 0; i < path->stack_count; i++)
        use_stack(path, &path->stacks[i]);
    slot = &path->slots[add_up(path)];
    while (slot->callees_ns > 0 && slot->callees_ns >= slot->total_ns - slot->callees_ns)
        slot = &path->slots[slot->best];
    *total_ns = slot->total_ns;
    uint32_t frame = slot->frame;
    forget(path);
    return frame;
}

uint32_t cn_main_path_choose(struct cn_main_path *path, const struct cn_tally *tally,
                             uint64_t *total_ns, uint64_t *busy_ns)
{
    uint32_t idle = (uint32_t)path->frames->count;
    uint64_t waiting_ns = 0;

    *busy_ns = 0;
    for (size_t i = 0; i < tally->used_count; i++) {
        uint32_t slot = tally->used[i];

        if (path->slots[slot].frame == idle) {
            waiting_ns += tally->ns[slot];
            continue;
        }
        *busy_ns += tally->ns[slot];
        add_stack(path, slot, tally->ns[slot]);
    }
    if (*busy_ns > 0 || waiting_ns == 0)
        return take(path, total_ns);
    *total_ns = waiting_ns;
    return idle;
}
