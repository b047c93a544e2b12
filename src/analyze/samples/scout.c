#include "analyze/samples/scout.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/samples/log.h"
#include "analyze/samples/nodes.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

struct job {
    struct cn_sampled_slot slots[CN_SAMPLED_BATCH_MAX];
};

struct scout {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    struct cn_ranks *ranks;
    const struct cn_sampled_batches *batches;
    unsigned workers;
    struct job *jobs;
    struct cn_failures failures;
    struct cn_sampled_log log;         /* of the contexts */
    struct cn_sampled_metrics metrics; /* of the own profiles */
    struct cn_sampled_identities identities;
    uint64_t has_ranges;   /* a profile has GPU work in ranges */
    struct cn_text tables; /* numbers of profiles with new metrics */
};

static void read_run(void *arg, size_t number, unsigned worker)
{
    struct scout *s = arg;
    const size_t *starts = s->batches->starts + s->batches->own.first + number;

    if (cn_failures_stopped(&s->failures, worker))
        return;
    for (size_t i = starts[0]; i < starts[1]; i++)
        cn_sampled_slot_read(&s->jobs[worker].slots[i - starts[0]], s->self, s->options,
                             i);
}

/* Add the contexts and metrics of a profile like the analysis does. A profile that fails adds
 * the same contexts and metrics there. */
static void add_profile(struct scout *s, struct cn_sampled_slot *slot)
{
    const struct cn_sampled_profile *profile = &slot->profile;
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    size_t id_count, known = s->metrics.names.count;
    struct cn_error ignored;

    if (!cn_sampled_metrics_add(&s->metrics, profile, &ignored))
        return;
    if (s->metrics.names.count > known)
        cn_wire_u64(&s->tables, slot->index);
    if (!cn_sampled_nodes_check(&slot->nodes, s->self->measurements, slot->index, profile,
                                &ignored) ||
        !cn_sampled_identities_add(&s->identities, profile, ids, &id_count, &ignored))
        return;
    for (size_t i = slot->nodes.placed_count; i < profile->node_count; i++) {
        uint16_t module = profile->nodes[i].module;

        if (profile->nodes[i].kind == CN_NODE_POINT)
            cn_sampled_log_name(&s->log, slot->nodes.modules[module], slot->index,
                                profile->modules[module]);
    }
    (void)!cn_sampled_nodes_place(&slot->nodes, &s->self->contexts, profile, &ignored);
}

static void add_take(void *arg, size_t number, unsigned worker)
{
    struct scout *s = arg;
    const struct cn_ranks_part *own = &s->batches->own;
    const size_t *starts = s->batches->starts + own->first + number;
    size_t first = s->batches->starts[own->first];

    if (!cn_failures_share(&s->failures, worker))
        return;
    for (size_t i = 0; i < starts[1] - starts[0]; i++) {
        struct cn_sampled_slot *slot = &s->jobs[worker].slots[i];

        if (slot->has_ranges)
            s->has_ranges = 1;
        if (slot->is_wanted && s->has_ranges == 0)
            add_profile(s, slot);
    }
    if (!cn_progress_report(s->options->progress, "looking for contexts",
                            starts[1] - first, s->batches->starts[own->end] - first,
                            "profiles", cn_failures_error(&s->failures, worker)))
        cn_failures_note(&s->failures, worker, number);
}

static bool read_own(struct scout *s, struct cn_error *err)
{
    struct cn_jobs jobs = {s->batches->own.end - s->batches->own.first, s, read_run,
                           add_take, NULL};
    bool ok;

    s->jobs = cn_alloc(s->workers, sizeof(*s->jobs));
    cn_failures_init(&s->failures, s->workers);
    cn_pool_run(&jobs, s->workers);
    ok = cn_failures_result(&s->failures, err);
    cn_failures_done(&s->failures);
    for (unsigned i = 0; i < s->workers; i++)
        for (size_t k = 0; k < CN_SAMPLED_BATCH_MAX; k++)
            cn_sampled_slot_done(&s->jobs[i].slots[k], s->self->measurements);
    free(s->jobs);
    return ok;
}

static void encode_log(void *arg, struct cn_text *message)
{
    const struct scout *s = arg;

    cn_sampled_log_encode(&s->log, &s->self->contexts, message);
}

static bool merge_log(void *arg, unsigned from, struct cn_bytes message,
                      struct cn_error *err)
{
    struct scout *s = arg;

    return cn_sampled_log_replay(&s->self->contexts, message, false, err) ||
           cn_fail_in(err, "rank %u, for rank %u", s->ranks->rank, from);
}

/* Replace the contexts by those of rank 0. */
static bool copy_contexts(struct scout *s, struct cn_bytes message, struct cn_error *err)
{
    struct cn_sampled_contexts *contexts = &s->self->contexts;

    cn_sampled_contexts_done(contexts);
    cn_sampled_contexts_init(contexts, s->self->measurements);
    return cn_sampled_log_replay(contexts, message, true, err) ||
           cn_fail_in(err, "rank %u", s->ranks->rank);
}

static bool share_contexts(struct scout *s, struct cn_error *err)
{
    struct cn_ranks_sum sum = {s, encode_log, merge_log};
    struct cn_text message = {0};
    bool ok = cn_ranks_agree(s->ranks, cn_ranks_reduce(s->ranks, true, &sum, err), err);

    s->self->contexts.log = NULL;
    if (ok && cn_ranks_is_first(s->ranks))
        encode_log(s, &message);
    ok = ok && cn_ranks_broadcast(s->ranks, &message, err) &&
         (cn_ranks_is_first(s->ranks) || copy_contexts(s, cn_wire_view(&message), err));
    cn_text_done(&message);
    return cn_ranks_agree(s->ranks, ok, err);
}

/* Read the metrics of the profiles that brought new ones, in the order of profiles. */
static bool add_metrics(struct scout *s, struct cn_bytes numbers, struct cn_error *err)
{
    struct cn_measurements *measurements = s->self->measurements;
    struct cn_sampled_profile profile = {0};
    bool ok = true;

    while (ok && numbers.len > 0) {
        uint64_t index;

        ok =
            (cn_wire_u64_take(&numbers, &index) && index < measurements->profile_count) ||
            cn_fail(err, CN_ERR_FORMAT, "metrics of an unknown profile");
        ok = ok && cn_measurements_read(measurements, (size_t)index, &profile, err) &&
             cn_sampled_metrics_add(&s->self->metrics, &profile, err);
    }
    cn_sampled_profile_done(measurements, &profile);
    return ok;
}

static bool share_metrics(struct scout *s, struct cn_error *err)
{
    struct cn_text all = {0};
    struct cn_bytes left, numbers;
    bool ok = cn_ranks_share(s->ranks, &s->tables, &all, err);

    left = cn_wire_view(&all);
    while (ok && left.len > 0)
        ok = cn_wire_bytes_take(&left, &numbers)
                 ? add_metrics(s, numbers, err)
                 : cn_fail(err, CN_ERR_FORMAT, "damaged message about metrics");
    cn_text_done(&all);
    return cn_ranks_agree(s->ranks, ok, err);
}

bool cn_sampled_scout(struct cn_sampled_database *self,
                      const struct cn_sampled_options *options,
                      const struct cn_sampled_batches *batches, bool *is_for_one,
                      struct cn_error *err)
{
    struct scout s = {
        .self = self,
        .options = options,
        .ranks = options->ranks,
        .batches = batches,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
        .metrics = {.wanted = self->metrics.wanted,
                    .is_hpcprof_compatible = self->metrics.is_hpcprof_compatible},
    };
    bool ok;

    self->contexts.log = &s.log;
    ok = cn_ranks_agree(s.ranks, read_own(&s, err), err) &&
         cn_ranks_combine(s.ranks, CN_RANKS_MAX, &s.has_ranges, 1, err);
    *is_for_one = s.has_ranges != 0;
    if (ok && *is_for_one) {
        cn_sampled_contexts_done(&self->contexts);
        cn_sampled_contexts_init(&self->contexts, self->measurements);
    } else if (ok) {
        ok = share_contexts(&s, err) && share_metrics(&s, err);
    }
    self->contexts.log = NULL;
    cn_sampled_log_done(&s.log);
    cn_sampled_metrics_done(&s.metrics);
    cn_sampled_identities_done(&s.identities);
    cn_text_done(&s.tables);
    return ok;
}
