/* The pyramids of a database's threads: built in the background when a timeline wants them,
 * kept while they are used and there is room.
 *
 * Whoever draws a frame borrows those that are there and names those that are missing.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_SERVED_PYRAMIDS_H
#define CN_SERVER_SERVED_SERVED_PYRAMIDS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/views/frames.h"

/* More than there are requests at a time, and the builder. */
enum { CN_SERVED_CUT_MAX = 6 };

struct cn_database;
struct cn_time_pyramid;

/* Which place shows for each context at a depth. */
struct cn_kept_cut {
    struct cn_cut cut; /* without places: free */
    uint64_t used_at;
    unsigned user_count;
};

struct cn_kept_pyramid {
    uint32_t profile, depth;
    struct cn_time_pyramid *pyramid; /* NULL: it cannot be built */
    size_t size;
    uint64_t used_at;
    unsigned user_count;
};

struct cn_served_pyramids {
    pthread_mutex_t lock;
    pthread_cond_t wanted;
    struct cn_database *db; /* this and the next are set before the builder starts */
    const struct cn_frames *frames;
    struct cn_kept_cut cuts[CN_SERVED_CUT_MAX];
    struct cn_kept_pyramid *list;
    size_t count, capacity, size;
    uint64_t use_count, cut_count; /* how often any was borrowed */
    struct cn_kept_pyramid *queue; /* to be built; the newest first */
    size_t queue_count, queue_capacity;
    pthread_t builder;
    bool has_builder, is_building, is_stopping;
};

void cn_served_pyramids_init(struct cn_served_pyramids *pyramids);
void cn_served_pyramids_done(struct cn_served_pyramids *pyramids);

/* Borrow the cut of a database's frames at a depth; give it back. The database and its frames
 * outlive the pyramids. */
const struct cn_cut *cn_served_cut_borrow(struct cn_served_pyramids *pyramids,
                                          const struct cn_frames *frames, uint32_t depth);
void cn_served_cut_return(struct cn_served_pyramids *pyramids, const struct cn_cut *cut);

/* Borrow the pyramids of threads at a depth, NULL where there is none; give them back. */
void cn_served_pyramids_borrow(struct cn_served_pyramids *pyramids,
                               const uint32_t *profiles, size_t count, uint32_t depth,
                               const struct cn_time_pyramid **out);
void cn_served_pyramids_return(struct cn_served_pyramids *pyramids,
                               const struct cn_time_pyramid *const *list, size_t count);

/* Have those built that are missing of the threads that `is_wanted` names; whether any of
 * them are under way. */
bool cn_served_pyramids_want(struct cn_served_pyramids *pyramids, struct cn_database *db,
                             const struct cn_frames *frames, const uint32_t *profiles,
                             const bool *is_wanted, size_t count, uint32_t depth);

#endif
