/* The call path that stands for a slice of time, if stacks are not cut: from the top down, the
 * callee with the most time, as long as callees together have at least half of the time of
 * their caller. One frame names it: the callers of a frame are known. Of a slice with many
 * stacks, the few with the most time decide.
 *
 *     cn_main_path_init(&path, frames);
 *     slot = cn_main_path_slot(&path, frame);           once a frame
 *     for each slice:
 *         cn_tally_add(&tally, slot, ns); ...
 *         best = cn_main_path_choose(&path, &tally, &total_ns, &busy_ns);
 *     cn_main_path_done(&path);
 *
 * Slots number the frames that were met, and their callers: what is added up is dense. Frames
 * are those of frames.h; frames->count stands for waiting, which has no callers.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_MAIN_PATH_H
#define CN_ANALYZE_TIMELINE_MAIN_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_frames;
struct cn_tally;

enum { CN_PATH_STACKS_MAX = 8 }; /* that decide */

struct cn_path_slot {
    uint32_t frame;
    uint32_t caller; /* slot; CN_NONE: none */

    /* Of the slice. */
    uint64_t total_ns;   /* of the frame and its callees */
    uint64_t callees_ns; /* of those, of the callees */
    uint64_t best_ns;    /* of the callee with most of it */
    uint32_t best;       /* slot */
    uint32_t open;       /* callees that were not added up yet */
    bool is_used;
};

struct cn_path_stack {
    uint32_t slot;
    uint64_t ns;
};

struct cn_main_path {
    const struct cn_frames *frames;
    uint32_t *slot_of_frame; /* + 1; 0: none yet */
    struct cn_path_slot *slots;
    size_t slot_count, slot_capacity;
    struct cn_path_stack stacks[CN_PATH_STACKS_MAX]; /* with the most time so far */
    size_t stack_count;
    uint32_t *used, *ready; /* slots of the slice, and those whose callees are added up */
    size_t used_count, used_capacity, ready_capacity;
};

void cn_main_path_init(struct cn_main_path *path, const struct cn_frames *frames);
void cn_main_path_done(struct cn_main_path *path); /* a zeroed one is fine */

/* The slot of a frame; a new one is path->slot_count before the call, its callers follow. */
uint32_t cn_main_path_slot(struct cn_main_path *path, uint32_t frame);

/* The last frame of the path of a slice, of which `tally` has the time in each frame without its
 * callees, by slot; its total time, and that in which the thread ran. Waiting, if it did not run;
 * CN_NONE if the slice has no time. */
uint32_t cn_main_path_choose(struct cn_main_path *path, const struct cn_tally *tally,
                             uint64_t *total_ns, uint64_t *busy_ns);

#endif
