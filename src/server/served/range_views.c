#include "server/served/range_views.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/served/question.h"
#include "server/served/thread_list.h"
#include "server/served/views.h"

enum { RANGE_MAX = 4 };

struct range {
    struct cn_structure *structure;
    struct cn_thread_list threads;
    uint64_t begin_ns, end_ns;
    struct cn_job job;            /* makes the database */
    struct cn_served_views views; /* their `range` is that database */
};

static void free_range(void *value)
{
    struct range *range = value;

    cn_job_end(&range->job);
    cn_served_views_done(&range->views);
    cn_database_close(range->views.range);
    cn_thread_list_done(&range->threads);
    free(range);
}

/* A view of it may be a job while no request waits. */
static bool has_busy_view(struct cn_served_views *views)
{
    bool is_found = false;

    (void)pthread_mutex_lock(&views->lock);
    for (const struct cn_cached *entry = views->cache.oldest; entry; entry = entry->newer)
        is_found = is_found || views->cache.is_busy(entry, NULL);
    (void)pthread_mutex_unlock(&views->lock);
    return is_found;
}

static bool is_busy(const struct cn_cached *entry, void *arg)
{
    struct range *range = entry->value;

    (void)arg;
    return cn_job_is_running(&range->job) || has_busy_view(&range->views);
}

void cn_range_views_init(struct cn_range_views *ranges, struct cn_structure *structure)
{
    ranges->structure = structure;
    ranges->cache = (struct cn_cache){
        .count_max = RANGE_MAX, .free_value = free_range, .is_busy = is_busy};
    (void)pthread_mutex_init(&ranges->lock, NULL);
}

void cn_range_views_done(struct cn_range_views *ranges)
{
    cn_cache_done(&ranges->cache);
    (void)pthread_mutex_destroy(&ranges->lock);
}

static bool add_up(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct range *range = arg;
    const struct cn_context_index *index = &range->structure->frames.index;
    struct cn_range_request request = {
        .profiles = range->threads.profiles,
        .profile_count = range->threads.count,
        .begin_ns = range->begin_ns,
        .end_ns = range->end_ns,
        .id_limit = index->id_limit,
    };

    return cn_range_database_open(&range->views.range, range->structure->db, index,
                                  &request, false, progress, err);
}

/* With the lock held. */
static bool add_range(struct cn_range_views *ranges,
                      const struct cn_range_question *question, const char *key,
                      struct cn_cached **out, struct cn_error *err)
{
    struct range *range = cn_alloc(1, sizeof(*range));

    *range = (struct range){
        .structure = ranges->structure,
        .begin_ns = question->begin_ns,
        .end_ns = question->end_ns,
        .job = {.group = ranges->structure->requests,
                .work = add_up,
                .arg = range,
                .what = "adding up this time range",
                .stops_unasked = true},
    };
    cn_served_views_init(&range->views, ranges->structure);
    if (!cn_thread_list_build(&range->threads, ranges->structure->db, &question->threads,
                              err)) {
        free_range(range);
        return false;
    }
    *out = cn_cache_add(&ranges->cache, key, range, 0);
    if (*out)
        return true;
    free_range(range);
    return cn_fail(err, CN_ERR_INTERRUPTED, "%d other time ranges are being computed",
                   RANGE_MAX);
}

bool cn_range_views_borrow(struct cn_range_views *ranges,
                           const struct cn_range_question *question,
                           struct cn_served_views **out, struct cn_cached **entry,
                           struct cn_error *err)
{
    struct cn_text key = {0};
    struct range *range;
    bool ok;

    if (!cn_structure_wait(ranges->structure, CN_STRUCTURE_FRAMES, err))
        return false;
    cn_text_printf(&key, "%" PRIu64 " %" PRIu64, question->begin_ns, question->end_ns);
    for (size_t i = 0; i < question->threads.count; i++)
        cn_text_printf(&key, "\n%s", question->threads.list[i]);
    (void)pthread_mutex_lock(&ranges->lock);
    *entry = cn_cache_find(&ranges->cache, cn_text_str(&key));
    ok = *entry || add_range(ranges, question, cn_text_str(&key), entry, err);
    if (ok)
        cn_cached_pin(*entry);
    (void)pthread_mutex_unlock(&ranges->lock);
    cn_text_done(&key);
    if (!ok)
        return false;
    range = (*entry)->value;
    *out = &range->views;
    if (cn_job_wait(&range->job, err))
        return true;
    cn_range_views_return(ranges, *entry);
    return false;
}

void cn_range_views_return(struct cn_range_views *ranges, struct cn_cached *entry)
{
    (void)pthread_mutex_lock(&ranges->lock);
    cn_cached_unpin(entry);
    (void)pthread_mutex_unlock(&ranges->lock);
}
