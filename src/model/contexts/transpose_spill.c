#include "model/contexts/transpose_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/spool.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

enum {
    CHUNK_LEAST = 64 * 1024,  /* values of the chunks of all workers, and */
    CHUNK_MOST = 1024 * 1024, /* their memory, in values; in between */
    SLICE_LEAST = 256,        /* per range, so that tables of starts stay small */
    THREADS_MAX = UINT16_MAX + 1,
    FORGET_EVERY = 1024 * 1024, /* values until pages of mapped files are dropped */
};

struct spill_chunk {
    uint64_t off;     /* of its values in the spool */
    uint32_t *starts; /* per range: index of its first value; and the end */
    size_t first_thread;
};

/* Threads first..end-1, and the chunks with their values. */
struct spill_group {
    size_t first, end;
    struct spill_chunk *chunks;
    size_t chunk_count, chunk_capacity;
};

struct spill_worker {
    struct cn_value_cursor cursor;
    struct cn_spilled_value *values, *sorted;
    size_t count;
    uint32_t *starts; /* per range: number of values in the current chunk */
    uint64_t unforgotten_count;
};

struct cn_spill {
    struct cn_spill_request request;
    struct cn_spool spool;
    size_t chunk_len; /* values */
    struct spill_group *groups;
    size_t group_count, group_capacity;
    struct spill_worker *workers;
    struct cn_failures failures;
    struct spill_chunk *chunks; /* of all processes, once these are complete */
    size_t chunk_count, chunk_capacity;
};

static bool plan_groups(struct cn_spill *s, struct cn_error *err)
{
    const struct cn_spill_request *r = &s->request;
    size_t first = r->own_first, i, end = r->own_first + r->own_count;

    while (first < end) {
        uint64_t count = 0;

        for (i = first; i < end && i - first < THREADS_MAX; i++) {
            struct cn_profile profile;

            if (!cn_database_profile(r->db, r->threads[i], &profile, err))
                return false;
            if (i > first && count + profile.value_count > s->chunk_len)
                break;
            count += profile.value_count;
        }
        CN_PUSH(s->groups, s->group_count, s->group_capacity,
                (struct spill_group){.first = first, .end = i});
        first = i;
    }
    return true;
}

/* The range of the next value of a thread, whose contexts ascend. */
static size_t range_from(const struct cn_spill *s, size_t range, uint32_t context)
{
    while (s->request.ranges[range].last < context)
        range++;
    return range;
}

static bool write_chunk(struct cn_spill *s, struct spill_group *group, unsigned worker,
                        struct cn_error *err)
{
    struct spill_worker *self = &s->workers[worker];
    size_t len = self->count * sizeof(*self->sorted),
           range_count = s->request.range_count;
    struct spill_chunk *chunk;
    uint32_t start = 0;
    size_t range = 0;

    if (self->count == 0)
        return true;
    CN_GROW(group->chunks, group->chunk_count, group->chunk_capacity);
    chunk = &group->chunks[group->chunk_count++];
    *chunk = (struct spill_chunk){
        .off = cn_spool_reserve_in(&s->spool, worker, len),
        .starts = cn_alloc(range_count + 1, sizeof(*chunk->starts)),
        .first_thread = group->first,
    };
    for (size_t i = 0; i < range_count; i++) {
        uint32_t own = self->starts[i];

        chunk->starts[i] = start;
        self->starts[i] = start;
        start += own;
    }
    chunk->starts[range_count] = start;
    for (size_t i = 0; i < self->count; i++) {
        const struct cn_spilled_value *value = &self->values[i];

        if (i > 0 && value->thread != value[-1].thread)
            range = 0;
        range = range_from(s, range, value->context);
        self->sorted[self->starts[range]++] = *value;
    }
    for (size_t i = 0; i < range_count; i++)
        self->starts[i] = 0;
    self->count = 0;
    return cn_spool_write(&s->spool, chunk->off, self->sorted, len, err);
}

static bool add_batch(struct cn_spill *s, struct spill_group *group, size_t thread,
                      unsigned worker, struct cn_value_batch batch, size_t *range,
                      struct cn_error *err)
{
    struct spill_worker *self = &s->workers[worker];
    const struct cn_context_range *ranges = s->request.ranges;

    for (size_t i = 0; i < batch.count; i++) {
        const struct cn_value *value = &batch.values[i];

        if (cn_value_is_void(value, s->request.zero_ids))
            continue;
        if (value->key < ranges[*range].first ||
            value->key > ranges[s->request.range_count - 1].last)
            return cn_fail(err, CN_ERR_FORMAT, "values are not sorted: context %" PRIu32,
                           value->key);
        if (self->count == s->chunk_len && !write_chunk(s, group, worker, err))
            return false;
        *range = range_from(s, *range, value->key);
        self->starts[*range]++;
        self->values[self->count++] = (struct cn_spilled_value){
            value->value, value->key, value->metric, (uint16_t)(thread - group->first)};
    }
    self->unforgotten_count += batch.count;
    return true;
}

static bool add_thread(struct cn_spill *s, struct spill_group *group, size_t thread,
                       unsigned worker, struct cn_error *err)
{
    struct spill_worker *self = &s->workers[worker];
    struct cn_value_batch batch;
    enum cn_step step;
    size_t range = 0;

    if (!cn_profile_values(s->request.db, s->request.threads[thread], 0, UINT32_MAX,
                           &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        if (!add_batch(s, group, thread, worker, batch, &range, err))
            return false;
    if (self->unforgotten_count >= FORGET_EVERY) {
        cn_database_forget(s->request.db);
        self->unforgotten_count = 0;
    }
    return step == CN_END;
}

static void group_run(void *arg, size_t job, unsigned worker)
{
    struct cn_spill *s = arg;
    struct spill_group *group = &s->groups[job];
    struct cn_error *err = cn_failures_error(&s->failures, worker);
    bool ok = true;

    if (cn_failures_stopped(&s->failures, worker))
        return;
    for (size_t i = group->first; ok && i < group->end; i++) {
        ok = add_thread(s, group, i, worker, err);
        if (!ok)
            (void)cn_fail_in(err, "profile %" PRIu32, s->request.threads[i]);
    }
    if (!ok || !write_chunk(s, group, worker, err))
        cn_failures_note(&s->failures, worker, job);
}

static void group_take(void *arg, size_t job, unsigned worker)
{
    struct cn_spill *s = arg;

    if (cn_failures_share(&s->failures, worker) &&
        !cn_progress_report(s->request.progress, "sorting values",
                            s->groups[job].end - s->request.own_first,
                            s->request.own_count, "threads",
                            cn_failures_error(&s->failures, worker)))
        cn_failures_note(&s->failures, worker, job);
}

static bool run_groups(struct cn_spill *s, struct cn_error *err)
{
    struct cn_jobs jobs = {s->group_count, s, group_run, group_take, NULL};

    for (unsigned i = 0; i < s->request.workers; i++) {
        struct spill_worker *worker = &s->workers[i];

        worker->values = cn_realloc(NULL, s->chunk_len, sizeof(*worker->values));
        worker->sorted = cn_realloc(NULL, s->chunk_len, sizeof(*worker->sorted));
        worker->starts = cn_alloc(s->request.range_count, sizeof(*worker->starts));
    }
    cn_failures_init(&s->failures, s->request.workers);
    cn_pool_run(&jobs, s->request.workers);
    bool ok = cn_failures_result(&s->failures, err);
    cn_failures_done(&s->failures);
    return ok;
}

/* List the own chunks, and release the memory for building. */
static void list_chunks(struct cn_spill *s)
{
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->groups[i].chunk_count; k++) {
            CN_PUSH(s->chunks, s->chunk_count, s->chunk_capacity, s->groups[i].chunks[k]);
        }
    for (size_t i = 0; i < s->group_count; i++)
        free(s->groups[i].chunks);
    free(s->groups);
    s->groups = NULL;
    s->group_count = 0;
    for (unsigned i = 0; i < s->request.workers; i++) {
        free(s->workers[i].values);
        free(s->workers[i].sorted);
        free(s->workers[i].starts);
    }
    free(s->workers);
    s->workers = NULL;
    cn_alloc_trim();
}

static void forget_chunks(struct cn_spill *s)
{
    for (size_t i = 0; i < s->chunk_count; i++)
        free(s->chunks[i].starts);
    s->chunk_count = 0;
}

static bool take_chunk(struct cn_spill *s, struct cn_bytes *from, unsigned process,
                       struct cn_error *err)
{
    size_t start_count = s->request.range_count + 1;
    struct spill_chunk chunk = {0};
    uint64_t first_thread;
    bool ok = cn_wire_u64_take(from, &chunk.off) &&
              cn_wire_u64_take(from, &first_thread) &&
              chunk.off >> CN_SPOOL_FILE_SHIFT == process &&
              first_thread < s->request.thread_count;

    if (ok) {
        chunk.first_thread = (size_t)first_thread;
        chunk.starts = cn_alloc(start_count, sizeof(*chunk.starts));
    }
    for (size_t i = 0; ok && i < start_count; i++)
        ok = cn_wire_u32_take(from, &chunk.starts[i]) &&
             (i == 0 || chunk.starts[i] >= chunk.starts[i - 1]);
    if (!ok) {
        free(chunk.starts);
        return cn_fail(err, CN_ERR_FORMAT, "damaged message about values");
    }
    CN_PUSH(s->chunks, s->chunk_count, s->chunk_capacity, chunk);
    return true;
}

static bool take_chunks(void *arg, unsigned process, struct cn_bytes message,
                        struct cn_error *err)
{
    while (message.len > 0)
        if (!take_chunk(arg, &message, process, err))
            return false;
    return true;
}

/* Replace the own chunks by those of all processes, in their order. */
static bool share_chunks(struct cn_spill *s, bool ok, struct cn_error *err)
{
    const struct cn_transpose_rank *rank = s->request.rank;
    struct cn_text own = {0};

    if (!rank)
        return ok;
    for (size_t i = 0; i < s->chunk_count; i++) {
        cn_wire_u64(&own, s->chunks[i].off);
        cn_wire_u64(&own, s->chunks[i].first_thread);
        for (size_t k = 0; k <= s->request.range_count; k++)
            cn_wire_u32(&own, s->chunks[i].starts[k]);
    }
    forget_chunks(s);
    ok = rank->share(rank->arg, ok, &own, take_chunks, s, err);
    cn_text_done(&own);
    return ok;
}

static bool open_spool(struct cn_spill *s, struct cn_error *err)
{
    const struct cn_spill_request *request = &s->request;

    if (request->rank)
        return request->rank->open_spool(request->rank->arg, &s->spool, err);
    return cn_spool_open(&s->spool, request->folder, err) &&
           cn_spool_add_files(&s->spool, request->workers, err);
}

static size_t chunk_len(const struct cn_spill_request *request)
{
    size_t len = request->range_count * SLICE_LEAST;
    size_t least = CHUNK_LEAST / request->workers + 1;
    size_t most = CHUNK_MOST / request->workers + 1;

    return len < least ? least : len < most ? len : most;
}

bool cn_spill_build(struct cn_spill **out, const struct cn_spill_request *request,
                    struct cn_error *err)
{
    struct cn_spill *s = cn_alloc(1, sizeof(*s));

    s->request = *request;
    s->chunk_len = chunk_len(request);
    s->workers = cn_alloc(request->workers, sizeof(*s->workers));
    bool ok = open_spool(s, err) && plan_groups(s, err) && run_groups(s, err);
    list_chunks(s);
    if (!share_chunks(s, ok, err)) {
        cn_spill_free(s);
        return false;
    }
    *out = s;
    return true;
}

void cn_spill_free(struct cn_spill *spill)
{
    if (!spill)
        return;
    forget_chunks(spill);
    free(spill->chunks);
    cn_spool_close(&spill->spool);
    free(spill);
}

size_t cn_spill_chunk_count(const struct cn_spill *spill)
{
    return spill->chunk_count;
}

size_t cn_spill_count(const struct cn_spill *spill, size_t chunk, size_t range,
                      size_t *first_thread)
{
    const struct spill_chunk *at = &spill->chunks[chunk];

    *first_thread = at->first_thread;
    return at->starts[range + 1] - at->starts[range];
}

bool cn_spill_read(const struct cn_spill *spill, size_t chunk, size_t range,
                   struct cn_spilled_value *values, struct cn_error *err)
{
    const struct spill_chunk *at = &spill->chunks[chunk];
    size_t count = at->starts[range + 1] - at->starts[range];

    return cn_spool_read(&spill->spool, at->off + at->starts[range] * sizeof(*values),
                         values, count * sizeof(*values), err);
}
