#include "analyze/cct/cct_planes.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/cct/cct_metrics.h"
#include "analyze/cct/cct_plane.h"
#include "analyze/cct/cct_summary.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"
#include "model/contexts/transpose.h"

enum {
    BUFFER_COUNT = 1 << 16,        /* values that are written at once */
    LARGE_TREE_LEN = 32 * 1 << 20, /* one of these at a time */
};

struct plane_worker {
    struct cn_cct_plane plane;
    struct cn_value *buffer;
};

struct planes {
    struct cn_cct_database *self;
    const struct cn_calls_options *options;
    struct cn_ranks *ranks;
    size_t own_first, own_count; /* members of this process */
    struct plane_worker *workers;
    bool has_bucket[CN_BUCKET_COUNT];
    bool has_counter[CN_COUNTER_COUNT];
    struct cn_failures failures;
};

static void measure_run(void *arg, size_t job, unsigned worker)
{
    struct planes *p = arg;
    struct cn_cct_member *member = &p->self->members.list[p->own_first + job];
    struct cn_cct_plane *plane = &p->workers[worker].plane;
    struct cn_error *err = cn_failures_error(&p->failures, worker);

    if (cn_failures_stopped(&p->failures, worker))
        return;
    if (!cn_cct_member_bring_back(member, &p->self->spool, err)) {
        cn_failures_note(&p->failures, worker, job);
        return;
    }
    cn_cct_task_count_open(&member->task);
    cn_cct_plane_init(plane, &p->self->merged, &member->task, member->nodes);
    cn_cct_plane_measure(plane);
}

static void place_take(void *arg, size_t job, unsigned worker)
{
    struct planes *p = arg;
    const struct cn_cct_plane *plane = &p->workers[worker].plane;
    struct cn_cct_profile *profile = &p->self->profiles[p->own_first + job + 1];

    if (!cn_failures_share(&p->failures, worker))
        return;
    profile->value_count = plane->value_count;
    profile->context_count = plane->context_count;
    profile->off =
        cn_spool_reserve(&p->self->spool, plane->value_count * sizeof(struct cn_value));
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++)
        p->has_bucket[i] = p->has_bucket[i] || plane->has_bucket[i];
    for (unsigned i = 0; i < plane->counters.count; i++)
        p->has_counter[plane->counters.used[i]] = true;
    if (!cn_progress_report(p->options->progress, "adding up", job + 1, p->own_count,
                            "threads", cn_failures_error(&p->failures, worker)))
        cn_failures_note(&p->failures, worker, job);
}

static bool write_plane(const struct planes *p, size_t job, struct plane_worker *worker,
                        struct cn_error *err)
{
    const struct cn_spool *spool = &p->self->spool;
    uint64_t off = p->self->profiles[p->own_first + job + 1].off;
    size_t filled = 0, count;

    do {
        count = cn_cct_plane_next(&worker->plane, worker->buffer + filled);
        filled += count;
        if (count > 0 && filled + CN_CCT_ID_COUNT <= BUFFER_COUNT)
            continue;
        if (!cn_spool_write(spool, off, worker->buffer, filled * sizeof(struct cn_value),
                            err))
            return false;
        off += filled * sizeof(struct cn_value);
        filled = 0;
    } while (count > 0);
    return true;
}

static void write_finish(void *arg, size_t job, unsigned worker)
{
    struct planes *p = arg;
    struct cn_cct_member *member = &p->self->members.list[p->own_first + job];
    struct plane_worker *self = &p->workers[worker];

    if (!cn_failures_stopped(&p->failures, worker) &&
        !write_plane(p, job, self, cn_failures_error(&p->failures, worker)))
        cn_failures_note(&p->failures, worker, job);
    cn_cct_plane_done(&self->plane);
    cn_cct_member_release(member);
    cn_cct_readings_done(&member->task.readings);
    /* From now on only timelines ask, and they want contexts. */
    for (size_t i = 0; i < member->node_count; i++)
        member->nodes[i] = p->self->merged.ids[member->nodes[i]];
}

/* Large trees would need more memory side by side than there are contexts. */
static unsigned worker_count(const struct planes *p)
{
    const struct cn_cct_members *members = &p->self->members;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].node_count * sizeof(struct cn_cct_link) > LARGE_TREE_LEN)
            return 1;
    return p->options->workers;
}

static bool write_threads(struct planes *p, struct cn_error *err)
{
    struct cn_jobs jobs = {p->own_count, p, measure_run, place_take, write_finish};
    unsigned workers = worker_count(p);
    bool ok;

    p->workers = cn_alloc(workers, sizeof(*p->workers));
    for (unsigned i = 0; i < workers; i++)
        p->workers[i].buffer = cn_realloc(NULL, BUFFER_COUNT, sizeof(struct cn_value));
    cn_failures_init(&p->failures, workers);
    cn_pool_run(&jobs, workers);
    ok = cn_failures_result(&p->failures, err);
    cn_failures_done(&p->failures);
    for (unsigned i = 0; i < workers; i++)
        free(p->workers[i].buffer);
    free(p->workers);
    return ok;
}

static void encode_profiles(const struct planes *p, struct cn_text *message)
{
    for (size_t i = p->own_first; i < p->own_first + p->own_count; i++) {
        const struct cn_cct_profile *profile = &p->self->profiles[i + 1];

        cn_wire_u64(message, profile->off);
        cn_wire_u64(message, profile->value_count);
        cn_wire_u32(message, profile->context_count);
        cn_wire_u64(message, p->self->members.list[i].task.sample_count);
    }
}

/* Those of all ranks, one after another. */
static bool decode_profiles(const struct planes *p, struct cn_bytes all,
                            struct cn_error *err)
{
    struct cn_bytes message = {0};

    for (size_t i = 0; i < p->self->members.count; i++) {
        struct cn_cct_profile *profile = &p->self->profiles[i + 1];

        while (message.len == 0)
            if (!cn_wire_bytes_take(&all, &message))
                return cn_fail(err, CN_ERR_FORMAT, "values of %zu threads, not of %zu", i,
                               p->self->members.count);
        if (!cn_wire_u64_take(&message, &profile->off) ||
            !cn_wire_u64_take(&message, &profile->value_count) ||
            !cn_wire_u32_take(&message, &profile->context_count) ||
            !cn_wire_u64_take(&message, &p->self->members.list[i].task.sample_count) ||
            profile->off >> CN_SPOOL_RANK_SHIFT >= p->ranks->size)
            return cn_fail(err, CN_ERR_FORMAT, "values of thread %zu are nowhere", i);
    }
    return true;
}

/* What one rank has the others have as well. */
static bool share_presence(const struct planes *p, bool *list, size_t count,
                           struct cn_error *err)
{
    uint64_t has[CN_BUCKET_COUNT];
    bool ok;

    for (size_t i = 0; i < count; i++)
        has[i] = list[i];
    ok = cn_ranks_combine(p->ranks, CN_RANKS_MAX, has, count, err);
    for (size_t i = 0; ok && i < count; i++)
        list[i] = has[i] != 0;
    return ok;
}

/* All ranks learn where the values of all threads are, and which metrics are used. */
static bool share_threads(struct planes *p, struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    bool ok;

    if (p->ranks->size == 1)
        return true;
    encode_profiles(p, &own);
    ok = cn_ranks_share(p->ranks, &own, &all, err) &&
         decode_profiles(p, cn_wire_view(&all), err) &&
         share_presence(p, p->has_bucket, CN_BUCKET_COUNT, err) &&
         share_presence(p, p->has_counter, CN_COUNTER_COUNT, err);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}

/* The summary of one range of contexts. */
struct summary_worker {
    struct cn_value *values;
    size_t count, capacity;
    uint32_t context_count;
    uint64_t off;
};

struct summary {
    struct cn_cct_database *self;
    bool has_all;
    uint64_t end_off; /* of what has its place, in the file of rank 0 */
    uint64_t value_count, context_count; /* of this process */
    struct summary_worker *workers;
};

static bool summary_begin(void *arg, unsigned worker,
                          const struct cn_context_range *range, struct cn_error *err)
{
    struct summary_worker *self = &((struct summary *)arg)->workers[worker];

    (void)range;
    (void)err;
    self->count = 0;
    self->context_count = 0;
    return true;
}

static bool summary_context(void *arg, unsigned worker, uint32_t context,
                            struct cn_value_batch plane, struct cn_error *err)
{
    struct summary *s = arg;
    struct summary_worker *self = &s->workers[worker];
    size_t most = CN_CCT_SUMMARY_MAX(plane.count), count;

    (void)err;
    if (self->capacity - self->count < most) {
        self->capacity = 2 * self->capacity + most;
        self->values = cn_realloc(self->values, self->capacity, sizeof(*self->values));
    }
    count = cn_cct_summarise(plane, context, s->has_all, self->values + self->count);
    self->count += count;
    self->context_count += count > 0;
    return true;
}

static bool summary_take(void *arg, unsigned worker, const struct cn_context_range *range,
                         struct cn_error *err)
{
    struct summary *s = arg;
    struct summary_worker *self = &s->workers[worker];

    (void)range;
    (void)err;
    self->off = s->end_off;
    s->end_off += self->count * sizeof(*self->values);
    s->value_count += self->count;
    s->context_count += self->context_count;
    return true;
}

static bool summary_finish(void *arg, unsigned worker,
                           const struct cn_context_range *range, struct cn_error *err)
{
    struct summary *s = arg;
    struct summary_worker *self = &s->workers[worker];

    (void)range;
    return cn_spool_write(&s->self->spool, self->off, self->values,
                          self->count * sizeof(*self->values), err);
}

static bool run_summary(struct planes *p, struct summary *s, struct cn_error *err)
{
    struct cn_cct_profile *profile = &p->self->profiles[0];
    struct cn_transpose_options options = {
        .workers = p->options->workers,
        .value_len = CN_CCT_STATISTICS_MAX * sizeof(struct cn_value),
        .what = "summing up",
        .progress = p->options->progress,
    };
    struct cn_transpose_sink sink = {
        s, summary_begin, summary_context, summary_take, summary_finish, &s->end_off};

    /* The smallest offset is one in the file of rank 0. */
    if (!cn_ranks_combine(p->ranks, CN_RANKS_MIN, &s->end_off, 1, err))
        return false;
    profile->off = s->end_off;
    if (!cn_transpose_run(&p->self->db, &options, &sink, err) ||
        !cn_ranks_combine(p->ranks, CN_RANKS_ADD, &s->value_count, 1, err) ||
        !cn_ranks_combine(p->ranks, CN_RANKS_ADD, &s->context_count, 1, err))
        return false;
    if (cn_ranks_is_first(p->ranks))
        p->self->spool.end_off = s->end_off;
    profile->value_count = s->value_count;
    profile->context_count = (uint32_t)s->context_count;
    return true;
}

static bool write_summary(struct planes *p, struct cn_error *err)
{
    struct summary s = {
        .self = p->self,
        .has_all = p->options->has_all_statistics,
        .end_off = p->self->spool.end_off,
        .workers = cn_alloc(p->options->workers, sizeof(*s.workers)),
    };
    bool ok = run_summary(p, &s, err);

    for (unsigned i = 0; i < p->options->workers; i++)
        free(s.workers[i].values);
    free(s.workers);
    return ok;
}

bool cn_cct_planes_make(struct cn_cct_database *self,
                        const struct cn_calls_options *options, struct cn_error *err)
{
    uint32_t first = cn_database_own_first(&self->db);
    struct planes p = {
        .self = self,
        .options = options,
        .ranks = cn_database_ranks(&self->db),
        .own_first = first > 0 ? first - 1 : 0,
        .own_count = cn_database_own_end(&self->db) - (first > 0 ? first : 1),
    };
    struct cn_cct_metric_choice choice = {
        .has_cpu_time = self->merged.has_schedule,
        .has_all_statistics = options->has_all_statistics,
        .has_bucket = p.has_bucket,
        .has_counter = p.has_counter,
    };

    if (!cn_ranks_agree(p.ranks, write_threads(&p, err), err) || !share_threads(&p, err))
        return false;
    cn_cct_metrics_build(&self->db, &choice);
    return write_summary(&p, err);
}
