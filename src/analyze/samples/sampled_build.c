/* The pass over all profiles: workers read them, one thread at a time adds them to the tree in
 * the order of their names, and workers write the results.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/sampled_internal.h"
#include "analyze/samples/sampled_nodes.h"
#include "analyze/samples/sampled_ranges.h"
#include "analyze/samples/sampled_scout.h"
#include "analyze/samples/sampled_share.h"
#include "analyze/samples/sampled_summary.h"
#include "analyze/samples/sampled_values.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/spool_block.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"

/* A profile in the pass; each worker has one and reuses it. */
struct job {
    struct cn_sampled_profile profile;
    struct cn_sampled_nodes nodes;
    struct cn_value_list values;
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
    bool writes_values, writes_samples; /* too long for the block of several profiles */
    struct cn_spool_block block;        /* full, to be written by this worker */
    struct cn_error err;
    bool is_read;
    struct cn_sampled_thread *thread; /* NULL: not part of the database */
    uint64_t begin_ns, end_ns;        /* of all samples of this worker */
    bool has_span;
};

struct pass {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    struct cn_sampled_values values;
    struct cn_sampled_summary *summary; /* NULL: in `values` */
    struct cn_sampled_totals totals;
    struct cn_sampled_ranges ranges;
    struct cn_spool_block block; /* being filled */
    struct cn_failures failures;
    struct job *jobs;
    uint32_t thread_count; /* with the summary */

    struct cn_ranks *ranks;
    struct cn_ranks_part own; /* profiles of this process */
    struct cn_sampled_messages messages;
};

static void read_run(void *arg, size_t index, unsigned worker)
{
    struct pass *pass = arg;
    struct job *job = &pass->jobs[worker];

    job->thread = NULL;
    if (cn_failures_stopped(&pass->failures, worker))
        return;
    job->err = (struct cn_error){0};
    job->is_read = cn_measurements_read(pass->self->measurements, pass->own.first + index,
                                        &job->profile, &job->err);
}

static bool add_value(struct pass *pass, struct job *job,
                      const struct cn_sampled_value *value, struct cn_error *err)
{
    const struct cn_sampled_profile *profile = &job->profile;
    const struct cn_sampled_node_contexts *at = &job->nodes.list[value->node];
    bool is_moved = profile->metrics[value->metric].is_moved;
    uint32_t metric = pass->self->metrics.map[value->metric];

    switch (profile->nodes[value->node].kind) {
    case CN_NODE_RANGE_LAUNCH:
    case CN_NODE_RANGE_SAMPLE:
        return cn_sampled_ranges_note(&pass->ranges, profile, &job->nodes, value, metric,
                                      err);
    default:
        if (at->first == CN_NONE)
            cn_sampled_values_spread(&pass->values, &job->nodes.reach.shares[at->last],
                                     metric, is_moved, value->value);
        else
            cn_sampled_values_add(&pass->values, is_moved ? at->first : at->last, metric,
                                  value->value);
        return true;
    }
}

/* Convert the samples of a profile. Consecutive samples of waiting are one. */
static void place_samples(struct job *job)
{
    const struct cn_sampled_profile *profile = &job->profile;

    job->samples = cn_grow_to(job->samples, profile->sample_count, &job->sample_capacity,
                              sizeof(*job->samples));
    job->sample_count = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct cn_sample sample = {.time_ns = profile->samples[i].time_ns};

        if (profile->samples[i].node == CN_NONE ||
            job->nodes.list[profile->samples[i].node].sampled == CN_NONE)
            continue;
        sample.context = job->nodes.list[profile->samples[i].node].sampled;
        if (!job->has_span || sample.time_ns < job->begin_ns)
            job->begin_ns = sample.time_ns;
        if (!job->has_span || sample.time_ns > job->end_ns)
            job->end_ns = sample.time_ns;
        job->has_span = true;
        if (sample.context == 0 && job->sample_count > 0 &&
            job->samples[job->sample_count - 1].context == 0)
            continue;
        job->samples[job->sample_count++] = sample;
    }
}

/* Reserve space in the spool; data that fits is copied to the block of several profiles, else
 * *is_own: the worker writes it. Returns the offset. */
static uint64_t store(struct pass *pass, struct job *job, const void *data, size_t len,
                      bool *is_own)
{
    struct cn_spool *spool = &pass->self->spool;

    *is_own = len > CN_SPOOL_PIECE_MAX;
    return *is_own ? cn_spool_reserve(spool, len)
                   : cn_spool_block_add(&pass->block, &job->block, spool, data, len);
}

static void reserve(struct pass *pass, struct job *job, const struct cn_identity *ids,
                    size_t id_count)
{
    struct cn_sampled_database *self = pass->self;
    struct cn_sampled_thread *thread = &self->threads[pass->thread_count++];
    size_t samples_len = job->profile.sample_count * sizeof(*job->samples);

    thread->value_count = job->values.count;
    thread->context_count = job->values.context_count;
    thread->values_off =
        store(pass, job, job->values.values,
              job->values.count * sizeof(*job->values.values), &job->writes_values);
    if (samples_len <= CN_SPOOL_PIECE_MAX) { /* else the worker places them */
        place_samples(job);
        samples_len = job->sample_count * sizeof(*job->samples);
    }
    thread->samples_off =
        store(pass, job, job->samples, samples_len, &job->writes_samples);
    thread->sample_count = job->sample_count;
    cn_sampled_thread_identify(self, thread, ids, id_count);
    if (!cn_ranks_is_first(pass->ranks))
        cn_sampled_messages_add_identity(&pass->messages, &job->profile);
    pass->totals.profile_count++;
    pass->totals.value_count += job->values.count;
    self->db.has_timelines = self->db.has_timelines || job->profile.sample_count > 0;
    job->thread = thread;
}

/* All checks come before anything is added. */
static bool add_profile(struct pass *pass, size_t index, struct job *job,
                        struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    struct cn_database *db = &self->db;
    struct cn_bytes program = job->profile.program;
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    size_t id_count;
    bool ok = true;

    if (!cn_sampled_metrics_add(&self->metrics, &job->profile, err) ||
        !cn_sampled_ranges_check(&job->profile, err) ||
        !cn_sampled_nodes_check(&job->nodes, self->measurements, index, &job->profile,
                                err) ||
        !cn_sampled_identities_add(&self->identities, &job->profile, ids, &id_count,
                                   err) ||
        !cn_sampled_nodes_place(&job->nodes, &self->contexts, &job->profile, err))
        return cn_fail_in(err, "%s",
                          cn_measurements_profile_path(self->measurements, index));
    if (!db->title && pass->options->title)
        db->title = cn_arena_strdup(&db->arena, pass->options->title);
    else if (!db->title && program.len > 0)
        db->title = cn_arena_copy(&db->arena, (const char *)program.ptr, program.len);
    cn_sampled_values_begin(&pass->values);
    for (size_t i = 0; ok && i < job->profile.value_count; i++)
        ok = add_value(pass, job, &job->profile.values[i], err);
    cn_sampled_values_finish(&pass->values, &job->values);
    if (ok)
        reserve(pass, job, ids, id_count);
    return ok;
}

/* False if damage is a failure. */
static bool report_damage(struct pass *pass, const char *text, struct cn_error *err)
{
    if (pass->options->is_strict)
        return err->kind != CN_ERR_NONE ? false : cn_fail(err, CN_ERR_FORMAT, "%s", text);
    if (!cn_ranks_is_first(pass->ranks))
        cn_sampled_messages_add_damage(&pass->messages, text);
    else if (pass->options->on_damage)
        pass->options->on_damage(pass->options->on_damage_arg, text);
    *err = (struct cn_error){0};
    return true;
}

static bool take_one(struct pass *pass, size_t index, struct job *job)
{
    const char *path = cn_measurements_profile_path(pass->self->measurements, index);
    struct cn_error text = {0};

    if (job->is_read && !cn_sampled_is_wanted(pass->options, &job->profile)) {
        pass->totals.excluded_count++;
        return true;
    }
    if (!job->is_read || !add_profile(pass, index, job, &job->err)) {
        pass->totals.unreadable_count++;
        return report_damage(pass, job->err.text, &job->err);
    }
    if (!job->profile.damage)
        return true;
    (void)cn_fail(&text, CN_ERR_FORMAT, "%s: %s", path, job->profile.damage);
    return report_damage(pass, text.text, &job->err);
}

static void add_take(void *arg, size_t index, unsigned worker)
{
    struct pass *pass = arg;
    struct job *job = &pass->jobs[worker];

    if (!cn_failures_share(&pass->failures, worker))
        return;
    if (take_one(pass, pass->own.first + index, job) &&
        cn_progress_report(pass->options->progress, "reading profiles", index + 1,
                           pass->own.end - pass->own.first, "profiles", &job->err))
        return;
    job->thread = NULL;
    *cn_failures_error(&pass->failures, worker) = job->err;
    cn_failures_note(&pass->failures, worker, index);
}

static bool write_own(struct job *job, const struct cn_spool *spool, struct cn_error *err)
{
    if (job->writes_samples) {
        place_samples(job);
        job->thread->sample_count = job->sample_count;
    }
    return (!job->writes_values ||
            cn_spool_write(spool, job->thread->values_off, job->values.values,
                           job->values.count * sizeof(*job->values.values), err)) &&
           (!job->writes_samples ||
            cn_spool_write(spool, job->thread->samples_off, job->samples,
                           job->sample_count * sizeof(*job->samples), err));
}

static void write_finish(void *arg, size_t index, unsigned worker)
{
    struct pass *pass = arg;
    struct job *job = &pass->jobs[worker];
    const struct cn_spool *spool = &pass->self->spool;
    struct cn_error *err = cn_failures_error(&pass->failures, worker);

    if (cn_failures_stopped(&pass->failures, worker))
        return;
    if (!cn_spool_block_write(&job->block, spool, err) ||
        (job->thread && !write_own(job, spool, err)))
        cn_failures_note(&pass->failures, worker, index);
}

static void end_jobs(struct pass *pass, unsigned workers)
{
    struct cn_database *db = &pass->self->db;
    bool has_span = false;

    for (unsigned i = 0; i < workers; i++) {
        struct job *job = &pass->jobs[i];

        if (job->has_span && (!has_span || job->begin_ns < db->begin_ns))
            db->begin_ns = job->begin_ns;
        if (job->has_span && (!has_span || job->end_ns > db->end_ns))
            db->end_ns = job->end_ns;
        has_span = has_span || job->has_span;
        cn_sampled_profile_done(pass->self->measurements, &job->profile);
        cn_sampled_nodes_done(&job->nodes);
        free(job->values.values);
        free(job->samples);
        cn_spool_block_done(&job->block);
    }
    free(pass->jobs);
}

/* Send offset and length of the summary to all ranks. */
static bool share_summary(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_thread *summary = &pass->self->threads[0];
    struct cn_text message = {0};
    struct cn_bytes bytes;
    bool ok;

    cn_wire_u64(&message, summary->value_count);
    cn_wire_u32(&message, summary->context_count);
    cn_wire_u64(&message, summary->values_off);
    ok = cn_ranks_broadcast(pass->ranks, &message, err);
    bytes = cn_wire_view(&message);
    ok = ok &&
         ((cn_wire_u64_take(&bytes, &summary->value_count) &&
           cn_wire_u32_take(&bytes, &summary->context_count) &&
           cn_wire_u64_take(&bytes, &summary->values_off) &&
           summary->values_off >> CN_SPOOL_RANK_SHIFT == 0) ||
          cn_fail(err, CN_ERR_FORMAT, "damaged message about the summary of rank 0"));
    cn_text_done(&message);
    return cn_ranks_agree(pass->ranks, ok, err);
}

static bool write_list(struct pass *pass, struct cn_sampled_thread *thread,
                       const struct cn_value_list *list, struct cn_error *err)
{
    struct cn_spool *spool = &pass->self->spool;
    size_t len = list->count * sizeof(*list->values);

    thread->value_count = list->count;
    thread->context_count = list->context_count;
    thread->values_off = cn_spool_reserve(spool, len);
    thread->samples_off = spool->end_off;
    return cn_spool_write(spool, thread->values_off, list->values, len, err);
}

/* GPU contexts that were measured in ranges are threads. */
static bool add_gpu_contexts(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    size_t thread_count = pass->thread_count + pass->ranges.count;
    struct cn_value_list list = {0};
    bool ok = true;

    if (pass->ranges.count == 0)
        return true;
    self->threads = cn_realloc(self->threads, thread_count, sizeof(*self->threads));
    for (size_t i = 0; ok && i < pass->ranges.count; i++) {
        struct cn_sampled_thread *thread = &self->threads[pass->thread_count++];
        size_t id_count;
        const struct cn_identity *ids =
            cn_sampled_ranges_identity(&pass->ranges, i, &id_count);

        *thread = (struct cn_sampled_thread){0};
        cn_sampled_thread_identify(self, thread, ids, id_count);
        cn_sampled_values_begin(&pass->values);
        ok = cn_sampled_ranges_add(&pass->ranges, i, &self->contexts, &pass->values, err);
        cn_sampled_values_finish(&pass->values, &list);
        ok = ok && write_list(pass, thread, &list, err);
        pass->totals.profile_count++;
        pass->totals.value_count += list.count;
    }
    self->db.profile_count = pass->thread_count;
    free(list.values);
    return ok;
}

static bool add_summary(struct pass *pass, struct cn_error *err)
{
    struct cn_value_list list = {0};
    bool ok = true;

    if (pass->summary)
        ok = cn_sampled_summary_collect(pass->summary, &pass->values, &list, err);
    else
        cn_sampled_values_summary(&pass->values, &list);
    ok = ok && write_list(pass, &pass->self->threads[0], &list, err);
    free(list.values);
    return cn_ranks_agree(pass->ranks, ok, err) && share_summary(pass, err);
}

static bool run_jobs(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    size_t count = pass->own.end - pass->own.first;
    struct cn_jobs jobs = {count, pass, read_run, add_take, write_finish};
    unsigned workers =
        pass->options->workers ? pass->options->workers : cn_pool_default_workers();
    bool ok;

    self->threads = cn_alloc(count + 1, sizeof(*self->threads));
    pass->thread_count = 1;
    pass->jobs = cn_alloc(workers, sizeof(*pass->jobs));
    cn_failures_init(&pass->failures, workers);
    cn_pool_run(&jobs, workers);
    ok = cn_failures_result(&pass->failures, err) &&
         cn_spool_block_write(&pass->block, &self->spool, err);
    cn_failures_done(&pass->failures);
    cn_spool_block_done(&pass->block);
    end_jobs(pass, workers);
    for (uint32_t i = 1; i < pass->thread_count; i++)
        pass->totals.sample_count += self->threads[i].sample_count;
    return ok && add_gpu_contexts(pass, err);
}

/* After a scouting pass, in which ranks agreed on all contexts and metrics: the profiles must
 * not bring others. */
static bool run_scouted(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    size_t context_count, metric_count;
    bool is_for_one;

    if (!cn_sampled_scout(self, pass->options, pass->own, &is_for_one, err))
        return false;
    if (is_for_one) {
        pass->own = (struct cn_ranks_part){
            0, cn_ranks_is_first(pass->ranks) ? self->measurements->profile_count : 0};
        return run_jobs(pass, err);
    }
    context_count = self->contexts.count;
    metric_count = self->metrics.count;
    pass->summary = cn_sampled_summary_new(pass->ranks, &self->spool);
    pass->values.take = cn_sampled_summary_add;
    pass->values.take_arg = pass->summary;
    if (!run_jobs(pass, err))
        return false;
    return (self->contexts.count == context_count &&
            self->metrics.count == metric_count) ||
           cn_fail(err, CN_ERR_FORMAT, "%s: changed while it was read",
                   self->measurements->path);
}

static bool run_pass(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    bool is_alone = pass->ranks->size == 1;

    if (!cn_sampled_choose(self->measurements, pass->ranks, &pass->own, err) ||
        !cn_ranks_agree(pass->ranks,
                        is_alone ? run_jobs(pass, err) : run_scouted(pass, err), err) ||
        !cn_sampled_share(self, pass->options, &pass->messages, pass->thread_count,
                          &pass->totals, err))
        return false;
    if (pass->totals.profile_count == 0 && pass->totals.unreadable_count == 0 &&
        pass->options->only_program_count > 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no profile is of a program named %s",
                       self->measurements->path, pass->options->only_programs[0]);
    if (pass->totals.profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "%s: none of %zu profiles can be analysed",
                       self->measurements->path, self->measurements->profile_count);
    return add_summary(pass, err);
}

bool cn_sampled_database_build(struct cn_database **out,
                               struct cn_measurements *measurements,
                               const struct cn_sampled_options *options,
                               struct cn_sampled_totals *totals, struct cn_error *err)
{
    struct cn_sampled_database *self = cn_sampled_database_new(measurements);
    struct pass pass = {
        .self = self,
        .options = options,
        .ranks = options->ranks ? options->ranks : &cn_ranks_alone,
    };
    struct cn_database *db = &self->db;
    uint64_t context_limit;
    bool ok;

    self->metrics.wanted = 1u << CN_SAMPLED_SUM;
    if (options->statistics & CN_SAMPLED_NORMAL)
        self->metrics.wanted |= 1u << CN_SAMPLED_COUNT | 1u << CN_SAMPLED_SQUARES;
    if (options->statistics & CN_SAMPLED_EXTREMA)
        self->metrics.wanted |= 1u << CN_SAMPLED_MIN | 1u << CN_SAMPLED_MAX;
    self->metrics.is_hpcprof_compatible = options->is_hpcprof_compatible;
    pass.ranges.identities = &self->identities;
    pass.values.contexts = &self->contexts;
    pass.values.metrics = &self->metrics;
    pass.values.is_hpcprof_compatible = options->is_hpcprof_compatible;
    db->ranks = pass.ranks;
    db->has_exact_counts = true;
    ok = cn_spool_open_together(&self->spool, options->spool_folder, pass.ranks, err) &&
         run_pass(&pass, err) &&
         cn_ranks_agree(pass.ranks, cn_sampled_database_complete(self, err), err);
    /* If rank 0 did all the work, only it has contexts. */
    context_limit = db->context_limit;
    ok = ok && cn_ranks_combine(pass.ranks, CN_RANKS_MAX, &context_limit, 1, err);
    cn_sampled_summary_free(pass.summary);
    cn_sampled_values_done(&pass.values);
    cn_sampled_messages_done(&pass.messages);
    cn_sampled_ranges_done(&pass.ranges);
    if (!ok) {
        cn_sampled_database_free(self);
        return false;
    }
    db->context_limit = (uint32_t)context_limit;
    if (!db->title)
        db->title = "<unnamed>";
    /* The text that hpcprof writes. */
    db->description = options->is_hpcprof_compatible ? "TODO database description" : "";
    cn_sampled_metrics_describe(&self->metrics, !options->without_roots, &db->arena,
                                &db->metrics, &db->taxonomy);
    if (totals)
        *totals = pass.totals;
    *out = db;
    return true;
}
