#include "server/served/ranges.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/served/question.h"
#include "server/served/range_flame.h"
#include "server/served/thread_list.h"
#include "server/served/views.h"

enum {
    FLAME_MAX = 8,
    VIEWS_MAX = 4,
    FIRST_SAMPLES = 1 << 17, /* read for the first answer, where there are many more */
};

struct served_range {
    /* Set once; the job reads it. */
    struct cn_structure *structure;
    struct cn_thread_list threads;
    uint64_t begin_ns, end_ns;
    double min_share;
    struct cn_job job;

    pthread_mutex_t lock;            /* of the number of flame graphs */
    struct cn_range_flame flames[2]; /* an estimate, and what is exact; or the latter */
    unsigned flame_count;

    struct cn_served_views views; /* their `range` is the database of the range */
};

static void free_range(void *value)
{
    struct served_range *range = value;

    cn_job_end(&range->job);
    for (unsigned i = 0; i < range->flame_count; i++)
        cn_range_flame_done(&range->flames[i]);
    cn_served_views_done(&range->views);
    cn_database_close(range->views.range);
    cn_thread_list_done(&range->threads);
    (void)pthread_mutex_destroy(&range->lock);
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
    struct served_range *range = entry->value;

    (void)arg;
    return cn_job_is_running(&range->job) || has_busy_view(&range->views);
}

static struct cn_range_request request_of(const struct served_range *range)
{
    return (struct cn_range_request){
        .profiles = range->threads.profiles,
        .profile_count = range->threads.count,
        .begin_ns = range->begin_ns,
        .end_ns = range->end_ns,
        .id_limit = range->structure->frames.index.id_limit,
    };
}

static bool open_database(void *arg, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct served_range *range = arg;
    struct cn_range_request request = request_of(range);

    return cn_range_database_open(&range->views.range, range->structure->db,
                                  &range->structure->frames.index, &request, false,
                                  progress, err);
}

static bool add_flame(struct served_range *range, uint64_t sample_max, bool *is_estimate,
                      const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_range_flame *flame = &range->flames[range->flame_count];
    struct cn_range_request request = request_of(range);

    request.sample_max = sample_max;
    if (!cn_range_flame_build(flame, range->structure->db, &range->structure->frames,
                              range->structure->codes, &request, range->min_share,
                              progress, err))
        return false;
    *is_estimate = flame->is_estimate;
    (void)pthread_mutex_lock(&range->lock);
    range->flame_count++;
    (void)pthread_mutex_unlock(&range->lock);
    return true;
}

/* First an estimate, so that there is something to show. */
static bool draw_flame(void *arg, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct served_range *range = arg;
    bool is_estimate = true;

    if (range->flame_count == 0 && /* else an earlier job failed after its estimate */
        !add_flame(range, FIRST_SAMPLES, &is_estimate, progress, err))
        return false;
    if (!is_estimate)
        return true;
    cn_job_estimated(&range->job);
    return add_flame(range, 0, &is_estimate, progress, err);
}

static void init(struct cn_served_ranges *ranges, struct cn_structure *structure,
                 cn_job_fn work, size_t count_max)
{
    ranges->structure = structure;
    ranges->work = work;
    ranges->cache = (struct cn_cache){
        .count_max = count_max, .free_value = free_range, .is_busy = is_busy};
    (void)pthread_mutex_init(&ranges->lock, NULL);
}

void cn_served_ranges_init(struct cn_served_ranges *flames,
                           struct cn_served_ranges *views, struct cn_structure *structure)
{
    init(flames, structure, draw_flame, FLAME_MAX);
    init(views, structure, open_database, VIEWS_MAX);
}

void cn_served_ranges_done(struct cn_served_ranges *ranges)
{
    cn_cache_done(&ranges->cache);
    (void)pthread_mutex_destroy(&ranges->lock);
}

static void print_key(const struct cn_range_question *question, struct cn_text *key)
{
    cn_text_printf(key, "%" PRIu64 " %" PRIu64 " %a", question->begin_ns,
                   question->end_ns, question->min_share);
    for (size_t i = 0; i < question->threads.count; i++)
        cn_text_printf(key, "\n%s", question->threads.list[i]);
}

/* With the lock held. */
static bool add_range(struct cn_served_ranges *ranges,
                      const struct cn_range_question *question, const char *key,
                      struct cn_cached **out, struct cn_error *err)
{
    struct served_range *range = cn_alloc(1, sizeof(*range));

    *range = (struct served_range){
        .structure = ranges->structure,
        .begin_ns = question->begin_ns,
        .end_ns = question->end_ns,
        .min_share = question->min_share,
        .job = {.group = ranges->structure->requests,
                .work = ranges->work,
                .arg = range,
                .what = "computing this time range",
                .stops_unasked = true},
    };
    (void)pthread_mutex_init(&range->lock, NULL);
    cn_served_views_init(&range->views, ranges->structure);
    if (!cn_thread_list_build(&range->threads, ranges->structure->db, &question->threads,
                              true, err)) {
        free_range(range);
        return false;
    }
    *out = cn_cache_add(&ranges->cache, key, range, 0);
    if (*out)
        return true;
    free_range(range);
    return cn_fail(err, CN_ERR_BUSY, "%zu other time ranges are being computed",
                   ranges->cache.count_max);
}

/* The range of a question, pinned. */
static struct served_range *pin(struct cn_served_ranges *ranges,
                                const struct cn_range_question *question,
                                struct cn_cached **entry, struct cn_error *err)
{
    struct cn_text key = {0};

    if (!cn_structure_wait(ranges->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_structure_wait(ranges->structure, CN_STRUCTURE_CODES, err))
        return NULL;
    print_key(question, &key);
    (void)pthread_mutex_lock(&ranges->lock);
    *entry = cn_cache_find(&ranges->cache, cn_text_str(&key));
    bool ok = *entry || add_range(ranges, question, cn_text_str(&key), entry, err);
    if (ok)
        cn_cached_pin(*entry);
    (void)pthread_mutex_unlock(&ranges->lock);
    cn_text_done(&key);
    return ok ? (*entry)->value : NULL;
}

bool cn_served_range_flame(struct cn_served_ranges *ranges,
                           const struct cn_range_question *question,
                           const struct cn_range_flame **out, struct cn_cached **entry,
                           struct cn_error *err)
{
    struct served_range *range = pin(ranges, question, entry, err);
    bool ok;

    if (!range)
        return false;
    ok = cn_job_wait_estimate(&range->job, err) || err->kind == CN_ERR_BUSY;
    (void)pthread_mutex_lock(&range->lock);
    ok = ok && range->flame_count > 0;
    if (ok)
        *out = &range->flames[range->flame_count - 1];
    (void)pthread_mutex_unlock(&range->lock);
    if (!ok)
        cn_served_range_return(ranges, *entry);
    return ok;
}

bool cn_served_range_views(struct cn_served_ranges *ranges,
                           const struct cn_range_question *question,
                           struct cn_served_views **out, struct cn_cached **entry,
                           struct cn_error *err)
{
    struct served_range *range = pin(ranges, question, entry, err);

    if (!range)
        return false;
    *out = &range->views;
    if (cn_job_wait(&range->job, err))
        return true;
    cn_served_range_return(ranges, *entry);
    return false;
}

void cn_served_range_return(struct cn_served_ranges *ranges, struct cn_cached *entry)
{
    (void)pthread_mutex_lock(&ranges->lock);
    cn_cached_unpin(entry);
    (void)pthread_mutex_unlock(&ranges->lock);
}
