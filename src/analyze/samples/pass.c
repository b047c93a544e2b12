/* The pass over all profiles, in batches: workers read them and find the contexts that are
 * known. In the order of profiles, one worker at a time adds the new contexts, metrics and
 * identities. Then workers propagate values and write the results; statistics over threads
 * are merged in a tree.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/samples/batches.h"
#include "analyze/samples/cells.h"
#include "analyze/samples/internal.h"
#include "analyze/samples/ranges.h"
#include "analyze/samples/scout.h"
#include "analyze/samples/share.h"
#include "analyze/samples/sum.h"
#include "analyze/samples/values.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"

/* Values and samples in memory that are written together. */
enum { WRITE_LEN = 256 << 10 };

/* A profile of the batch. */
struct slot {
    struct cn_sampled_slot read;
    uint32_t *metrics; /* of the profile -> of all profiles */
    size_t metric_capacity;
    struct cn_sampled_thread *thread; /* NULL: not part of the database */
};

/* The batch of a worker, which reuses it. */
struct job {
    unsigned worker;
    struct slot slots[CN_SAMPLED_BATCH_MAX];
    size_t context_count; /* when its contexts were added */
    struct cn_sampled_values values;
    struct cn_value_list value_list; /* of several threads */
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
    struct cn_sampled_thread *first; /* of the threads that are not written yet */
    uint64_t begin_ns, end_ns;       /* of all samples of this worker */
    bool has_span;
};

struct pass {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    unsigned workers;
    struct cn_sampled_batches batches;
    struct cn_merges sums; /* of batches: struct cn_sampled_sum */
    struct cn_sampled_sum_rules rules;
    struct cn_sampled_sum *gpu_sum; /* of GPU contexts; NULL: none */
    struct cn_sampled_totals totals;
    struct cn_sampled_ranges ranges;
    struct cn_failures failures;
    struct job *jobs;
    uint32_t thread_count; /* with the summary */
    struct cn_ranks *ranks;
    struct cn_sampled_messages messages;
};

/* The first profile of a batch of this process, and the end of the batch. */
static const size_t *batch_at(const struct pass *pass, size_t number)
{
    return pass->batches.starts + pass->batches.own.first + number;
}

static void read_run(void *arg, size_t number, unsigned worker)
{
    struct pass *pass = arg;
    const size_t *batch = batch_at(pass, number);

    if (cn_failures_stopped(&pass->failures, worker))
        return;
    for (size_t i = batch[0]; i < batch[1]; i++)
        cn_sampled_slot_read(&pass->jobs[worker].slots[i - batch[0]].read, pass->self,
                             pass->options, i);
}

static bool is_of_range(const struct cn_sampled_profile *profile,
                        const struct cn_sampled_value *value)
{
    uint8_t kind = profile->nodes[value->node].kind;

    return kind == CN_NODE_RANGE_LAUNCH || kind == CN_NODE_RANGE_SAMPLE;
}

static void add_value(struct cn_sampled_values *values, const struct slot *slot,
                      const struct cn_sampled_value *value)
{
    const struct cn_sampled_nodes *nodes = &slot->read.nodes;
    const struct cn_sampled_node_contexts *at = &nodes->list[value->node];
    bool is_moved = slot->read.profile.metrics[value->metric].is_moved;
    uint32_t metric = slot->metrics[value->metric];

    if (at->first == CN_NONE)
        cn_sampled_values_spread(values, &nodes->reach.shares[at->last], metric, is_moved,
                                 value->value);
    else
        cn_sampled_values_add(values, is_moved ? at->first : at->last, metric,
                              value->value);
}

/* Append the samples of a profile. Consecutive samples of waiting are one. */
static void place_samples(struct job *job, struct slot *slot)
{
    const struct cn_sampled_profile *profile = &slot->read.profile;
    const struct cn_sampled_node_contexts *nodes = slot->read.nodes.list;
    size_t first = job->sample_count;

    CN_GROW_TO(job->samples, first + profile->sample_count, job->sample_capacity);
    for (size_t i = 0; i < profile->sample_count; i++) {
        struct cn_sample sample = {.time_ns = profile->samples[i].time_ns};

        if (profile->samples[i].node == CN_NONE ||
            nodes[profile->samples[i].node].sampled == CN_NONE)
            continue;
        sample.context = nodes[profile->samples[i].node].sampled;
        if (!job->has_span || sample.time_ns < job->begin_ns)
            job->begin_ns = sample.time_ns;
        if (!job->has_span || sample.time_ns > job->end_ns)
            job->end_ns = sample.time_ns;
        job->has_span = true;
        if (sample.context == 0 && job->sample_count > first &&
            job->samples[job->sample_count - 1].context == 0)
            continue;
        job->samples[job->sample_count++] = sample;
    }
    slot->thread->sample_count = job->sample_count - first;
}

static void add_thread(struct pass *pass, struct slot *slot,
                       const struct cn_identity *ids, size_t id_count)
{
    struct cn_sampled_database *self = pass->self;
    const struct cn_sampled_profile *profile = &slot->read.profile;

    slot->thread = &self->threads[pass->thread_count++];
    CN_GROW_TO(slot->metrics, profile->metric_count, slot->metric_capacity);
    for (size_t i = 0; i < profile->metric_count; i++)
        slot->metrics[i] = self->metrics.map[i];
    cn_sampled_thread_identify(self, slot->thread, ids, id_count);
    if (!cn_ranks_is_first(pass->ranks))
        cn_sampled_messages_add_identity(&pass->messages, profile);
    pass->totals.profile_count++;
    self->db.has_timelines = self->db.has_timelines || profile->sample_count > 0;
}

/* All checks come before anything is added. */
static bool add_profile(struct pass *pass, struct slot *slot, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    const struct cn_sampled_profile *profile = &slot->read.profile;
    struct cn_sampled_nodes *nodes = &slot->read.nodes;
    struct cn_database *db = &self->db;
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    size_t id_count;
    bool ok = true;

    if (!cn_sampled_metrics_add(&self->metrics, profile, err) ||
        (slot->read.has_ranges && !cn_sampled_ranges_check(profile, err)) ||
        !cn_sampled_nodes_check(nodes, self->measurements, slot->read.index, profile,
                                err) ||
        !cn_sampled_identities_add(&self->identities, profile, ids, &id_count, err) ||
        !cn_sampled_nodes_place(nodes, &self->contexts, profile, err))
        return cn_fail_in(
            err, "%s",
            cn_measurements_profile_path(self->measurements, slot->read.index));
    if (!db->title && pass->options->title)
        db->title = cn_arena_strdup(&db->arena, pass->options->title);
    else if (!db->title && profile->program.len > 0)
        db->title = cn_arena_copy(&db->arena, (const char *)profile->program.ptr,
                                  profile->program.len);
    for (size_t i = 0; ok && slot->read.has_ranges && i < profile->value_count; i++)
        if (is_of_range(profile, &profile->values[i]))
            ok =
                cn_sampled_ranges_note(&pass->ranges, profile, nodes, &profile->values[i],
                                       self->metrics.map[profile->values[i].metric], err);
    if (ok)
        add_thread(pass, slot, ids, id_count);
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

static bool take_one(struct pass *pass, struct slot *slot)
{
    struct cn_sampled_slot *read = &slot->read;
    struct cn_error text = {0};

    slot->thread = NULL;
    if (read->is_read && !read->is_wanted) {
        pass->totals.excluded_count++;
        return true;
    }
    if (!read->is_read || !add_profile(pass, slot, &read->err)) {
        pass->totals.unreadable_count++;
        return report_damage(pass, read->err.text, &read->err);
    }
    if (!read->profile.damage)
        return true;
    (void)cn_fail(&text, CN_ERR_FORMAT, "%s: %s",
                  cn_measurements_profile_path(pass->self->measurements, read->index),
                  read->profile.damage);
    return report_damage(pass, text.text, &read->err);
}

static void add_take(void *arg, size_t number, unsigned worker)
{
    struct pass *pass = arg;
    struct job *job = &pass->jobs[worker];
    const size_t *batch = batch_at(pass, number);
    size_t first = pass->batches.starts[pass->batches.own.first];
    size_t end = pass->batches.starts[pass->batches.own.end];
    struct cn_error *err = cn_failures_error(&pass->failures, worker);
    bool ok = true;

    if (!cn_failures_share(&pass->failures, worker))
        return;
    for (size_t i = 0; ok && i < batch[1] - batch[0]; i++) {
        ok = take_one(pass, &job->slots[i]);
        if (!ok)
            *err = job->slots[i].read.err;
    }
    job->context_count = pass->self->contexts.count;
    if (!ok || !cn_progress_report(pass->options->progress, "reading profiles",
                                   batch[1] - first, end - first, "profiles", err))
        cn_failures_note(&pass->failures, worker, number);
}

/* Write the values and samples in memory, of the threads up to `end`. */
static bool write_threads(struct job *job, struct cn_spool *spool,
                          const struct cn_sampled_thread *end, struct cn_error *err)
{
    size_t values_len = job->value_list.count * sizeof(*job->value_list.values);
    size_t samples_len = job->sample_count * sizeof(*job->samples);
    uint64_t values_off =
        cn_spool_reserve_in(spool, job->worker, values_len + samples_len);
    uint64_t samples_off = values_off + values_len;
    bool ok =
        cn_spool_write(spool, values_off, job->value_list.values, values_len, err) &&
        cn_spool_write(spool, samples_off, job->samples, samples_len, err);

    for (struct cn_sampled_thread *thread = job->first; thread < end; thread++) {
        thread->values_off = values_off;
        thread->samples_off = samples_off;
        values_off += thread->value_count * sizeof(*job->value_list.values);
        samples_off += thread->sample_count * sizeof(*job->samples);
    }
    job->value_list.count = 0;
    job->sample_count = 0;
    job->first = NULL;
    return ok;
}

/* Propagate the values of a thread and place its samples. */
static bool finish_thread(struct job *job, struct cn_sampled_database *self,
                          struct slot *slot, struct cn_error *err)
{
    const struct cn_sampled_profile *profile = &slot->read.profile;
    struct cn_value_list *list = &job->value_list;
    size_t first = list->count;

    cn_sampled_values_begin(&job->values, job->context_count);
    for (size_t i = 0; i < profile->value_count; i++)
        if (!slot->read.has_ranges || !is_of_range(profile, &profile->values[i]))
            add_value(&job->values, slot, &profile->values[i]);
    cn_sampled_values_finish(&job->values, list);
    slot->thread->value_count = list->count - first;
    slot->thread->context_count = list->context_count;
    cn_sampled_nodes_find_sampled(&slot->read.nodes, &self->contexts, profile);
    place_samples(job, slot);
    if (!job->first)
        job->first = slot->thread;
    return list->count * sizeof(*list->values) +
                   job->sample_count * sizeof(*job->samples) <
               WRITE_LEN ||
           write_threads(job, &self->spool, slot->thread + 1, err);
}

static void write_finish(void *arg, size_t number, unsigned worker)
{
    struct pass *pass = arg;
    struct job *job = &pass->jobs[worker];
    const size_t *batch = batch_at(pass, number);
    struct cn_error *err = cn_failures_error(&pass->failures, worker);
    const struct cn_sampled_thread *end = NULL;
    bool ok = true;

    if (cn_failures_stopped(&pass->failures, worker))
        return;
    for (size_t i = 0; ok && i < batch[1] - batch[0]; i++) {
        struct slot *slot = &job->slots[i];

        if (!slot->thread)
            continue;
        ok = finish_thread(job, pass->self, slot, err);
        end = slot->thread + 1;
    }
    ok = ok && (!job->first || write_threads(job, &pass->self->spool, end, err));
    if (!ok) {
        cn_failures_note(&pass->failures, worker, number);
        return;
    }
    cn_merges_put(&pass->sums, (struct cn_merge){0, pass->batches.own.first + number,
                                                 cn_sampled_values_sum_up(&job->values)});
}

static struct cn_sampled_values new_values(const struct pass *pass)
{
    return (struct cn_sampled_values){
        .contexts = &pass->self->contexts,
        .metrics = &pass->self->metrics,
        .is_hpcprof_compatible = pass->options->is_hpcprof_compatible,
    };
}

static void end_jobs(struct pass *pass)
{
    struct cn_database *db = &pass->self->db;
    bool has_span = false;

    for (unsigned i = 0; i < pass->workers; i++) {
        struct job *job = &pass->jobs[i];

        if (job->has_span && (!has_span || job->begin_ns < db->begin_ns))
            db->begin_ns = job->begin_ns;
        if (job->has_span && (!has_span || job->end_ns > db->end_ns))
            db->end_ns = job->end_ns;
        has_span = has_span || job->has_span;
        for (size_t k = 0; k < CN_SAMPLED_BATCH_MAX; k++) {
            cn_sampled_slot_done(&job->slots[k].read, pass->self->measurements);
            free(job->slots[k].metrics);
        }
        cn_sampled_values_done(&job->values);
        free(job->value_list.values);
        free(job->samples);
    }
    free(pass->jobs);
    cn_alloc_trim();
}

/* Send offset and length of the summary to all ranks, and the counts of values. */
static bool share_summary(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_thread *summary = &pass->self->threads[0];
    struct cn_cells *cells = &pass->self->cells;
    struct cn_text message = {0};
    struct cn_bytes bytes;
    bool ok;

    cn_wire_u64(&message, summary->value_count);
    cn_wire_u32(&message, summary->context_count);
    cn_wire_u64(&message, summary->values_off);
    if (pass->ranks->size > 1)
        cn_sampled_cells_encode(cells, &message);
    ok = cn_ranks_broadcast(pass->ranks, &message, err);
    bytes = cn_wire_view(&message);
    ok = ok &&
         ((cn_wire_u64_take(&bytes, &summary->value_count) &&
           cn_wire_u32_take(&bytes, &summary->context_count) &&
           cn_wire_u64_take(&bytes, &summary->values_off) &&
           summary->values_off >> CN_SPOOL_RANK_SHIFT == 0) ||
          cn_fail(err, CN_ERR_FORMAT, "damaged message about the summary of rank 0"));
    if (ok && !cn_ranks_is_first(pass->ranks))
        ok = cn_sampled_cells_decode(cells, bytes, err);
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
    struct cn_sampled_values values = new_values(pass);
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
        cn_sampled_values_begin(&values, self->contexts.count);
        ok = cn_sampled_ranges_add(&pass->ranges, i, &self->contexts, &values, err);
        list.count = 0;
        cn_sampled_values_finish(&values, &list);
        ok = ok && write_list(pass, thread, &list, err);
        pass->totals.profile_count++;
        pass->totals.value_count += list.count;
    }
    pass->gpu_sum = cn_sampled_values_sum_up(&values);
    self->db.profile_count = pass->thread_count;
    cn_sampled_values_done(&values);
    free(list.values);
    return ok;
}

/* Write the statistics over all threads as the profile of the summary. */
static bool write_summary(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_sum *sum = cn_merges_take(&pass->sums);
    struct cn_value_list list = {0};
    bool ok;

    if (!sum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the summary of a batch of profiles is missing");
    if (pass->gpu_sum)
        sum = cn_sampled_sum_merge(&pass->rules, sum, pass->gpu_sum);
    pass->gpu_sum = NULL;
    cn_sampled_sum_list(sum, &pass->rules, &list);
    ok = cn_sampled_cells_list(&pass->self->cells, sum, &pass->rules, err) &&
         write_list(pass, &pass->self->threads[0], &list, err);
    cn_sampled_sum_free(sum);
    free(list.values);
    return ok;
}

static bool add_summary(struct pass *pass, struct cn_error *err)
{
    bool ok =
        cn_sampled_sums_reduce(&pass->sums, pass->ranks, pass->self->contexts.count, err);

    if (ok && cn_ranks_is_first(pass->ranks))
        ok = write_summary(pass, err);
    return cn_ranks_agree(pass->ranks, ok, err) && share_summary(pass, err);
}

static bool run_jobs(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    const struct cn_ranks_part *own = &pass->batches.own;
    size_t profile_count =
        pass->batches.starts[own->end] - pass->batches.starts[own->first];
    struct cn_jobs jobs = {own->end - own->first, pass, read_run, add_take, write_finish};
    bool ok;

    self->threads = cn_alloc(profile_count + 1, sizeof(*self->threads));
    pass->thread_count = 1;
    pass->jobs = cn_alloc(pass->workers, sizeof(*pass->jobs));
    for (unsigned i = 0; i < pass->workers; i++)
        pass->jobs[i] = (struct job){.worker = i, .values = new_values(pass)};
    cn_failures_init(&pass->failures, pass->workers);
    cn_pool_run(&jobs, pass->workers);
    ok = cn_failures_result(&pass->failures, err);
    cn_failures_done(&pass->failures);
    end_jobs(pass);
    for (uint32_t i = 1; i < pass->thread_count; i++) {
        pass->totals.value_count += self->threads[i].value_count;
        pass->totals.sample_count += self->threads[i].sample_count;
    }
    return ok && add_gpu_contexts(pass, err);
}

/* After a scouting pass, in which ranks agreed on all contexts and metrics: the profiles must
 * not bring others. */
static bool run_scouted(struct pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    size_t context_count, metric_count;
    bool is_for_one;

    if (!cn_sampled_scout(self, pass->options, &pass->batches, &is_for_one, err))
        return false;
    if (is_for_one) {
        pass->batches.own = (struct cn_ranks_part){
            0, cn_ranks_is_first(pass->ranks) ? pass->batches.count : 0};
        return run_jobs(pass, err);
    }
    context_count = self->contexts.count;
    metric_count = self->metrics.count;
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

    if (!cn_sampled_batches_choose(&pass->batches, self->measurements, pass->ranks,
                                   pass->workers, err))
        return false;
    pass->sums.count = pass->batches.count;
    if (!cn_ranks_agree(pass->ranks,
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
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
        .rules = {&self->metrics, options->is_hpcprof_compatible},
        .sums = {.merge = cn_sampled_sum_merge, .release = cn_sampled_sum_free},
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
    pass.sums.arg = &pass.rules;
    cn_merges_init(&pass.sums);
    db->ranks = pass.ranks;
    db->has_exact_counts = true;
    ok = cn_spool_open_together(&self->spool, options->spool_folder, pass.ranks, err) &&
         cn_ranks_agree(pass.ranks, cn_spool_add_lanes(&self->spool, pass.workers, err),
                        err) &&
         run_pass(&pass, err) &&
         cn_ranks_agree(pass.ranks, cn_sampled_database_complete(self, err), err);
    /* If rank 0 did all the work, only it has contexts. */
    context_limit = db->context_limit;
    ok = ok && cn_ranks_combine(pass.ranks, CN_RANKS_MAX, &context_limit, 1, err);
    cn_merges_done(&pass.sums);
    cn_sampled_sum_free(pass.gpu_sum);
    cn_sampled_batches_done(&pass.batches);
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
