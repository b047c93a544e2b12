#include "analyze/cct/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/cct/plane.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

enum {
    BUFFER_COUNT = 1 << 16,        /* values per write */
    LARGE_TREE_LEN = 32 * 1 << 20, /* one tree of this length at a time */
};

struct plane_worker {
    struct cn_cct_plane plane;
    struct cn_value *buffer;
};

struct planes {
    struct cn_cct_database *self;
    const struct cn_calls_options *options;
    struct cn_cct_used *used;
    size_t own_first, own_count; /* members of this process */
    struct plane_worker *workers;
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
    if (!cn_cct_member_load(member, &p->self->spool, err)) {
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
    profile->off = cn_spool_reserve_in(&p->self->spool, worker,
                                       plane->value_count * sizeof(struct cn_value));
    for (unsigned i = 0; i < CN_BUCKET_COUNT; i++)
        p->used->has_bucket[i] = p->used->has_bucket[i] || plane->has_bucket[i];
    for (unsigned i = 0; i < plane->counters.count; i++)
        p->used->has_counter[plane->counters.used[i]] = true;
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
    /* From now on only timelines use the nodes, as contexts. */
    for (size_t i = 0; i < member->node_count; i++)
        member->nodes[i] = p->self->merged.ids[member->nodes[i]];
}

/* Several large trees at once would take too much memory. */
static unsigned worker_count(const struct planes *p)
{
    const struct cn_cct_members *members = &p->self->members;

    for (size_t i = 0; i < members->count; i++)
        if (members->list[i].node_count * sizeof(struct cn_tree_link) > LARGE_TREE_LEN)
            return 1;
    return p->options->workers;
}

static bool write_threads(struct planes *p, struct cn_error *err)
{
    struct cn_jobs jobs = {p->own_count, p, measure_run, place_take, write_finish};
    unsigned workers = worker_count(p);

    p->workers = cn_alloc(workers, sizeof(*p->workers));
    for (unsigned i = 0; i < workers; i++)
        p->workers[i].buffer = cn_realloc(NULL, BUFFER_COUNT, sizeof(struct cn_value));
    cn_failures_init(&p->failures, workers);
    cn_pool_run(&jobs, workers);
    bool ok = cn_failures_result(&p->failures, err);
    cn_failures_done(&p->failures);
    for (unsigned i = 0; i < workers; i++)
        free(p->workers[i].buffer);
    free(p->workers);
    return ok;
}

/* The members of this process. */
static size_t own_first(const struct cn_cct_database *self)
{
    return self->db.own_first > 0 ? self->db.own_first - 1 : 0;
}

bool cn_cct_threads_write(struct cn_cct_database *self,
                          const struct cn_calls_options *options,
                          struct cn_cct_used *used, struct cn_error *err)
{
    struct planes p = {
        .self = self,
        .options = options,
        .used = used,
        .own_first = own_first(self),
        .own_count = cn_database_own_end(&self->db) - 1 - own_first(self),
    };

    return write_threads(&p, err);
}

void cn_cct_threads_encode(const struct cn_cct_database *self,
                           const struct cn_cct_used *used, struct cn_text *message)
{
    for (size_t i = 0; i < CN_BUCKET_COUNT; i++)
        cn_wire_u32(message, used->has_bucket[i]);
    for (size_t i = 0; i < CN_CCT_COUNTERS; i++)
        cn_wire_u32(message, used->has_counter[i]);
    for (size_t i = own_first(self) + 1; i < cn_database_own_end(&self->db); i++) {
        const struct cn_cct_profile *profile = &self->profiles[i];

        cn_wire_u64(message, profile->off);
        cn_wire_u64(message, profile->value_count);
        cn_wire_u32(message, profile->context_count);
        cn_wire_u64(message, self->members.list[i - 1].task.sample_count);
    }
}

static bool take_flags(struct cn_bytes *from, bool *list, size_t count)
{
    uint32_t flag;

    for (size_t i = 0; i < count; i++) {
        if (!cn_wire_u32_take(from, &flag))
            return false;
        list[i] = list[i] || flag != 0;
    }
    return true;
}

bool cn_cct_threads_take(struct cn_cct_database *self, struct cn_cct_used *used,
                         size_t *next, struct cn_bytes message, struct cn_error *err)
{
    bool ok = take_flags(&message, used->has_bucket, CN_BUCKET_COUNT) &&
              take_flags(&message, used->has_counter, CN_CCT_COUNTERS);

    for (; ok && message.len > 0; ++*next) {
        struct cn_cct_profile *profile = &self->profiles[*next + 1];

        ok = *next < self->members.count && cn_wire_u64_take(&message, &profile->off) &&
             cn_wire_u64_take(&message, &profile->value_count) &&
             cn_wire_u32_take(&message, &profile->context_count) &&
             cn_wire_u64_take(&message, &self->members.list[*next].task.sample_count) &&
             profile->off >> CN_SPOOL_FILE_SHIFT < self->spool.count;
    }
    return ok || cn_fail(err, CN_ERR_FORMAT, "damaged message about values of threads");
}

/* Statistics over threads of one metric in one context. */
struct planes_tally {
    double count, sum, squares, min, max;
};

/* Tally the values of one id, from `at` on; returns the index after them. */
static size_t tally_run(struct cn_value_batch plane, size_t at, unsigned id,
                        struct planes_tally *out)
{
    *out = (struct planes_tally){0};
    for (; at < plane.count && plane.values[at].metric == id; at++) {
        double value = plane.values[at].value;

        out->min = out->count == 0 || value < out->min ? value : out->min;
        out->max = out->count == 0 || value > out->max ? value : out->max;
        out->count++;
        out->sum += value;
        out->squares += value * value;
    }
    return at;
}

/* The statistics that a summary has. */
struct statistics {
    bool has_all;
    uint16_t ids[CN_CCT_ID_COUNT]; /* the first by value id */
};

static size_t put_statistics(const struct planes_tally *tally, unsigned id,
                             uint32_t context, const struct statistics *of,
                             struct cn_value *out)
{
    struct cn_statistic statistics[CN_CCT_STATISTICS_MAX];
    size_t statistic_count =
        cn_cct_statistics((uint16_t)id, of->has_all, of->ids[id], statistics);
    size_t count = 0;

    for (size_t i = 0; i < statistic_count; i++) {
        const char *formula = statistics[i].formula;
        double value = statistics[i].combine == CN_COMBINE_MIN   ? tally->min
                       : statistics[i].combine == CN_COMBINE_MAX ? tally->max
                       : strcmp(formula, "1") == 0               ? tally->count
                       : strcmp(formula, "$$") == 0              ? tally->sum
                                                                 : tally->squares;

        out[count] = (struct cn_value){value, context, statistics[i].stat_id};
        count += value != 0 || !cn_cct_id_adds_up(id);
    }
    return count;
}

/* All scopes of the metric whose first id is `id`. A thread with a value in one scope counts
 * in all of them. */
static size_t summarise_scopes(struct cn_value_batch plane, size_t *at, unsigned id,
                               uint32_t context, const struct statistics *of,
                               struct cn_value *out)
{
    struct planes_tally tallies[CN_CCT_SCOPES];
    double thread_count = 0;
    size_t count = 0;

    for (unsigned i = 0; i < CN_CCT_SCOPES; i++) {
        *at = tally_run(plane, *at, id + i, &tallies[i]);
        if (tallies[i].count > thread_count)
            thread_count = tallies[i].count;
    }
    for (unsigned i = 0; i < CN_CCT_SCOPES; i++) {
        tallies[i].count = thread_count;
        count += put_statistics(&tallies[i], id + i, context, of, out + count);
    }
    return count;
}

/* From the values of a context by (metric, profile) its values in the summary profile, by
 * statistic. Returns how many; `out` has room for SUMMARY_MAX per value. */
enum { SUMMARY_MAX = CN_CCT_STATISTICS_MAX * CN_CCT_SCOPES };

static size_t summarise(struct cn_value_batch plane, uint32_t context,
                        const struct statistics *of, struct cn_value *out)
{
    size_t count = 0;

    for (size_t at = 0; at < plane.count;) {
        unsigned id = plane.values[at].metric;
        struct planes_tally tally;

        if (cn_cct_id_is_scoped(id)) {
            count += summarise_scopes(plane, &at, id / CN_CCT_SCOPES * CN_CCT_SCOPES,
                                      context, of, out + count);
            continue;
        }
        at = tally_run(plane, at, id, &tally);
        count += put_statistics(&tally, id, context, of, out + count);
    }
    return count;
}

/* The summary of one range of contexts. */
struct summary_worker {
    struct cn_value *values;
    size_t count, capacity;
    uint32_t context_count;
    uint64_t off;
};

struct planes_summary {
    struct cn_cct_database *self;
    const struct statistics *statistics;
    const struct cn_transpose_rank *rank;
    struct cn_cct_summary *out;
    struct summary_worker *workers;
};

static bool summary_begin(void *arg, unsigned worker,
                          const struct cn_context_range *range, struct cn_error *err)
{
    struct summary_worker *self = &((struct planes_summary *)arg)->workers[worker];

    (void)range;
    (void)err;
    self->count = 0;
    self->context_count = 0;
    return true;
}

static bool summary_context(void *arg, unsigned worker, uint32_t context,
                            struct cn_value_batch plane, struct cn_error *err)
{
    struct planes_summary *s = arg;
    struct summary_worker *self = &s->workers[worker];
    size_t most = plane.count * SUMMARY_MAX, count;

    (void)err;
    CN_GROW_TO(self->values, self->count + most, self->capacity);
    count = summarise(plane, context, s->statistics, self->values + self->count);
    self->count += count;
    self->context_count += count > 0;
    return true;
}

static bool summary_take(void *arg, unsigned worker, const struct cn_context_range *range,
                         struct cn_error *err)
{
    struct planes_summary *s = arg;
    struct summary_worker *self = &s->workers[worker];
    uint64_t len = self->count * sizeof(*self->values), at = s->out->len;

    if (s->rank &&
        !s->rank->reserve(s->rank->arg, range->last + 1 == s->self->db.context_limit,
                          true, len, &at, err))
        return false;
    self->off = s->out->off + at;
    s->out->len = at + len;
    s->out->value_count += self->count;
    s->out->context_count += self->context_count;
    return true;
}

static bool summary_finish(void *arg, unsigned worker,
                           const struct cn_context_range *range, struct cn_error *err)
{
    struct planes_summary *s = arg;
    struct summary_worker *self = &s->workers[worker];

    (void)range;
    return cn_spool_write(&s->self->spool, self->off, self->values,
                          self->count * sizeof(*self->values), err);
}

bool cn_cct_summary_write(struct cn_cct_database *self,
                          const struct cn_calls_options *options,
                          const struct cn_cct_used *used,
                          const struct cn_transpose_rank *rank,
                          struct cn_cct_summary *summary, struct cn_error *err)
{
    struct cn_cct_metric_choice choice = {
        .has_waits = self->merged.has_waits,
        .has_all_statistics = options->has_all_statistics,
        .has_bucket = used->has_bucket,
        .has_counter = used->has_counter,
    };
    struct statistics statistics = {.has_all = options->has_all_statistics};
    struct planes_summary s = {
        .self = self,
        .statistics = &statistics,
        .rank = rank,
        .out = summary,
        .workers = cn_alloc(options->workers, sizeof(*s.workers)),
    };
    struct cn_transpose_options transposition = {
        .workers = options->workers,
        .rank = rank,
        .value_len = CN_CCT_STATISTICS_MAX * sizeof(struct cn_value),
        .what = "summing up",
        .progress = options->progress,
    };
    struct cn_transpose_sink sink = {
        .arg = &s,
        .begin = summary_begin,
        .context = summary_context,
        .take = summary_take,
        .finish = summary_finish,
    };

    cn_cct_metrics_build(&self->db, &choice, statistics.ids);
    bool ok = cn_transpose_run(&self->db, &transposition, &sink, err);
    for (unsigned i = 0; i < options->workers; i++)
        free(s.workers[i].values);
    free(s.workers);
    return ok;
}
