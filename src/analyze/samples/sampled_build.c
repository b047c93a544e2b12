/* The pass over all profiles: workers read them, one at a time they are added to the
 * tree in the order of their names, and workers write what came out of them.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/sampled_cells.h"
#include "analyze/samples/sampled_nodes.h"
#include "analyze/samples/sampled_parts.h"
#include "analyze/samples/sampled_ranges.h"
#include "analyze/samples/sampled_scout.h"
#include "analyze/samples/sampled_share.h"
#include "analyze/samples/sampled_values.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/spool_block.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"

/* A profile on its way through the pass; each worker has one and uses it again. */
struct job {
    struct cn_sampled_profile profile;
    struct cn_sampled_nodes nodes;
    struct cn_value_list values;
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
    bool keeps_values,
        keeps_samples;           /* written by the worker, not with those of others */
    struct cn_spool_block block; /* of several profiles, to be written */
    struct cn_error err;
    bool is_read;
    struct cn_sampled_thread *thread; /* NULL: not part of the database */
    uint64_t begin_ns, end_ns;        /* over all samples that this worker has seen */
    bool has_span;
};

struct pass {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    struct cn_sampled_values values;
    struct cn_sampled_totals totals;
    struct cn_sampled_ranges ranges;
    struct cn_spool_block block; /* that is being filled */
    struct cn_failures failures;
    struct job *jobs;
    uint32_t thread_count; /* the summary included */

    struct cn_ranks *ranks;
    struct cn_ranks_part own; /* profiles of this process */
    struct cn_sampled_news news;
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

bool cn_sampled_is_wanted(const struct cn_sampled_options *options,
                          const struct cn_sampled_profile *profile)
{
    struct cn_bytes path = profile->program_path;
    size_t start = path.len;

    if (options->only_program_count == 0)
        return true;
    while (start > 0 && path.ptr[start - 1] != '/')
        start--;
    for (size_t i = 0; i < options->only_program_count; i++) {
        const char *name = options->only_programs[i];

        if (strlen(name) == path.len - start &&
            memcmp(name, path.ptr + start, path.len - start) == 0)
            return true;
    }
    return false;
}

static void name_database(struct pass *pass, const struct cn_sampled_profile *profile)
{
    struct cn_database *db = &pass->self->db;

    if (db->title)
        return;
    if (pass->options->title)
        db->title = cn_arena_strdup(&db->arena, pass->options->title);
    else if (profile->program.len > 0)
        db->title = cn_arena_copy(&db->arena, (const char *)profile->program.ptr,
                                  profile->program.len);
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
        return cn_sampled_ranges_note(&pass->ranges, &pass->self->identities, profile,
                                      &job->nodes, value, metric, err);
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

static bool add_values(struct pass *pass, struct job *job, struct cn_error *err)
{
    const struct cn_sampled_profile *profile = &job->profile;
    bool ok = true;

    cn_sampled_values_begin(&pass->values);
    for (size_t i = 0; ok && i < profile->value_count; i++)
        ok = add_value(pass, job, &profile->values[i], err);
    cn_sampled_values_finish(&pass->values, &job->values);
    return ok;
}

static void note_time(struct job *job, uint64_t time_ns)
{
    if (!job->has_span || time_ns < job->begin_ns)
        job->begin_ns = time_ns;
    if (!job->has_span || time_ns > job->end_ns)
        job->end_ns = time_ns;
    job->has_span = true;
}

/* "Does not run" twice in a row is once. */
static void place_samples(struct job *job)
{
    const struct cn_sampled_profile *profile = &job->profile;

    if (job->sample_capacity < profile->sample_count) {
        free(job->samples);
        job->sample_capacity = profile->sample_count * 2;
        job->samples = cn_alloc(job->sample_capacity, sizeof(*job->samples));
    }
    job->sample_count = 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct cn_sample sample = {.time_ns = profile->samples[i].time_ns};

        if (profile->samples[i].node == CN_NONE ||
            job->nodes.list[profile->samples[i].node].sampled == CN_NONE)
            continue;
        sample.context = job->nodes.list[profile->samples[i].node].sampled;
        note_time(job, sample.time_ns);
        if (sample.context == 0 && job->sample_count > 0 &&
            job->samples[job->sample_count - 1].context == 0)
            continue;
        job->samples[job->sample_count++] = sample;
    }
}

/* Where the values go; small ones are copied there. */
static uint64_t store_values(struct pass *pass, struct job *job)
{
    struct cn_spool *spool = &pass->self->spool;
    size_t len = job->values.count * sizeof(*job->values.values);

    job->keeps_values = len > CN_SPOOL_PIECE_MAX;
    if (job->keeps_values)
        return cn_spool_reserve(spool, len);
    return cn_spool_block_add(&pass->block, &job->block, spool, job->values.values, len);
}

static uint64_t store_samples(struct pass *pass, struct job *job)
{
    struct cn_spool *spool = &pass->self->spool;
    size_t len = job->profile.sample_count * sizeof(*job->samples);

    job->keeps_samples = len > CN_SPOOL_PIECE_MAX;
    if (job->keeps_samples)
        return cn_spool_reserve(spool, len);
    place_samples(job);
    len = job->sample_count * sizeof(*job->samples);
    return cn_spool_block_add(&pass->block, &job->block, spool, job->samples, len);
}

void cn_sampled_thread_identify(struct cn_sampled_database *self,
                                struct cn_sampled_thread *thread,
                                const struct cn_identity *ids, size_t count)
{
    thread->ids = cn_arena_alloc(&self->thread_arena, count, sizeof(*thread->ids));
    thread->id_count = (uint32_t)count;
    memcpy(thread->ids, ids, count * sizeof(*ids));
}

static void reserve(struct pass *pass, struct job *job, const struct cn_identity *ids,
                    size_t id_count)
{
    struct cn_sampled_database *self = pass->self;
    struct cn_sampled_thread *thread = &self->threads[pass->thread_count++];

    thread->value_count = job->values.count;
    thread->context_count = job->values.context_count;
    thread->values_off = store_values(pass, job);
    thread->samples_off = store_samples(pass, job);
    thread->sample_count = job->sample_count;
    cn_sampled_thread_identify(self, thread, ids, id_count);
    if (!cn_ranks_is_first(pass->ranks))
        cn_sampled_news_add_identity(&pass->news, &job->profile);
    pass->totals.profile_count++;
    pass->totals.value_count += job->values.count;
    self->db.has_timelines = self->db.has_timelines || job->profile.sample_count > 0;
    job->thread = thread;
}

/* Whatever can be refused comes before anything is added. */
static bool add_profile(struct pass *pass, size_t index, struct job *job,
                        struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    size_t id_count;

    if (!cn_sampled_metrics_add(&self->metrics, &job->profile, err) ||
        !cn_sampled_ranges_check(&job->profile, err) ||
        !cn_sampled_nodes_check(&job->nodes, self->measurements, index, &job->profile,
                                err) ||
        !cn_sampled_identities_add(&self->identities, &job->profile, ids, &id_count,
                                   err) ||
        !cn_sampled_nodes_place(&job->nodes, &self->contexts, &job->profile, err))
        return cn_fail_in(err, "%s",
                          cn_measurements_profile_path(self->measurements, index));
    name_database(pass, &job->profile);
    if (!add_values(pass, job, err))
        return false;
    reserve(pass, job, ids, id_count);
    return true;
}

/* False when damage is not allowed. */
static bool tell_damage(struct pass *pass, const char *text, struct cn_error *err)
{
    if (pass->options->is_strict)
        return err->kind != CN_ERR_NONE ? false : cn_fail(err, CN_ERR_FORMAT, "%s", text);
    if (!cn_ranks_is_first(pass->ranks))
        cn_sampled_news_add_damage(&pass->news, text);
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
        return tell_damage(pass, job->err.text, &job->err);
    }
    if (!job->profile.damage)
        return true;
    (void)cn_fail(&text, CN_ERR_FORMAT, "%s: %s", path, job->profile.damage);
    return tell_damage(pass, text.text, &job->err);
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
    if (job->keeps_samples) {
        place_samples(job);
        job->thread->sample_count = job->sample_count;
    }
    return (!job->keeps_values ||
            cn_spool_write(spool, job->thread->values_off, job->values.values,
                           job->values.count * sizeof(*job->values.values), err)) &&
           (!job->keeps_samples ||
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

/* The other ranks only need to know how long it is. */
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
    ok = ok && ((cn_wire_u64_take(&bytes, &summary->value_count) &&
                 cn_wire_u32_take(&bytes, &summary->context_count) &&
                 cn_wire_u64_take(&bytes, &summary->values_off) &&
                 summary->values_off >> CN_SPOOL_RANK_SHIFT == 0) ||
                cn_fail(err, CN_ERR_FORMAT, "rank 0 has no summary"));
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

/* GPU contexts whose work was measured in ranges are threads of their own. */
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

    if (pass->values.aside)
        ok = cn_sampled_cells_summary(pass->values.aside, &pass->values, &list, err);
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

/* What was met before must be all there is: ranks have agreed on its numbers. */
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
    pass->values.aside = cn_sampled_cells_new(pass->ranks, &self->spool);
    if (!run_jobs(pass, err))
        return false;
    return (self->contexts.count == context_count &&
            self->metrics.count == metric_count) ||
           cn_fail(err, CN_ERR_FORMAT, "%s: changed while it was being read",
                   self->measurements->path);
}

static bool run_pass(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    bool is_alone = pass->ranks->size == 1;

    if (!cn_sampled_choose(self->measurements, pass->ranks, &pass->own, err) ||
        !cn_ranks_agree(pass->ranks,
                        is_alone ? run_jobs(pass, err) : run_scouted(pass, err), err) ||
        !cn_sampled_share(self, pass->ranks, pass->options, &pass->news,
                          pass->thread_count, &pass->totals, err))
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

static void describe(struct pass *pass)
{
    struct cn_database *db = &pass->self->db;

    if (!db->title)
        db->title = "<unnamed>";
    /* The words that hpcprof writes. */
    db->description =
        pass->options->is_hpcprof_compatible ? "TODO database description" : "";
    cn_sampled_metrics_describe(&pass->self->metrics, !pass->options->without_roots,
                                &db->arena, &db->metrics, &db->taxonomy);
}

static unsigned wanted_statistics(unsigned statistics)
{
    unsigned wanted = 1u << CN_SAMPLED_SUM;

    if (statistics & CN_SAMPLED_NORMAL)
        wanted |= 1u << CN_SAMPLED_COUNT | 1u << CN_SAMPLED_SQUARES;
    if (statistics & CN_SAMPLED_EXTREMA)
        wanted |= 1u << CN_SAMPLED_MIN | 1u << CN_SAMPLED_MAX;
    return wanted;
}

/* Where rank 0 has done all the work, only it has contexts. */
static bool share_context_limit(struct cn_sampled_database *self, struct cn_error *err)
{
    uint64_t limit = self->db.context_limit;

    if (!cn_ranks_combine(self->db.ranks, CN_RANKS_MAX, &limit, 1, err))
        return false;
    self->db.context_limit = (uint32_t)limit;
    return true;
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
    bool ok;

    self->metrics.wanted = wanted_statistics(options->statistics);
    self->metrics.is_hpcprof_compatible = options->is_hpcprof_compatible;
    pass.values.contexts = &self->contexts;
    pass.values.metrics = &self->metrics;
    pass.values.is_hpcprof_compatible = options->is_hpcprof_compatible;
    self->db.ranks = pass.ranks;
    self->db.has_exact_counts = true;
    ok = cn_spool_open_together(&self->spool, options->spool_folder, pass.ranks, err) &&
         run_pass(&pass, err) &&
         cn_ranks_agree(pass.ranks, cn_sampled_database_complete(self, err), err) &&
         share_context_limit(self, err);
    cn_sampled_cells_free(pass.values.aside);
    cn_sampled_values_done(&pass.values);
    cn_sampled_news_done(&pass.news);
    cn_sampled_ranges_done(&pass.ranges);
    if (!ok) {
        cn_sampled_database_free(self);
        return false;
    }
    describe(&pass);
    if (totals)
        *totals = pass.totals;
    *out = &self->db;
    return true;
}
