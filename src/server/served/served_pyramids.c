#include "server/served/served_pyramids.h"

#include <assert.h>
#include <stdlib.h>

#include "analyze/timeline/time_pyramid.h"
#include "base/alloc.h"
#include "model/contexts/database.h"
#include "server/served/worker.h"

enum {
    SIZE_MAX_BYTES = 28 << 20, /* of all that are kept */
    RECENT = 8,                /* frames whose pyramids are not given up for others */
    QUEUE_MAX = 1024,
    FORGET_EVERY = 64, /* pyramids */
};

void cn_served_pyramids_init(struct cn_served_pyramids *pyramids)
{
    *pyramids = (struct cn_served_pyramids){0};
    (void)pthread_mutex_init(&pyramids->lock, NULL);
    (void)pthread_cond_init(&pyramids->wanted, NULL);
}

void cn_served_pyramids_done(struct cn_served_pyramids *pyramids)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    pyramids->is_stopping = true;
    (void)pthread_cond_broadcast(&pyramids->wanted);
    (void)pthread_mutex_unlock(&pyramids->lock);
    if (pyramids->has_builder)
        (void)pthread_join(pyramids->builder, NULL);
    for (size_t i = 0; i < pyramids->count; i++)
        cn_time_pyramid_free(pyramids->list[i].pyramid);
    for (size_t i = 0; i < CN_SERVED_CUT_MAX; i++)
        cn_cut_done(&pyramids->cuts[i].cut);
    free(pyramids->list);
    free(pyramids->queue);
    (void)pthread_cond_destroy(&pyramids->wanted);
    (void)pthread_mutex_destroy(&pyramids->lock);
}

/* The cut of a depth, or the place of the one that was not used for longest. */
static struct cn_kept_cut *place_for_cut(struct cn_served_pyramids *pyramids,
                                         uint32_t depth)
{
    struct cn_kept_cut *oldest = NULL;

    for (size_t i = 0; i < CN_SERVED_CUT_MAX; i++) {
        struct cn_kept_cut *kept = &pyramids->cuts[i];

        if (kept->cut.place && kept->cut.depth == depth)
            return kept;
        if (kept->user_count == 0 && (!oldest || kept->used_at < oldest->used_at))
            oldest = kept;
    }
    assert(oldest);
    return oldest;
}

const struct cn_cut *cn_served_cut_borrow(struct cn_served_pyramids *pyramids,
                                          const struct cn_frames *frames, uint32_t depth)
{
    struct cn_kept_cut *kept;

    (void)pthread_mutex_lock(&pyramids->lock);
    kept = place_for_cut(pyramids, depth);
    if (!kept->cut.place || kept->cut.depth != depth) {
        cn_cut_done(&kept->cut);
        cn_cut_init(&kept->cut, frames, depth);
    }
    kept->used_at = ++pyramids->cut_count;
    kept->user_count++;
    (void)pthread_mutex_unlock(&pyramids->lock);
    return &kept->cut;
}

void cn_served_cut_return(struct cn_served_pyramids *pyramids, const struct cn_cut *cut)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    for (size_t i = 0; i < CN_SERVED_CUT_MAX; i++)
        if (&pyramids->cuts[i].cut == cut)
            pyramids->cuts[i].user_count--;
    (void)pthread_mutex_unlock(&pyramids->lock);
}

static struct cn_kept_pyramid *find(struct cn_kept_pyramid *list, size_t count,
                                    uint32_t profile, uint32_t depth)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].profile == profile && list[i].depth == depth)
            return &list[i];
    return NULL;
}

void cn_served_pyramids_borrow(struct cn_served_pyramids *pyramids,
                               const uint32_t *profiles, size_t count, uint32_t depth,
                               const struct cn_time_pyramid **out)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    pyramids->use_count++;
    for (size_t i = 0; i < count; i++) {
        struct cn_kept_pyramid *kept =
            find(pyramids->list, pyramids->count, profiles[i], depth);

        out[i] = kept ? kept->pyramid : NULL;
        if (kept) {
            kept->used_at = pyramids->use_count;
            kept->user_count++;
        }
    }
    (void)pthread_mutex_unlock(&pyramids->lock);
}

void cn_served_pyramids_return(struct cn_served_pyramids *pyramids,
                               const struct cn_time_pyramid *const *list, size_t count)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; list[i] && k < pyramids->count; k++)
            if (pyramids->list[k].pyramid == list[i])
                pyramids->list[k].user_count--;
    (void)pthread_mutex_unlock(&pyramids->lock);
}

/* Give up what was not used for longest until there is room; false when all is in use. */
static bool make_room(struct cn_served_pyramids *pyramids)
{
    while (pyramids->size >= SIZE_MAX_BYTES) {
        struct cn_kept_pyramid *oldest = NULL;

        for (size_t i = 0; i < pyramids->count; i++) {
            struct cn_kept_pyramid *kept = &pyramids->list[i];

            if (kept->user_count == 0 && kept->used_at + RECENT < pyramids->use_count &&
                (!oldest || kept->used_at < oldest->used_at))
                oldest = kept;
        }
        if (!oldest)
            return false;
        pyramids->size -= oldest->size;
        cn_time_pyramid_free(oldest->pyramid);
        *oldest = pyramids->list[--pyramids->count];
    }
    return true;
}

static void keep(struct cn_served_pyramids *pyramids, struct cn_kept_pyramid kept)
{
    pyramids->list = cn_grow(pyramids->list, pyramids->count, &pyramids->capacity,
                             sizeof(*pyramids->list));
    kept.used_at = pyramids->use_count;
    pyramids->list[pyramids->count++] = kept;
    pyramids->size += kept.size;
}

/* The next one to build; false when it is time to stop. */
static bool take(struct cn_served_pyramids *pyramids, struct cn_kept_pyramid *out)
{
    bool goes_on;

    (void)pthread_mutex_lock(&pyramids->lock);
    pyramids->is_building = false;
    while (!pyramids->is_stopping && pyramids->queue_count == 0)
        (void)pthread_cond_wait(&pyramids->wanted, &pyramids->lock);
    goes_on = !pyramids->is_stopping;
    if (goes_on) {
        *out = pyramids->queue[--pyramids->queue_count];
        pyramids->is_building = true;
        if (!make_room(pyramids))
            pyramids->queue_count = 0;
    }
    (void)pthread_mutex_unlock(&pyramids->lock);
    return goes_on;
}

static void *build(void *arg)
{
    struct cn_served_pyramids *pyramids = arg;
    const struct cn_frames *frames = pyramids->frames;
    struct cn_kept_pyramid next;

    for (unsigned built = 1; take(pyramids, &next); built++) {
        const struct cn_cut *cut = cn_served_cut_borrow(pyramids, frames, next.depth);
        struct cn_error err;

        next.pyramid = NULL;
        if (cn_time_pyramid_build(&next.pyramid, pyramids->db, cut, next.profile, &err))
            next.size = cn_time_pyramid_size(next.pyramid);
        cn_served_cut_return(pyramids, cut);
        (void)pthread_mutex_lock(&pyramids->lock);
        keep(pyramids, next);
        (void)pthread_mutex_unlock(&pyramids->lock);
        if (built % FORGET_EVERY == 0)
            cn_database_forget(pyramids->db);
    }
    return NULL;
}

/* With the lock held. */
static void start_builder(struct cn_served_pyramids *pyramids, struct cn_database *db,
                          const struct cn_frames *frames)
{
    struct cn_error err; /* without a builder, frames stay estimates */

    if (pyramids->has_builder)
        return;
    pyramids->db = db;
    pyramids->frames = frames;
    pyramids->has_builder = cn_worker_start(&pyramids->builder, build, pyramids, &err);
}

static void enqueue(struct cn_served_pyramids *pyramids, uint32_t profile, uint32_t depth)
{
    if (find(pyramids->queue, pyramids->queue_count, profile, depth) ||
        pyramids->queue_count == QUEUE_MAX)
        return;
    pyramids->queue = cn_grow(pyramids->queue, pyramids->queue_count,
                              &pyramids->queue_capacity, sizeof(*pyramids->queue));
    pyramids->queue[pyramids->queue_count++] =
        (struct cn_kept_pyramid){.profile = profile, .depth = depth};
}

bool cn_served_pyramids_want(struct cn_served_pyramids *pyramids, struct cn_database *db,
                             const struct cn_frames *frames, const uint32_t *profiles,
                             const bool *is_wanted, size_t count, uint32_t depth)
{
    bool is_under_way;

    (void)pthread_mutex_lock(&pyramids->lock);
    /* What others wanted before at another depth, nobody looks at any more. */
    if (pyramids->queue_count > 0 && pyramids->queue[0].depth != depth)
        pyramids->queue_count = 0;
    for (size_t i = count; i-- > 0;)
        if (is_wanted[i] && !find(pyramids->list, pyramids->count, profiles[i], depth) &&
            make_room(pyramids))
            enqueue(pyramids, profiles[i], depth);
    if (pyramids->queue_count > 0)
        start_builder(pyramids, db, frames);
    is_under_way =
        pyramids->has_builder && (pyramids->queue_count > 0 || pyramids->is_building);
    (void)pthread_cond_signal(&pyramids->wanted);
    (void)pthread_mutex_unlock(&pyramids->lock);
    return is_under_way;
}
