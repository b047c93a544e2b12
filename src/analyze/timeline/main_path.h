/* The call path that stands for a slice of time, if stacks are not cut: from the top down, the
 * callee with the most time, as long as callees together have at least half of the time of
 * their caller. One frame names it: the callers of a frame are known.
 *
 *     cn_main_path_init(&path, frames);
 *     for each slice:
 *         cn_main_path_add(&path, frame, ns); ...
 *         best = cn_main_path_take(&path, &total_ns);
 *     cn_main_path_done(&path);
 *
 * Frames are those of frames.h; frames->count stands for waiting, which has no callers.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_MAIN_PATH_H
#define CN_ANALYZE_TIMELINE_MAIN_PATH_H

#include <stddef.h>
#include <stdint.h>

struct cn_frames;

struct cn_path_sum {
    uint64_t total_ns;   /* of the frame and its callees */
    uint64_t callees_ns; /* of those, of the callees */
    uint64_t best_ns;    /* of the callee with most of it */
    uint32_t best;
    uint32_t open; /* callees that were not added up yet */
    uint32_t is_used;
};

struct cn_main_path {
    const struct cn_frames *frames;
    struct cn_path_sum *sums; /* by frame, one more for waiting */
    uint32_t *used, *ready;
    size_t used_count, used_capacity, ready_capacity;
};

void cn_main_path_init(struct cn_main_path *path, const struct cn_frames *frames);
void cn_main_path_done(struct cn_main_path *path); /* a zeroed one is fine */

/* A thread was in a frame, not in its callees, for so long. */
void cn_main_path_add(struct cn_main_path *path, uint32_t frame, uint64_t ns);

/* The last frame of the path and its total time; CN_NONE if nothing was added. Everything
 * added is forgotten. */
uint32_t cn_main_path_take(struct cn_main_path *path, uint64_t *total_ns);

#endif
