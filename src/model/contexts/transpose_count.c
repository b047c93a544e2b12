/* The first pass: how many values has each context? */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "model/contexts/transpose_internal.h"

enum {
    PROFILES_PER_JOB_MAX = 32, /* when counting */
    COUNTS_PER_WORKER = 4,     /* jobs that each worker has at least, if there are as many
                                  profiles */
};

/* Counters have 32 bits. */
static bool too_many(uint32_t context, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_LIMIT, "context %" PRIu32 " has more than %u values",
                   context, UINT32_MAX);
}

static bool count_plane(struct cn_transposition *t, uint32_t profile,
                        struct cn_transpose_worker *self, struct cn_error *err)
{
    struct cn_value_batch batch;
    uint64_t read_count = 0;
    enum cn_step step;

    if (!cn_profile_values(t->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM) {
        read_count += batch.count;
        for (size_t i = 0; i < batch.count; i++) {
            uint32_t key = batch.values[i].key;

            if (key >= t->db->context_limit)
                return cn_fail(err, CN_ERR_FORMAT,
                               "value for context %" PRIu32 ", but ids end at %" PRIu32,
                               key, t->db->context_limit);
            if (!cn_value_is_void(&batch.values[i], &t->zero_ids) &&
                ++self->counts[key] == 0)
                return too_many(key, err);
        }
    }
    cn_transpose_forget(t, self, read_count);
    return step == CN_END;
}

static size_t profiles_per_job(const struct cn_transposition *t)
{
    size_t count = t->own_count / t->options->workers / COUNTS_PER_WORKER + 1;

    return count < PROFILES_PER_JOB_MAX ? count : PROFILES_PER_JOB_MAX;
}

static size_t counted_until(const struct cn_transposition *t, size_t job)
{
    size_t end = (job + 1) * profiles_per_job(t);

    return end < t->own_count ? end : t->own_count;
}

static void count_run(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;
    struct cn_error *err = cn_failures_error(&t->failures, worker);
    size_t end = counted_until(t, job);

    if (cn_failures_stopped(&t->failures, worker))
        return;
    for (size_t i = job * profiles_per_job(t); i < end; i++) {
        uint32_t thread = t->threads[t->own_first + i];

        if (!count_plane(t, thread, &t->workers[worker], err)) {
            (void)cn_fail_in(err, "profile %" PRIu32, thread);
            cn_failures_note(&t->failures, worker, job);
            return;
        }
    }
}

/* Shares failures and reports progress; counts need no order. */
static void count_take(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;

    if (cn_failures_share(&t->failures, worker) &&
        !cn_progress_report(t->options->progress, "counting values",
                            counted_until(t, job), t->own_count, "threads",
                            cn_failures_error(&t->failures, worker)))
        cn_failures_note(&t->failures, worker, job);
}

bool cn_transpose_count(struct cn_transposition *t, struct cn_error *err)
{
    size_t job_count = (t->own_count + profiles_per_job(t) - 1) / profiles_per_job(t);
    struct cn_jobs jobs = {job_count, t, count_run, count_take, NULL};
    const struct cn_transpose_rank *rank = t->options->rank;
    size_t limit = t->db->context_limit;
    bool ok;

    for (unsigned i = 0; i < t->options->workers; i++)
        t->workers[i].counts = cn_alloc(limit, sizeof(*t->counts));
    cn_failures_init(&t->failures, t->options->workers);
    cn_pool_run(&jobs, t->options->workers);
    ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    for (unsigned i = 1; i < t->options->workers; i++) {
        for (size_t k = 0; ok && k < limit; k++) {
            t->workers[0].counts[k] += t->workers[i].counts[k];
            if (t->workers[0].counts[k] < t->workers[i].counts[k])
                ok = too_many((uint32_t)k, err);
        }
        free(t->workers[i].counts);
        t->workers[i].counts = NULL;
    }
    t->counts = t->workers[0].counts;
    t->workers[0].counts = NULL;
    return rank ? rank->add_counts(rank->arg, ok, t->counts, limit, err) : ok;
}
