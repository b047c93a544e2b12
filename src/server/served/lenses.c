#include "server/served/lenses.h"

#include <stdlib.h>

#include "analyze/lens/code.h"
#include "analyze/lens/database.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/served/served.h"

enum {
    LENS_MAX = 6,
    CONTEXT_LEN = 256, /* bytes that a lens and its views take per context, at most */
};
static const uint64_t cost_max = UINT64_C(768) << 20;

static void free_lens(void *value)
{
    struct cn_served *shown = value;

    cn_served_parts_done(shown);
    cn_database_close(shown->db);
    cn_lens_done(&shown->lens);
    free(shown);
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    (void)arg;
    return cn_job_is_running(&((struct cn_served *)entry->value)->analysis);
}

void cn_served_lenses_init(struct cn_served_lenses *lenses)
{
    (void)pthread_mutex_init(&lenses->lock, NULL);
    lenses->cache = (struct cn_cache){.count_max = LENS_MAX,
                                      .cost_max = cost_max,
                                      .free_value = free_lens,
                                      .is_busy = is_busy};
}

void cn_served_lenses_done(struct cn_served_lenses *lenses)
{
    cn_cache_done(&lenses->cache);
    (void)pthread_mutex_destroy(&lenses->lock);
}

/* The job: apply the rules. */
static bool apply(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served *shown = arg;
    struct cn_codes codes;

    if (!cn_codes_build(&codes, shown->whole->db, &shown->lens.mine, err) ||
        !cn_lens_database_open(&shown->db, shown->whole->db, &codes, &shown->lens,
                               progress, err))
        return false;
    cn_structure_set_database(&shown->structure, shown->db);
    return true;
}

/* What does not depend on contexts is that of the whole. */
static struct cn_served *new_lens(struct cn_served *whole, struct cn_lens *lens)
{
    struct cn_served *shown = cn_alloc(1, sizeof(*shown));

    *shown = (struct cn_served){
        .kind = whole->kind,
        .opened = whole->opened,
        .path = whole->path,
        .name = whole->name,
        .format = whole->format,
        .recording = whole->recording,
        .profiled_tasks = whole->profiled_tasks,
        .profiled_count = whole->profiled_count,
        .tracks = whole->tracks,
        .is_lazy = true,
        .whole = whole,
        .lens = *lens,
    };
    *lens = (struct cn_lens){0};
    cn_served_parts_init(shown);
    shown->analysis = (struct cn_job){.group = &shown->background,
                                      .work = apply,
                                      .arg = shown,
                                      .what = "applying filters",
                                      .stops_unasked = true};
    return shown;
}

/* The lens with this key, pinned; NULL if too many are in use. */
static struct cn_cached *pin(struct cn_served *whole, const char *key,
                             struct cn_lens *lens)
{
    struct cn_served_lenses *lenses = &whole->lenses;
    struct cn_served *shown = NULL;

    (void)pthread_mutex_lock(&lenses->lock);
    struct cn_cached *entry = cn_cache_find(&lenses->cache, key);
    if (!entry) {
        shown = new_lens(whole, lens);
        entry = cn_cache_add(&lenses->cache, key, shown,
                             (uint64_t)whole->db->context_limit * CONTEXT_LEN);
    }
    if (entry)
        cn_cached_pin(entry);
    (void)pthread_mutex_unlock(&lenses->lock);
    if (!entry)
        free_lens(shown);
    return entry;
}

bool cn_served_lens_borrow(struct cn_served *whole, struct cn_lens *lens,
                           struct cn_served **out, struct cn_cached **entry,
                           struct cn_error *err)
{
    struct cn_text key = {0};

    if (!cn_served_ready(whole, err)) {
        cn_lens_done(lens);
        return false;
    }
    cn_lens_print(lens, &key);
    *entry = pin(whole, cn_text_str(&key), lens);
    cn_text_done(&key);
    cn_lens_done(lens);
    if (!*entry)
        return cn_fail(err, CN_ERR_BUSY, "%d other filters are in use", LENS_MAX);
    *out = (*entry)->value;
    if (cn_job_wait(&(*out)->analysis, err))
        return true;
    cn_served_lens_return(whole, *entry);
    return false;
}

void cn_served_lens_return(struct cn_served *whole, struct cn_cached *entry)
{
    (void)pthread_mutex_lock(&whole->lenses.lock);
    cn_cached_unpin(entry);
    (void)pthread_mutex_unlock(&whole->lenses.lock);
}
