#include "server/served/pyramids.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/timeline/structure.h"
#include "analyze/timeline/time_pyramid.h"
#include "base/alloc.h"
#include "model/contexts/database.h"

enum {
    CUT_MAX = 6,          /* more than requests at a time and the builder need */
    CUTS_COST = 12 << 20, /* bytes of all cached cuts that are not in use, about */
    COST_MAX = 22 << 20,  /* bytes of all cached pyramids, and one for so many samples: */
    SAMPLES_A_BYTE = 16,
    QUEUE_MAX = 1024,
    FORGET_EVERY = 16, /* pyramids */
    KEY_MAX = 24,
};

static void free_cut(void *value)
{
    cn_cut_done(value);
    free(value);
}

static void free_pyramid(void *value)
{
    cn_time_pyramid_free(value);
}

static bool is_recent(const struct cn_cached *entry, void *arg)
{
    const struct cn_served_pyramids *pyramids = arg;

    return entry->used_at >
           pyramids->frame_clocks[pyramids->frame_count % CN_RECENT_FRAMES];
}

const struct cn_cut *cn_served_cut_borrow(struct cn_served_pyramids *pyramids,
                                          uint32_t depth)
{
    struct cn_cached *entry;
    char key[KEY_MAX];

    (void)snprintf(key, sizeof(key), "%u", depth);
    (void)pthread_mutex_lock(&pyramids->lock);
    entry = cn_cache_find(&pyramids->cuts, key);
    if (!entry) {
        struct cn_cut *cut = cn_alloc(1, sizeof(*cut));

        cn_cut_init(cut, &pyramids->structure->frames, depth);
        entry =
            cn_cache_add(&pyramids->cuts, key, cut, cut->id_limit * sizeof(*cut->place));
        assert(entry);
    }
    cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&pyramids->lock);
    return entry->value;
}

void cn_served_cut_return(struct cn_served_pyramids *pyramids, const struct cn_cut *cut)
{
    char key[KEY_MAX];

    (void)snprintf(key, sizeof(key), "%u", cut->depth);
    (void)pthread_mutex_lock(&pyramids->lock);
    cn_cached_unpin(cn_cache_find(&pyramids->cuts, key));
    (void)pthread_mutex_unlock(&pyramids->lock);
}

static const char *print_key(char key[KEY_MAX], uint32_t profile, uint32_t depth)
{
    (void)snprintf(key, KEY_MAX, "%u %u", profile, depth);
    return key;
}

static struct cn_cached *find(struct cn_served_pyramids *pyramids, uint32_t profile,
                              uint32_t depth)
{
    char key[KEY_MAX];

    return cn_cache_find(&pyramids->pyramids, print_key(key, profile, depth));
}

/* With the lock held: pyramids of long timelines are larger, and those of a screen must fit. */
static void choose_cost(struct cn_served_pyramids *pyramids)
{
    struct cn_database *db = pyramids->structure->db;
    uint64_t count = 0;

    for (uint32_t i = 0; i < db->profile_count; i++) {
        struct cn_timeline timeline;
        struct cn_error ignored; /* drawing meets it again */

        if (cn_timeline_open(db, i, &timeline, &ignored))
            count += timeline.count;
    }
    pyramids->pyramids.cost_max = COST_MAX + count / SAMPLES_A_BYTE;
}

void cn_served_pyramids_borrow(struct cn_served_pyramids *pyramids,
                               const uint32_t *profiles, size_t count, uint32_t depth,
                               const struct cn_time_pyramid **out)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    if (pyramids->frame_count == 0)
        choose_cost(pyramids);
    pyramids->frame_clocks[pyramids->frame_count++ % CN_RECENT_FRAMES] =
        pyramids->pyramids.clock;
    for (size_t i = 0; i < count; i++) {
        struct cn_cached *entry = find(pyramids, profiles[i], depth);

        out[i] = entry ? entry->value : NULL;
        if (out[i])
            cn_cached_pin(entry);
    }
    (void)pthread_mutex_unlock(&pyramids->lock);
}

void cn_served_pyramids_return(struct cn_served_pyramids *pyramids,
                               const struct cn_time_pyramid *const *list,
                               const uint32_t *profiles, size_t count, uint32_t depth)
{
    (void)pthread_mutex_lock(&pyramids->lock);
    for (size_t i = 0; i < count; i++)
        if (list[i])
            cn_cached_unpin(find(pyramids, profiles[i], depth));
    (void)pthread_mutex_unlock(&pyramids->lock);
}

/* The next pyramid to build; false if there is none. */
static bool take(struct cn_served_pyramids *pyramids, struct cn_wanted_pyramid *out)
{
    bool has_one = false;

    (void)pthread_mutex_lock(&pyramids->lock);
    while (!has_one && pyramids->queue_count > 0) {
        *out = pyramids->queue[--pyramids->queue_count];
        /* It may have been wanted again while it was being built. */
        has_one = !find(pyramids, out->profile, out->depth);
    }
    if (has_one && !cn_cache_make_room(&pyramids->pyramids, 1))
        pyramids->queue_count = 0;
    (void)pthread_mutex_unlock(&pyramids->lock);
    return has_one;
}

static bool build(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_pyramids *pyramids = arg;
    struct cn_database *db = pyramids->structure->db;
    struct cn_wanted_pyramid next;

    for (unsigned built = 1; take(pyramids, &next); built++) {
        struct cn_time_pyramid *pyramid = NULL;
        struct cn_error ignored; /* frames stay estimates */
        char key[KEY_MAX];

        if (!cn_progress_check(progress, "reading timelines", err))
            return false;
        const struct cn_cut *cut = cn_served_cut_borrow(pyramids, next.depth);
        if (!cn_time_pyramid_build(&pyramid, db, cut, next.profile, &ignored))
            pyramid = NULL;
        cn_served_cut_return(pyramids, cut);
        (void)pthread_mutex_lock(&pyramids->lock);
        (void)cn_cache_add(&pyramids->pyramids, print_key(key, next.profile, next.depth),
                           pyramid, pyramid ? cn_time_pyramid_size(pyramid) : 0);
        (void)pthread_mutex_unlock(&pyramids->lock);
        if (built % FORGET_EVERY == 0)
            cn_database_forget(db);
    }
    return true;
}

void cn_served_pyramids_init(struct cn_served_pyramids *pyramids,
                             struct cn_structure *structure)
{
    *pyramids = (struct cn_served_pyramids){
        .structure = structure,
        .cuts = {.count_max = CUT_MAX, .cost_max = CUTS_COST, .free_value = free_cut},
        .pyramids = {.cost_max = COST_MAX,
                     .free_value = free_pyramid,
                     .is_busy = is_recent,
                     .arg = pyramids},
        .builder = {.group = structure->background,
                    .work = build,
                    .arg = pyramids,
                    .what = "reading timelines",
                    .gives_way = true},
    };
    (void)pthread_mutex_init(&pyramids->lock, NULL);
}

void cn_served_pyramids_done(struct cn_served_pyramids *pyramids)
{
    cn_job_end(&pyramids->builder);
    cn_cache_done(&pyramids->pyramids);
    cn_cache_done(&pyramids->cuts);
    free(pyramids->queue);
    (void)pthread_mutex_destroy(&pyramids->lock);
}

static void enqueue(struct cn_served_pyramids *pyramids, uint32_t profile, uint32_t depth)
{
    for (size_t i = 0; i < pyramids->queue_count; i++)
        if (pyramids->queue[i].profile == profile)
            return;
    if (pyramids->queue_count == QUEUE_MAX)
        return;
    CN_PUSH(pyramids->queue, pyramids->queue_count, pyramids->queue_capacity,
            (struct cn_wanted_pyramid){profile, depth});
}

bool cn_served_pyramids_want(struct cn_served_pyramids *pyramids,
                             const struct cn_time_pyramid *const *had,
                             const uint32_t *profiles, const bool *is_wanted,
                             size_t count, uint32_t depth)
{
    struct cn_error ignored; /* without a builder, frames stay estimates */
    bool is_wanting, is_newer = false;

    (void)pthread_mutex_lock(&pyramids->lock);
    /* Frames of another depth are not on any screen any more. */
    if (pyramids->queue_count > 0 && pyramids->queue[0].depth != depth)
        pyramids->queue_count = 0;
    for (size_t i = count; i-- > 0;) {
        if (!is_wanted[i])
            continue;
        const struct cn_cached *entry = find(pyramids, profiles[i], depth);
        if (entry)
            is_newer |= entry->value && !had[i];
        else if (cn_cache_make_room(&pyramids->pyramids, 1))
            enqueue(pyramids, profiles[i], depth);
    }
    is_wanting = pyramids->queue_count > 0;
    (void)pthread_mutex_unlock(&pyramids->lock);
    return (is_wanting && cn_job_start(&pyramids->builder, &ignored)) ||
           cn_job_is_running(&pyramids->builder) || is_newer;
}
