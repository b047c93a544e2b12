/* Pyramids of the threads of a database, for timelines: built by a job when a timeline
 * lacks them, and cached.
 *
 * To draw a frame, borrow the pyramids that are there, and want those that are missing.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_PYRAMIDS_H
#define CN_SERVER_SERVED_PYRAMIDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/views/frames.h"
#include "base/cache.h"
#include "base/run/job.h"

struct cn_structure;
struct cn_time_pyramid;

/* Frames whose pyramids are not evicted for those of others. */
enum { CN_RECENT_FRAMES = 4 };

struct cn_wanted_pyramid {
    uint32_t profile, depth;
};

struct cn_served_pyramids {
    struct cn_structure *structure;
    pthread_mutex_t lock;     /* of the members below, except the job */
    struct cn_cache cuts;     /* struct cn_cut by depth */
    struct cn_cache pyramids; /* by profile and depth; NULL: it cannot be built */
    uint64_t frame_clocks[CN_RECENT_FRAMES]; /* clock of `pyramids` when frames began */
    uint64_t frame_count;
    struct cn_wanted_pyramid
        *queue; /* to be built, all of one depth; the last one next */
    size_t queue_count, queue_capacity;
    struct cn_job builder;
};

void cn_served_pyramids_init(struct cn_served_pyramids *pyramids,
                             struct cn_structure *structure);
void cn_served_pyramids_done(struct cn_served_pyramids *pyramids);

/* Borrow what shows for each context when the stacks of the database are cut at a
 * depth. */
const struct cn_cut *cn_served_cut_borrow(struct cn_served_pyramids *pyramids,
                                          uint32_t depth);
void cn_served_cut_return(struct cn_served_pyramids *pyramids, const struct cn_cut *cut);

/* Borrow the pyramids of threads at a depth; NULL where there is none. */
void cn_served_pyramids_borrow(struct cn_served_pyramids *pyramids,
                               const uint32_t *profiles, size_t count, uint32_t depth,
                               const struct cn_time_pyramid **out);
void cn_served_pyramids_return(struct cn_served_pyramids *pyramids,
                               const struct cn_time_pyramid *const *list,
                               const uint32_t *profiles, size_t count, uint32_t depth);

/* Build the missing pyramids of those threads that `is_wanted` marks. `had` are the pyramids that a
 * frame was drawn with. True if some are being built, or were since: the next frame will be better. */
bool cn_served_pyramids_want(struct cn_served_pyramids *pyramids,
                             const struct cn_time_pyramid *const *had,
                             const uint32_t *profiles, const bool *is_wanted,
                             size_t count, uint32_t depth);

#endif
