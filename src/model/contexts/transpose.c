/* Two passes over the planes of profiles: the first counts the values of each context, the
 * second gathers the values of a range of contexts, at positions computed from the counts.
 *
 *   counts of contexts -> ranges -> per range: start of each context -> values gathered
 *                                -> per context: sorted by metric -> sink
 *
 * A database that knows its cells needs no first pass (transpose_place.c).
 */
#include "model/contexts/transpose.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "model/contexts/transpose_internal.h"

enum {
    /* Context ids that are always accepted; with more, at most this many ids per context
     * with values. */
    CONTEXT_FREE_LIMIT = 1 << 26,
    CONTEXT_SPREAD_MAX = 64,
    /* After this many values, pages of mapped files are dropped. A slice counts at least
     * SLICE_LEAST: it also reads pages around its values and its index. */
    FORGET_EVERY = 1024 * 1024,
    SLICE_LEAST = 8 * 1024,
    /* With fewer values than this per range and profile on average, it is faster to sort
     * all values by range first. */
    SPILL_BELOW = 48,
    /* Ranges are made small enough that each worker of each process has this many, but not
     * smaller than this many bytes. */
    RANGES_PER_WORKER = 4,
    RANGE_LEN_MIN = 256 * 1024,
    RANGES_MEMORY_LEN = 128 * 1024 * 1024, /* of all workers; */
    PLACED_MEMORY_LEN = 64 * 1024 * 1024,  /* where no values are gathered */
    RANGE_WORKERS_MIN = 2,
};

static bool list_threads(struct cn_transposition *t, struct cn_error *err)
{
    uint64_t context_count = 0;

    t->threads = cn_alloc(t->db->profile_count, sizeof(*t->threads));
    for (uint32_t i = 0; i < t->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(t->db, i, &profile, err))
            return false;
        context_count += profile.context_count;
        if (profile.is_summary)
            continue;
        t->own_first += i < t->db->own_first;
        t->own_count += i >= t->db->own_first && i < cn_database_own_end(t->db);
        t->threads[t->thread_count++] = i;
    }
    if (t->db->context_limit > CONTEXT_FREE_LIMIT &&
        t->db->context_limit / CONTEXT_SPREAD_MAX > context_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "context ids up to %" PRIu32 ", but only %" PRIu64
                       " contexts with values",
                       t->db->context_limit, context_count);
    return true;
}

void cn_transpose_forget(const struct cn_transposition *t,
                         struct cn_transpose_worker *self, uint64_t value_count)
{
    self->unforgotten_count += value_count > SLICE_LEAST ? value_count : SLICE_LEAST;
    if (self->unforgotten_count < FORGET_EVERY)
        return;
    cn_database_forget(t->db);
    self->unforgotten_count = 0;
}

/* What this process does; without others, it is everything. */
static struct cn_transpose_rank rank_of(const struct cn_transposition *t)
{
    return t->options->rank
               ? *t->options->rank
               : (struct cn_transpose_rank){.count = 1, .workers = t->options->workers};
}

static void add_range(struct cn_transposition *t, struct cn_context_range range)
{
    struct cn_transpose_rank rank = rank_of(t);

    CN_GROW(t->ranges, t->range_count, t->range_capacity);
    if (t->range_count % rank.count == rank.number)
        t->value_count += range.value_count;
    t->ranges[t->range_count++] = range;
}

/* Bytes per value of a range that are gathered, or a little for what is read at a time. */
static size_t gathered_len(const struct cn_transposition *t)
{
    return t->cells ? 1 : sizeof(struct cn_value);
}

/* The bytes of memory for a range. */
static size_t range_len_max(const struct cn_transposition *t)
{
    struct cn_transpose_rank rank = rank_of(t);
    uint64_t workers = (uint64_t)rank.count * rank.workers;
    size_t memory_len =
        t->options->memory_len ? t->options->memory_len : CN_TRANSPOSE_MEMORY_LEN;
    /* Indices in a range have 32 bits. */
    size_t most = UINT32_MAX / 2 * sizeof(struct cn_value);
    size_t len = memory_len / rank.workers;
    uint64_t value_count = 0;

    for (size_t i = 0; workers > 1 && i < t->db->context_limit; i++)
        value_count += t->counts[i];
    if (value_count > 0) {
        uint64_t even =
            value_count * sizeof(struct cn_value) / (workers * RANGES_PER_WORKER);

        len = even >= len ? len : even > RANGE_LEN_MIN ? (size_t)even : RANGE_LEN_MIN;
    }
    return len < most ? len : most;
}

static void plan_ranges(struct cn_transposition *t)
{
    size_t value_len = gathered_len(t) + t->options->value_len;
    size_t context_len = sizeof(uint32_t) + t->options->context_len;
    struct cn_context_range range = {0};
    size_t len = 0, budget_len = range_len_max(t);

    for (uint32_t i = 0; i < t->db->context_limit; i++) {
        size_t own_len = context_len + t->counts[i] * value_len;

        if (i > range.first && len + own_len > budget_len) {
            add_range(t, range);
            range = (struct cn_context_range){.first = i};
            len = 0;
        }
        range.last = i;
        range.value_count += t->counts[i];
        len += own_len;
    }
    if (t->db->context_limit > 0)
        add_range(t, range);
}

/* Gather values of one profile, after those of the profiles before it. */
static bool gather_batch(const struct cn_transposition *t,
                         const struct cn_context_range *range, uint32_t profile,
                         struct cn_value_batch batch, struct cn_transpose_worker *self,
                         struct cn_error *err)
{
    for (size_t i = 0; i < batch.count; i++) {
        const struct cn_value *value = &batch.values[i];

        if (cn_value_is_void(value, &t->zero_ids))
            continue;
        if (value->key < range->first || value->key > range->last)
            return cn_fail(err, CN_ERR_FORMAT,
                           "values are not sorted: context %" PRIu32
                           " among those from %" PRIu32 " to %" PRIu32,
                           value->key, range->first, range->last);
        uint32_t at = self->next[value->key - range->first]++;
        if (at >= range->value_count)
            return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
        self->values[at] = (struct cn_value){value->value, profile, value->metric};
    }
    return true;
}

static bool read_slice(struct cn_transposition *t, const struct cn_context_range *range,
                       uint32_t profile, unsigned worker, struct cn_error *err)
{
    struct cn_transpose_worker *self = &t->workers[worker];
    struct cn_value_batch batch;
    uint64_t read_count = 0;
    enum cn_step step;

    if (!cn_profile_values(t->db, profile, range->first, range->last, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM) {
        read_count += batch.count;
        if (!(t->cells ? cn_transpose_place_slice(t, range, worker, profile, batch, err)
                       : gather_batch(t, range, profile, batch, self, err)))
            return false;
    }
    cn_transpose_forget(t, self, read_count);
    return step == CN_END;
}

static bool gather_spilled(const struct cn_transposition *t,
                           const struct cn_context_range *range, size_t count,
                           size_t first_thread, struct cn_transpose_worker *self,
                           struct cn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct cn_spilled_value *value = &self->spilled[i];

        if (value->context < range->first || value->context > range->last ||
            first_thread + value->thread >= t->thread_count)
            return cn_fail(err, CN_ERR_FORMAT, "damaged values of another process");
        uint32_t at = self->next[value->context - range->first]++;
        if (at >= range->value_count)
            return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
        self->values[at] = (struct cn_value){
            value->value, t->threads[first_thread + value->thread], value->metric};
    }
    return true;
}

static bool read_spilled(const struct cn_transposition *t,
                         const struct cn_context_range *range, size_t chunk,
                         unsigned worker, struct cn_error *err)
{
    struct cn_transpose_worker *self = &t->workers[worker];
    size_t number = (size_t)(range - t->ranges), first_thread;
    size_t count = cn_spill_count(t->spill, chunk, number, &first_thread);

    CN_GROW_TO(self->spilled, count, self->spilled_capacity);
    return cn_spill_read(t->spill, chunk, number, self->spilled, err) &&
           (t->cells
                ? cn_transpose_place_spilled(t, range, worker, count, first_thread, err)
                : gather_spilled(t, range, count, first_thread, self, err));
}

/* Read the values of a range, in the order of profiles. */
static bool read_range(struct cn_transposition *t, const struct cn_context_range *range,
                       unsigned worker, struct cn_error *err)
{
    if (t->spill) {
        for (size_t i = 0; i < cn_spill_chunk_count(t->spill); i++)
            if (!read_spilled(t, range, i, worker, err))
                return false;
        return true;
    }
    for (size_t i = 0; i < t->thread_count; i++)
        if (!read_slice(t, range, t->threads[i], worker, err))
            return cn_fail_in(err, "profile %" PRIu32, t->threads[i]);
    return true;
}

static bool gather_values(struct cn_transposition *t,
                          const struct cn_context_range *range, unsigned worker,
                          struct cn_error *err)
{
    struct cn_transpose_worker *self = &t->workers[worker];
    size_t context_count = (size_t)range->last - range->first + 1;
    uint32_t start = 0;

    CN_RENEW(self->values, (size_t)range->value_count, self->value_capacity);
    CN_RENEW(self->next, context_count, self->next_capacity);
    for (uint32_t i = range->first; i <= range->last; i++) {
        self->next[i - range->first] = start;
        start += t->counts[i];
    }
    return read_range(t, range, worker, err);
}

/* Put the values of a range where they belong. */
static bool place_values(struct cn_transposition *t, const struct cn_context_range *range,
                         unsigned worker, struct cn_error *err)
{
    cn_transpose_place_begin(t, range, &t->workers[worker]);
    return (!t->sink->begin || t->sink->begin(t->sink->arg, worker, range, err)) &&
           read_range(t, range, worker, err) &&
           cn_transpose_place_end(t, range, worker, err);
}

static bool deliver(struct cn_transposition *t, const struct cn_context_range *range,
                    unsigned worker, struct cn_error *err)
{
    struct cn_transpose_worker *self = &t->workers[worker];
    size_t start = 0;

    for (uint32_t i = range->first; i <= range->last; i++) {
        size_t count = t->counts[i];

        if (self->next[i - range->first] != start + count)
            return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
        if (count > 0 &&
            (!cn_metric_sort_run(&self->sort, i, self->values + start, count, err) ||
             !t->sink->context(t->sink->arg, worker, i,
                               (struct cn_value_batch){self->sort.sorted, count}, err)))
            return false;
        start += count;
    }
    return true;
}

/* The range of a job of this process. */
static const struct cn_context_range *range_of(const struct cn_transposition *t,
                                               size_t job)
{
    struct cn_transpose_rank rank = rank_of(t);

    return &t->ranges[job * rank.count + rank.number];
}

static void range_run(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;
    const struct cn_context_range *range = range_of(t, job);
    struct cn_error *err = cn_failures_error(&t->failures, worker);

    if (t->cells || cn_failures_stopped(&t->failures, worker))
        return;
    if ((t->sink->begin && !t->sink->begin(t->sink->arg, worker, range, err)) ||
        !gather_values(t, range, worker, err) || !deliver(t, range, worker, err))
        cn_failures_note(&t->failures, worker, job);
}

static bool report_range(struct cn_transposition *t, const struct cn_context_range *range,
                         struct cn_error *err)
{
    t->done_count += range->value_count;
    return cn_progress_report(t->options->progress, t->options->what, t->done_count,
                              t->value_count, "values", err);
}

/* Ranges whose values are put need no order. */
static void put_take(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;

    if (cn_failures_share(&t->failures, worker) &&
        !report_range(t, range_of(t, job), cn_failures_error(&t->failures, worker)))
        cn_failures_note(&t->failures, worker, job);
}

/* A failure of another process stops this one, without another message. */
static void range_take(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;
    const struct cn_context_range *range = range_of(t, job);
    struct cn_error *err = cn_failures_error(&t->failures, worker);
    const struct cn_transpose_rank *rank = t->options->rank;
    bool ok = cn_failures_share(&t->failures, worker) && report_range(t, range, err);
    uint64_t off;

    if (ok && t->sink->take)
        ok = t->sink->take(t->sink->arg, worker, range, err);
    else if (rank)
        ok = rank->reserve(rank->arg, range->last + 1 == t->db->context_limit, ok, 0,
                           &off, err);
    if (!ok && !cn_failures_stopped(&t->failures, worker))
        cn_failures_note(&t->failures, worker, job);
}

static void range_finish(void *arg, size_t job, unsigned worker)
{
    struct cn_transposition *t = arg;
    const struct cn_context_range *range = range_of(t, job);
    struct cn_error *err = cn_failures_error(&t->failures, worker);

    if (cn_failures_stopped(&t->failures, worker))
        return;
    if ((t->cells && !place_values(t, range, worker, err)) ||
        (t->sink->finish && !t->sink->finish(t->sink->arg, worker, range, err)))
        cn_failures_note(&t->failures, worker, job);
}

static bool spill_values(struct cn_transposition *t, struct cn_error *err)
{
    struct cn_spill_request request = {
        .db = t->db,
        .rank = t->options->rank,
        .threads = t->threads,
        .thread_count = t->thread_count,
        .own_first = t->own_first,
        .own_count = t->own_count,
        .ranges = t->ranges,
        .range_count = t->range_count,
        .workers = t->options->workers,
        .folder = t->options->folder,
        .zero_ids = &t->zero_ids,
        .progress = t->options->progress,
    };

    uint64_t value_count = 0;

    for (size_t i = 0; i < t->range_count; i++)
        value_count += t->ranges[i].value_count;
    if (!t->options->folder || t->range_count < 2 ||
        value_count / t->range_count / SPILL_BELOW >= t->thread_count)
        return true;
    return cn_spill_build(&t->spill, &request, err);
}

/* A range of one context with values of very many threads can need more than its share. */
static unsigned range_workers(const struct cn_transposition *t)
{
    size_t value_len = 2 * gathered_len(t) + t->options->value_len;
    uint64_t largest = 1, count;

    for (size_t i = 0; i < t->range_count; i++)
        if (t->ranges[i].value_count > largest)
            largest = t->ranges[i].value_count;
    count = (t->cells ? PLACED_MEMORY_LEN : RANGES_MEMORY_LEN) / (largest * value_len);
    if (count < RANGE_WORKERS_MIN)
        count = RANGE_WORKERS_MIN;
    return count < t->options->workers ? (unsigned)count : t->options->workers;
}

static bool run_ranges(struct cn_transposition *t, struct cn_error *err)
{
    struct cn_transpose_rank rank = rank_of(t);
    size_t own_count = (t->range_count + rank.count - 1 - rank.number) / rank.count;
    struct cn_jobs jobs = {own_count, t, range_run, t->cells ? put_take : range_take,
                           range_finish};

    for (unsigned i = 0; i < t->options->workers; i++)
        cn_metric_sort_init(&t->workers[i].sort);
    cn_failures_init(&t->failures, t->options->workers);
    cn_pool_run(&jobs, range_workers(t));
    bool ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    return ok;
}

static void release(struct cn_transposition *t)
{
    for (unsigned i = 0; i < t->options->workers; i++) {
        struct cn_transpose_worker *worker = &t->workers[i];

        free(worker->counts);
        free(worker->values);
        free(worker->next);
        free(worker->spilled);
        free(worker->spans);
        cn_metric_sort_done(&worker->sort);
    }
    free(t->workers);
    cn_spill_free(t->spill);
    free(t->threads);
    free(t->counts);
    free(t->cell_starts);
    free(t->ranges);
}

bool cn_transpose_run(struct cn_database *db, const struct cn_transpose_options *options,
                      const struct cn_transpose_sink *sink, struct cn_error *err)
{
    struct cn_transposition t = {.db = db, .options = options, .sink = sink};
    bool ok;

    assert(options->workers > 0);
    cn_zero_ids_init(&t.zero_ids, &db->metrics, false);
    t.workers = cn_alloc(options->workers, sizeof(*t.workers));
    if (sink->layout)
        t.cells = cn_database_cells(db);
    ok = list_threads(&t, err) &&
         (t.cells ? cn_transpose_lay_out(&t, err) : cn_transpose_count(&t, err));
    if (ok) {
        plan_ranges(&t);
        ok = spill_values(&t, err) && run_ranges(&t, err);
    }
    release(&t);
    return ok;
}
