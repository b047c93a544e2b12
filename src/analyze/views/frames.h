/* The stacks behind contexts: which function each context belongs to, and at what depth.
 *
 * A frame is an entry point (depth 0), or a function or call below it (depth 1, 2, ...);
 * loops, lines and the like belong to the frame around them. Frames with the same name
 * share a place, so that one function is one place wherever it is called from.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_VIEWS_FRAMES_H
#define CN_ANALYZE_VIEWS_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/views/context_index.h"
#include "base/error.h"
#include "base/map.h"
#include "base/run/progress.h"

struct cn_frame {
    uint32_t parent; /* frame, a smaller number than its own; CN_NONE at the top */
    uint32_t depth;
    uint32_t place; /* index into the names */
};

struct cn_frames {
    struct cn_context_index index;
    struct cn_frame *list; /* number 0 stands for contexts that no record describes */
    size_t count, capacity;
    uint32_t *of_node;     /* the frame of each node of the index */
    struct cn_names names; /* of places */
    uint32_t *functions;   /* by place: one of its functions; CN_NONE: it is none */
    size_t function_capacity;
    uint32_t depth_max;
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_frames_build(struct cn_frames *frames, struct cn_database *db,
                              const struct cn_progress *progress, struct cn_error *err);

/* The frame of a context id; 0 when no record describes it. */
static inline uint32_t cn_frames_find(const struct cn_frames *frames, uint32_t context)
{
    uint32_t node = cn_context_index_find(&frames->index, context);

    return node == CN_NONE ? 0 : frames->of_node[node];
}

/* True for an operation of a GPU: "<gpu copyin>", and kernels below "<gpu kernel>". */
bool cn_frames_is_gpu(const struct cn_frames *frames, uint32_t frame);

/* For each frame, the place that shows when stacks are cut at `depth`; `out` has room for
 * every frame. Operations of GPUs show themselves: what launched them is of another thread. */
void cn_frames_cut(const struct cn_frames *frames, uint32_t depth, uint32_t *out);

/* The depth of stacks that are not cut. */
#define CN_DEPTH_ALL UINT32_MAX

/* The same for each context id: one look-up a sample. At CN_DEPTH_ALL, places are frames. */
struct cn_cut {
    uint32_t depth;
    uint32_t idle; /* the place of not running: one past all places */
    const struct cn_frames *frames;
    uint32_t *place;   /* by context id */
    uint32_t id_limit; /* from here on, the place of contexts without a record: 0 */
};

/* The frames outlive the cut. */
void cn_cut_init(struct cn_cut *cut, const struct cn_frames *frames, uint32_t depth);
void cn_cut_done(struct cn_cut *cut); /* a zeroed one is fine */

/* The number of places at a depth. */
static inline size_t cn_frames_place_count(const struct cn_frames *frames, uint32_t depth)
{
    return depth == CN_DEPTH_ALL ? frames->count : frames->names.count;
}

/* The function of a place at a depth: its name, or names.count for not running. */
static inline uint32_t cn_frames_function(const struct cn_frames *frames, uint32_t depth,
                                          uint32_t place)
{
    if (depth != CN_DEPTH_ALL)
        return place;
    return place < frames->count ? frames->list[place].place
                                 : (uint32_t)frames->names.count;
}

static inline uint32_t cn_cut_find(const struct cn_cut *cut, uint32_t context)
{
    return context < cut->id_limit ? cut->place[context] : 0;
}

void cn_frames_done(struct cn_frames *frames);

#endif
