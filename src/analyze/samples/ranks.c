/* The driver of an analysis of measurements: several processes, or one, work together.
 *
 * Each rank analyses consecutive batches of profiles, lower ranks the earlier ones. Several
 * ranks first agree on contexts and metrics (scout.c). The statistics of batches go pairwise to
 * rank 0, which writes the summary; all ranks learn where the values of all threads are.
 */
#include <stdlib.h>

#include "analyze/samples/database.h"
#include "analyze/samples/pass.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/ranks.h"
#include "base/run/ranks.h"

static bool choose_batches(struct cn_sampled_pass *pass, struct cn_ranks *ranks,
                           struct cn_error *err)
{
    const struct cn_measurements *measurements = pass->self->measurements;
    struct cn_sampled_batches *batches = &pass->batches;
    uint64_t *lengths =
        cn_sampled_lengths(measurements, pass->workers, ranks->rank, ranks->size);
    bool ok =
        cn_ranks_combine(ranks, CN_RANKS_MAX, lengths, measurements->profile_count, err);

    if (ok) {
        uint64_t *weights =
            cn_sampled_batches_divide(batches, lengths, measurements->profile_count);

        cn_ranks_split(ranks, weights, batches->count, &batches->own_first,
                       &batches->own_end);
        free(weights);
    }
    free(lengths);
    return ok;
}

static void encode_contexts(void *arg, struct cn_text *message)
{
    const struct cn_sampled_scout *scout = arg;

    cn_sampled_log_encode(&scout->log, &scout->self->contexts, message);
}

static bool merge_contexts(void *arg, unsigned from, struct cn_bytes message,
                           struct cn_error *err)
{
    const struct cn_sampled_scout *scout = arg;

    return cn_sampled_log_replay(&scout->self->contexts, message, false, err) ||
           cn_fail_in(err, "contexts of rank %u", from);
}

static void forget_contexts(struct cn_sampled_database *self)
{
    cn_sampled_contexts_done(&self->contexts);
    cn_sampled_contexts_init(&self->contexts, self->measurements);
}

/* Rank 0 gets the contexts of all ranks, and all ranks copy them. */
static bool share_contexts(struct cn_sampled_scout *scout, struct cn_ranks *ranks,
                           struct cn_error *err)
{
    struct cn_sampled_database *self = scout->self;
    struct cn_text message = {0};
    bool ok = cn_ranks_reduce(ranks, encode_contexts, merge_contexts, scout, err);

    self->contexts.log = NULL;
    if (ok && cn_ranks_is_first(ranks))
        encode_contexts(scout, &message);
    ok = ok && cn_ranks_broadcast(ranks, &message, err);
    if (ok && !cn_ranks_is_first(ranks)) {
        forget_contexts(self);
        ok = cn_sampled_log_replay(&self->contexts, cn_wire_view(&message), true, err) ||
             cn_fail_in(err, "rank %u", ranks->rank);
    }
    cn_text_done(&message);
    return cn_ranks_agree(ranks, ok, err);
}

/* Agree on contexts and metrics. GPU work that was measured in ranges needs several profiles at
 * once: then rank 0 does all the work, `*is_for_one`. */
static bool scout(struct cn_sampled_pass *pass, struct cn_ranks *ranks, bool *is_for_one,
                  struct cn_error *err)
{
    struct cn_sampled_scout scout;
    bool ok;

    cn_sampled_scout_init(&scout, pass->self);
    ok = cn_ranks_agree(ranks, cn_sampled_pass_scout(pass, &scout, err), err) &&
         cn_ranks_combine(ranks, CN_RANKS_MAX, &scout.has_ranges, 1, err);
    *is_for_one = scout.has_ranges != 0;
    if (ok && *is_for_one)
        forget_contexts(pass->self);
    else if (ok)
        ok = share_contexts(&scout, ranks, err) &&
             cn_ranks_share(ranks, &scout.tables, cn_sampled_scout_add_metrics, &scout,
                            err);
    cn_sampled_scout_done(&scout);
    return ok;
}

/* After scouting, profiles must not bring contexts or metrics that are not known. */
static bool run_scouted(struct cn_sampled_pass *pass, struct cn_ranks *ranks,
                        struct cn_error *err)
{
    struct cn_sampled_database *self = pass->self;
    bool is_for_one;

    if (!scout(pass, ranks, &is_for_one, err))
        return false;
    if (is_for_one) {
        pass->batches.own_first = 0;
        pass->batches.own_end = pass->is_first ? pass->batches.count : 0;
        return cn_sampled_pass_run(pass, err);
    }
    size_t context_count = self->contexts.count;
    size_t metric_count = self->metrics.count;
    return cn_sampled_pass_run(pass, err) &&
           ((self->contexts.count == context_count &&
             self->metrics.count == metric_count) ||
            cn_fail(err, CN_ERR_FORMAT, "%s: changed while it was read",
                    self->measurements->path));
}

/* The threads of all ranks. */
struct ranks_shared {
    struct cn_sampled_pass *pass;
    struct cn_ranks *ranks;
    struct cn_sampled_threads threads;
    uint32_t identified; /* on rank 0: threads with identities */
};

static bool take_threads(void *arg, unsigned from, struct cn_bytes message,
                         struct cn_error *err)
{
    struct ranks_shared *shared = arg;
    struct cn_sampled_database *self = shared->pass->self;

    if (from == shared->ranks->rank)
        self->db.own_first = (uint32_t)shared->threads.count;
    bool ok = cn_sampled_threads_take(&shared->threads, self, message, err);
    if (from == shared->ranks->rank)
        self->db.own_end = (uint32_t)shared->threads.count;
    return ok;
}

static bool take_messages(void *arg, unsigned from, struct cn_bytes message,
                          struct cn_error *err)
{
    struct ranks_shared *shared = arg;

    (void)from;
    return cn_sampled_messages_take(shared->pass->self, shared->pass->options, message,
                                    &shared->identified, err);
}

/* All ranks learn about the threads of all; rank 0 also who they are, and what is damaged. */
static bool share_threads(struct cn_sampled_pass *pass, struct cn_ranks *ranks,
                          struct cn_error *err)
{
    struct ranks_shared shared = {
        .pass = pass, .ranks = ranks, .identified = pass->thread_count};
    struct cn_text own = {0};
    bool ok;

    cn_sampled_threads_encode(pass->self, pass->thread_count, &pass->totals, &own);
    ok = cn_ranks_share(ranks, &own, take_threads, &shared, err);
    if (ok) {
        pass->totals = shared.threads.totals;
        cn_sampled_threads_use(&shared.threads, pass->self,
                               pass->is_first ? pass->thread_count : 0);
        cn_text_clear(&own);
        cn_sampled_messages_encode(&pass->messages, &own);
        ok = cn_ranks_collect(ranks, &own, take_messages, &shared, err);
    }
    free(shared.threads.list);
    cn_text_done(&own);
    return ok;
}

static void encode_sums(void *arg, struct cn_text *message)
{
    const struct cn_sampled_pass *pass = arg;

    cn_sampled_sums_encode(&pass->sums, message);
}

static bool take_sums(void *arg, unsigned from, struct cn_bytes message,
                      struct cn_error *err)
{
    struct cn_sampled_pass *pass = arg;

    return cn_sampled_sums_take(&pass->sums, pass->self->contexts.count, message, err) ||
           cn_fail_in(err, "rank %u", from);
}

static bool add_summary(struct cn_sampled_pass *pass, struct cn_ranks *ranks,
                        struct cn_error *err)
{
    struct cn_text message = {0};
    bool ok = cn_ranks_reduce(ranks, encode_sums, take_sums, pass, err) &&
              cn_ranks_agree(
                  ranks, !pass->is_first || cn_sampled_pass_summarise(pass, err), err);

    if (!ok || ranks->size == 1)
        return ok;
    if (pass->is_first)
        cn_sampled_summary_encode(pass->self, &message);
    ok = cn_ranks_broadcast(ranks, &message, err) &&
         (pass->is_first ||
          cn_sampled_summary_decode(pass->self, cn_wire_view(&message), err));
    cn_text_done(&message);
    return cn_ranks_agree(ranks, ok, err);
}

/* The files of a shared spool are those of ranks. */
static bool complete(struct cn_sampled_database *self, struct cn_ranks *ranks,
                     struct cn_error *err)
{
    const struct cn_spool *spool = &self->spool;
    uint64_t *lens = cn_alloc(spool->count, sizeof(*lens)), context_limit;
    bool ok;

    if (ranks->size > 1)
        lens[ranks->rank] = cn_spool_file_len(spool, 0);
    for (unsigned i = 0; ranks->size == 1 && i < spool->count; i++)
        lens[i] = cn_spool_file_len(spool, i);
    ok = cn_ranks_combine(ranks, CN_RANKS_MAX, lens, spool->count, err) &&
         cn_ranks_agree(ranks, cn_sampled_database_complete(self, lens, err), err);
    free(lens);
    /* If rank 0 did all the work, only it has contexts. */
    context_limit = self->db.context_limit;
    ok = ok && cn_ranks_combine(ranks, CN_RANKS_MAX, &context_limit, 1, err);
    self->db.context_limit = (uint32_t)context_limit;
    return ok;
}

static bool analyse(struct cn_sampled_pass *pass, struct cn_ranks *ranks,
                    struct cn_error *err)
{
    const struct cn_measurements *measurements = pass->self->measurements;
    const struct cn_sampled_options *options = pass->options;

    if (!cn_ranks_spool_open(ranks, &pass->self->spool, options->spool_folder,
                             pass->workers, err) ||
        !choose_batches(pass, ranks, err) ||
        !cn_ranks_agree(ranks,
                        ranks->size == 1 ? cn_sampled_pass_run(pass, err)
                                         : run_scouted(pass, ranks, err),
                        err) ||
        !share_threads(pass, ranks, err))
        return false;
    if (pass->totals.profile_count == 0 && pass->totals.unreadable_count == 0 &&
        options->only_program_count > 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no profile is of a program named %s",
                       measurements->path, options->only_programs[0]);
    if (pass->totals.profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "%s: none of %zu profiles can be analysed",
                       measurements->path, measurements->profile_count);
    return add_summary(pass, ranks, err) && complete(pass->self, ranks, err);
}

bool cn_sampled_database_build(struct cn_database **out,
                               struct cn_measurements *measurements,
                               const struct cn_sampled_options *options,
                               struct cn_sampled_totals *totals, struct cn_error *err)
{
    struct cn_ranks *ranks = options->ranks ? options->ranks : &cn_ranks_alone;
    struct cn_sampled_pass pass;

    if (!cn_ranks_agree(ranks, measurements != NULL, err))
        return false;
    struct cn_sampled_database *self = cn_sampled_database_new(measurements);
    struct cn_database *db = &self->db;
    db->has_exact_counts = true;
    cn_sampled_pass_init(&pass, self, options);
    pass.is_first = cn_ranks_is_first(ranks);
    bool ok = analyse(&pass, ranks, err);
    if (ok && totals)
        *totals = pass.totals;
    cn_sampled_pass_done(&pass);
    if (!ok) {
        cn_sampled_database_free(self);
        return false;
    }
    if (!db->title)
        db->title = "<unnamed>";
    /* The text that hpcprof writes. */
    db->description = options->is_hpcprof_compatible ? "TODO database description" : "";
    cn_sampled_metrics_describe(&self->metrics, !options->without_roots, &db->arena,
                                &db->metrics, &db->taxonomy);
    *out = db;
    return true;
}
