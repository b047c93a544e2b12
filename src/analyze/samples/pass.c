/* The pass over all profiles, in batches: workers read them and find the contexts that are
 * known. In the order of profiles, one worker at a time adds the new contexts, metrics and
 * identities. Then workers propagate values and write the results; statistics over threads
 * are merged in a tree.
 */
#include "analyze/samples/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/samples/internal.h"
#include "analyze/samples/values.h"
#include "base/alloc.h"
#include "base/path.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

/* Values and samples in memory that are written together. */
enum { WRITE_LEN = 256 << 10 };

/* A profile of the batch. */
struct pass_slot {
    struct cn_sampled_slot read;
    uint32_t *metrics; /* of the profile -> of all profiles */
    size_t metric_capacity;
    struct cn_sampled_thread *thread; /* NULL: not part of the database */
};

/* The batch of a worker, which reuses it. */
struct cn_sampled_job {
    unsigned worker;
    struct pass_slot slots[CN_SAMPLED_BATCH_MAX];
    size_t context_count; /* when its contexts were added */
    struct cn_sampled_values values;
    struct cn_value_list value_list; /* of several threads */
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
    struct cn_sampled_thread *first; /* of the threads that are not written yet */
    uint64_t begin_ns, end_ns;       /* of all samples of this worker */
    bool has_span;
};

/* The first profile of a batch of this process, and the end of the batch. */
static const size_t *batch_at(const struct cn_sampled_pass *pass, size_t number)
{
    return pass->batches.starts + pass->batches.own_first + number;
}

static void read_run(void *arg, size_t number, unsigned worker)
{
    struct cn_sampled_pass *pass = arg;
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

static void add_value(struct cn_sampled_values *values, const struct pass_slot *slot,
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
static void place_samples(struct cn_sampled_job *job, struct pass_slot *slot)
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

static void add_thread(struct cn_sampled_pass *pass, struct pass_slot *slot,
                       const struct cn_identity *ids, size_t id_count)
{
    struct cn_sampled_database *self = pass->self;
    const struct cn_sampled_profile *profile = &slot->read.profile;

    slot->thread = &self->threads[pass->thread_count++];
    CN_GROW_TO(slot->metrics, profile->metric_count, slot->metric_capacity);
    for (size_t i = 0; i < profile->metric_count; i++)
        slot->metrics[i] = self->metrics.map[i];
    cn_sampled_thread_identify(self, slot->thread, ids, id_count);
    if (!pass->is_first)
        cn_sampled_messages_add_identity(&pass->messages, profile);
    pass->totals.profile_count++;
    self->db.has_timelines = self->db.has_timelines || profile->sample_count > 0;
}

/* All checks come before anything is added. */
static bool add_profile(struct cn_sampled_pass *pass, struct pass_slot *slot,
                        struct cn_error *err)
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
static bool report_damage(struct cn_sampled_pass *pass, const char *text,
                          struct cn_error *err)
{
    if (pass->options->is_strict)
        return err->kind != CN_ERR_NONE ? false : cn_fail(err, CN_ERR_FORMAT, "%s", text);
    if (!pass->is_first)
        cn_sampled_messages_add_damage(&pass->messages, text);
    else if (pass->options->on_damage)
        pass->options->on_damage(pass->options->on_damage_arg, text);
    *err = (struct cn_error){0};
    return true;
}

static bool take_one(struct cn_sampled_pass *pass, struct pass_slot *slot)
{
    struct cn_sampled_slot *read = &slot->read;
    const char *path =
        cn_measurements_profile_path(pass->self->measurements, read->index);
    const char *beside = read->profile.damage_file;
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
    (void)cn_fail(&text, CN_ERR_FORMAT, "%.*s%s: %s", (int)(cn_path_name(path) - path),
                  path, beside ? beside : cn_path_name(path), read->profile.damage);
    return report_damage(pass, text.text, &read->err);
}

static void add_take(void *arg, size_t number, unsigned worker)
{
    struct cn_sampled_pass *pass = arg;
    struct cn_sampled_job *job = &pass->jobs[worker];
    const size_t *batch = batch_at(pass, number);
    size_t first = pass->batches.starts[pass->batches.own_first];
    size_t end = pass->batches.starts[pass->batches.own_end];
    struct cn_error *err = cn_failures_error(&pass->failures, worker);
    bool ok = true;

    if (!cn_failures_share(&pass->failures, worker))
        return;
    for (size_t i = 0; ok && i < batch[1] - batch[0]; i++) {
        if (pass->scout)
            cn_sampled_scout_add(pass->scout, &job->slots[i].read);
        else
            ok = take_one(pass, &job->slots[i]);
        if (!ok)
            *err = job->slots[i].read.err;
    }
    job->context_count = pass->self->contexts.count;
    if (!ok ||
        !cn_progress_report(pass->options->progress,
                            pass->scout ? "looking for contexts" : "reading profiles",
                            batch[1] - first, end - first, "profiles", err))
        cn_failures_note(&pass->failures, worker, number);
}

/* Write the values and samples in memory, of the threads up to `end`. */
static bool write_threads(struct cn_sampled_job *job, struct cn_spool *spool,
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
static bool finish_thread(struct cn_sampled_job *job, struct cn_sampled_database *self,
                          struct pass_slot *slot, struct cn_error *err)
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
    struct cn_sampled_pass *pass = arg;
    struct cn_sampled_job *job = &pass->jobs[worker];
    const size_t *batch = batch_at(pass, number);
    struct cn_error *err = cn_failures_error(&pass->failures, worker);
    const struct cn_sampled_thread *end = NULL;
    bool ok = true;

    if (pass->scout || cn_failures_stopped(&pass->failures, worker))
        return;
    for (size_t i = 0; ok && i < batch[1] - batch[0]; i++) {
        struct pass_slot *slot = &job->slots[i];

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
    cn_merges_put(&pass->sums, (struct cn_merge){0, pass->batches.own_first + number,
                                                 cn_sampled_values_sum_up(&job->values)});
}

static struct cn_sampled_values new_values(const struct cn_sampled_pass *pass)
{
    return (struct cn_sampled_values){
        .contexts = &pass->self->contexts,
        .metrics = &pass->self->metrics,
        .is_hpcprof_compatible = pass->options->is_hpcprof_compatible,
    };
}

static void end_jobs(struct cn_sampled_pass *pass)
{
    struct cn_database *db = &pass->self->db;
    bool has_span = false;

    for (unsigned i = 0; i < pass->workers; i++) {
        struct cn_sampled_job *job = &pass->jobs[i];

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

static bool write_list(struct cn_sampled_pass *pass, struct cn_sampled_thread *thread,
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
static bool add_gpu_contexts(struct cn_sampled_pass *pass, struct cn_error *err)
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

bool cn_sampled_pass_summarise(struct cn_sampled_pass *pass, struct cn_error *err)
{
    struct cn_sampled_sum *sum = cn_merges_take(&pass->sums);
    struct cn_value_list list = {0};

    if (!sum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the summary of a batch of profiles is missing");
    if (pass->gpu_sum)
        sum = cn_sampled_sum_merge(&pass->rules, sum, pass->gpu_sum);
    pass->gpu_sum = NULL;
    cn_sampled_sum_list(sum, &pass->rules, &list);
    bool ok = cn_sampled_cells_list(&pass->self->cells, sum, &pass->rules, err) &&
              write_list(pass, &pass->self->threads[0], &list, err);
    cn_sampled_sum_free(sum);
    free(list.values);
    return ok;
}

static bool run_batches(struct cn_sampled_pass *pass, struct cn_error *err)
{
    size_t count = pass->batches.own_end - pass->batches.own_first;
    struct cn_jobs jobs = {count, pass, read_run, add_take, write_finish};

    pass->jobs = cn_alloc(pass->workers, sizeof(*pass->jobs));
    for (unsigned i = 0; i < pass->workers; i++)
        pass->jobs[i] = (struct cn_sampled_job){.worker = i, .values = new_values(pass)};
    cn_failures_init(&pass->failures, pass->workers);
    cn_pool_run(&jobs, pass->workers);
    bool ok = cn_failures_result(&pass->failures, err);
    cn_failures_done(&pass->failures);
    end_jobs(pass);
    return ok;
}

bool cn_sampled_pass_scout(struct cn_sampled_pass *pass, struct cn_sampled_scout *scout,
                           struct cn_error *err)
{
    pass->scout = scout;
    bool ok = run_batches(pass, err);
    pass->scout = NULL;
    return ok;
}

bool cn_sampled_pass_run(struct cn_sampled_pass *pass, struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    const struct cn_sampled_batches *batches = &pass->batches;
    size_t profile_count =
        batches->starts[batches->own_end] - batches->starts[batches->own_first];

    pass->sums.count = batches->count;
    self->threads = cn_alloc(profile_count + 1, sizeof(*self->threads));
    pass->thread_count = 1;
    bool ok = run_batches(pass, err);
    for (uint32_t i = 1; i < pass->thread_count; i++) {
        pass->totals.value_count += self->threads[i].value_count;
        pass->totals.sample_count += self->threads[i].sample_count;
    }
    return ok && add_gpu_contexts(pass, err);
}

void cn_sampled_pass_init(struct cn_sampled_pass *pass, struct cn_sampled_database *self,
                          const struct cn_sampled_options *options)
{
    *pass = (struct cn_sampled_pass){
        .self = self,
        .options = options,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
        .rules = {&self->metrics, options->is_hpcprof_compatible},
        .sums = {.merge = cn_sampled_sum_merge, .release = cn_sampled_sum_free},
    };
    self->metrics.wanted = 1u << CN_SAMPLED_SUM;
    if (options->statistics & CN_SAMPLED_NORMAL)
        self->metrics.wanted |= 1u << CN_SAMPLED_COUNT | 1u << CN_SAMPLED_SQUARES;
    if (options->statistics & CN_SAMPLED_EXTREMA)
        self->metrics.wanted |= 1u << CN_SAMPLED_MIN | 1u << CN_SAMPLED_MAX;
    self->metrics.is_hpcprof_compatible = options->is_hpcprof_compatible;
    pass->ranges.identities = &self->identities;
    pass->sums.arg = &pass->rules;
    cn_merges_init(&pass->sums);
}

void cn_sampled_pass_done(struct cn_sampled_pass *pass)
{
    cn_merges_done(&pass->sums);
    cn_sampled_sum_free(pass->gpu_sum);
    cn_sampled_batches_done(&pass->batches);
    cn_sampled_messages_done(&pass->messages);
    cn_sampled_ranges_done(&pass->ranges);
}
