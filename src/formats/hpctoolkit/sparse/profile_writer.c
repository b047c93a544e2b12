/* profile.db: header, profile records, identity tuples, then a block a profile:
 * values, and behind them where each context's values start. The summary's block is
 * the last.
 *
 * A block is written in two readings of its plane: the first counts, so that its
 * place in the file is known, the second encodes through a small buffer. So a worker
 * needs the same memory for a plane of any size. Only a plane that a change of
 * metric ids puts out of order is held whole, to be sorted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/failures.h"
#include "base/pool.h"
#include "base/progress.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "model/database.h"

enum {
    VALUE_LEN = cn_hpc_sparse_profile_value_size,
    INDEX_LEN = cn_hpc_sparse_profile_index_size,
    VALUES_LEN = 128 * 1024 / VALUE_LEN * VALUE_LEN,
    INDEXES_LEN = 64 * 1024 / INDEX_LEN * INDEX_LEN,
    /* After this many values, pages of mapped files that were read are given
     * back. */
    FORGET_EVERY = 4 * 1024 * 1024,
};

/* An array in the file that is filled piece by piece. */
struct stretch {
    uint8_t *buffer;
    size_t len, capacity;
    uint64_t next_off, end_off;
};

/* What the first reading of a plane finds. */
struct plane {
    uint64_t value_count;
    uint32_t context_count;
    bool is_sorted;
    struct cn_value last;
};

struct worker {
    struct cn_value_cursor cursor;
    struct cn_value kept[CN_VALUE_BATCH]; /* of the batch, with the ids of the file */
    struct plane plane;
    struct cn_value *sorted; /* the plane, when it did not come sorted */
    size_t sorted_count, sorted_capacity;
    struct stretch values, index;
    uint64_t written_count; /* values of the second reading */
    uint32_t last_key;
    uint64_t *dropped[2]; /* by id: of threads, of the summary */
};

struct profile_writer {
    const struct cn_hpc_sparse_writing *w;
    uint32_t context_count;
    struct cn_out out;
    struct cn_hpc_sparse_profile *records;
    bool *is_left_out; /* profiles whose values cannot be kept */
    uint64_t unforgotten_count;
    struct worker *workers;
    struct cn_failures failures;
};

/* The summary comes last. */
static uint32_t profile_of(const struct profile_writer *p, size_t job)
{
    return (uint32_t)((job + 1) % p->w->db->profile_count);
}

typedef bool (*batch_fn)(struct profile_writer *p, struct worker *self,
                         const struct cn_value *values, size_t count,
                         struct cn_error *err);

/* Values that are not zero, with the ids they have in the file. */
static size_t keep(const struct profile_writer *p, struct worker *self, bool is_summary,
                   struct cn_value_batch batch, bool is_counting)
{
    const struct cn_hpc_sparse_ids *ids = is_summary ? &p->w->summaries : &p->w->threads;
    size_t count = 0;

    for (size_t i = 0; i < batch.count; i++) {
        struct cn_value value = batch.values[i];

        if (value.value == 0)
            continue;
        if (cn_hpc_sparse_ids_find(ids, batch.values[i].metric, &value.metric))
            self->kept[count++] = value;
        else if (is_counting)
            self->dropped[is_summary][batch.values[i].metric]++;
    }
    return count;
}

/* Read a plane and hand it on, at most a batch at a time. */
static bool read_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                       bool is_counting, batch_fn visit, struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (p->is_left_out[profile])
        return true;
    if (!cn_profile_values(p->w->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        while (batch.count > 0) {
            struct cn_value_batch part = batch;

            if (part.count > CN_VALUE_BATCH)
                part.count = CN_VALUE_BATCH;
            if (!visit(p, self, self->kept,
                       keep(p, self, profile == 0, part, is_counting), err))
                return false;
            batch.values += part.count;
            batch.count -= part.count;
        }
    return step == CN_END;
}

static bool scan(struct profile_writer *p, struct worker *self,
                 const struct cn_value *values, size_t count, struct cn_error *err)
{
    struct plane *plane = &self->plane;

    for (size_t i = 0; i < count; i++) {
        const struct cn_value *value = &values[i];

        if (value->key >= p->context_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "value for context %" PRIu32 ", but ids end at %" PRIu32,
                           value->key, p->context_count);
        if (value->metric > CN_HPC_SPARSE_METRIC_ID_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "metric id %u, readers know ids up to %d",
                           value->metric, CN_HPC_SPARSE_METRIC_ID_MAX);
        if (plane->value_count == 0 || value->key != plane->last.key) {
            plane->is_sorted = plane->is_sorted &&
                               (plane->value_count == 0 || value->key > plane->last.key);
            plane->context_count++;
        } else {
            plane->is_sorted = plane->is_sorted && value->metric > plane->last.metric;
        }
        plane->value_count++;
        plane->last = *value;
    }
    return true;
}

static bool load(struct profile_writer *p, struct worker *self,
                 const struct cn_value *values, size_t count, struct cn_error *err)
{
    (void)p, (void)err;
    for (size_t i = 0; i < count; i++) {
        self->sorted = cn_grow(self->sorted, self->sorted_count, &self->sorted_capacity,
                               sizeof(*self->sorted));
        self->sorted[self->sorted_count++] = values[i];
    }
    return true;
}

static int compare_values(const void *left, const void *right)
{
    const struct cn_value *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->metric > b->metric) - (a->metric < b->metric);
}

static bool sort_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                       struct cn_error *err)
{
    if (!read_plane(p, profile, self, false, load, err))
        return false;
    if (self->sorted_count > 1)
        qsort(self->sorted, self->sorted_count, sizeof(*self->sorted), compare_values);
    self->plane = (struct plane){.is_sorted = true};
    if (!scan(p, self, self->sorted, self->sorted_count, err))
        return false;
    for (size_t i = 1; !self->plane.is_sorted && i < self->sorted_count; i++)
        if (compare_values(&self->sorted[i - 1], &self->sorted[i]) == 0)
            return cn_fail(err, CN_ERR_FORMAT,
                           "context %" PRIu32 " has two values for metric %u",
                           self->sorted[i].key, self->sorted[i].metric);
    return true;
}

static void scan_run(void *arg, size_t job, unsigned worker)
{
    struct profile_writer *p = arg;
    struct worker *self = &p->workers[worker];
    struct cn_error *err = cn_failures_error(&p->failures, worker);
    uint32_t profile = profile_of(p, job);

    if (cn_failures_stopped(&p->failures, worker))
        return;
    free(self->sorted);
    self->sorted = NULL;
    self->sorted_count = self->sorted_capacity = 0;
    self->plane = (struct plane){.is_sorted = true};
    if (read_plane(p, profile, self, true, scan, err) &&
        (self->plane.is_sorted || sort_plane(p, profile, self, err)))
        return;
    (void)cn_fail_in(err, "profile %" PRIu32, profile);
    cn_failures_note(&p->failures, worker, job);
}

/* The place of the block: in a fixed order, whoever is ready first. */
static void place_take(void *arg, size_t job, unsigned worker)
{
    struct profile_writer *p = arg;
    struct worker *self = &p->workers[worker];
    struct cn_hpc_sparse_profile *record = &p->records[profile_of(p, job)];
    uint64_t values_len = self->plane.value_count * VALUE_LEN;
    uint64_t index_len = ((uint64_t)self->plane.context_count + 1) * INDEX_LEN;
    struct cn_error *err = cn_failures_error(&p->failures, worker);
    uint64_t off;

    if (!cn_failures_share(&p->failures, worker))
        return;
    if (!cn_out_reserve(&p->out, values_len + index_len, &off, err) ||
        !cn_progress_report(p->w->options->progress, "writing profile.db", job + 1,
                            p->w->db->profile_count, "profiles", err)) {
        cn_failures_note(&p->failures, worker, job);
        return;
    }
    p->unforgotten_count += self->plane.value_count;
    if (p->unforgotten_count >= FORGET_EVERY) {
        cn_database_forget(p->w->db);
        p->unforgotten_count = 0;
    }
    record->value_count = self->plane.value_count;
    record->context_count = self->plane.context_count;
    record->block_off = off;
    self->values.next_off = off;
    self->values.end_off = off + values_len;
    self->index.next_off = self->values.end_off;
    self->index.end_off = self->values.end_off + index_len;
}

static bool flush(const struct cn_out *out, struct stretch *stretch, struct cn_error *err)
{
    size_t len = stretch->len;

    /* The input may have changed since it was counted: never write beyond our
     * place. */
    if (len > stretch->end_off - stretch->next_off)
        return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
    if (!cn_out_write_at(out, stretch->next_off, stretch->buffer, len, err))
        return false;
    stretch->next_off += len;
    stretch->len = 0;
    return true;
}

static bool add_index(const struct cn_out *out, struct worker *self, uint32_t context,
                      struct cn_error *err)
{
    struct cn_hpc_sparse_profile_index index = {context, self->written_count};

    if (self->index.len == self->index.capacity && !flush(out, &self->index, err))
        return false;
    cn_hpc_sparse_profile_index_encode(&index, self->index.buffer + self->index.len);
    self->index.len += INDEX_LEN;
    self->last_key = context;
    return true;
}

static bool encode(struct profile_writer *p, struct worker *self,
                   const struct cn_value *values, size_t count, struct cn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_sparse_profile_value record = {values[i].value, values[i].metric};

        if ((self->written_count == 0 || values[i].key != self->last_key) &&
            !add_index(&p->out, self, values[i].key, err))
            return false;
        if (self->values.len == self->values.capacity &&
            !flush(&p->out, &self->values, err))
            return false;
        cn_hpc_sparse_profile_value_encode(&record,
                                           self->values.buffer + self->values.len);
        self->values.len += VALUE_LEN;
        self->written_count++;
    }
    return true;
}

static bool encode_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                         struct cn_error *err)
{
    self->values.len = self->index.len = 0;
    self->written_count = 0;
    if (!(self->sorted ? encode(p, self, self->sorted, self->sorted_count, err)
                       : read_plane(p, profile, self, false, encode, err)) ||
        !add_index(&p->out, self, CN_HPC_SPARSE_PROFILE_END, err) ||
        !flush(&p->out, &self->values, err) || !flush(&p->out, &self->index, err))
        return false;
    if (self->written_count != self->plane.value_count ||
        self->index.next_off != self->index.end_off)
        return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
    return true;
}

static void write_finish(void *arg, size_t job, unsigned worker)
{
    struct profile_writer *p = arg;
    struct cn_error *err = cn_failures_error(&p->failures, worker);
    uint32_t profile = profile_of(p, job);

    if (cn_failures_stopped(&p->failures, worker))
        return;
    if (!encode_plane(p, profile, &p->workers[worker], err)) {
        (void)cn_fail_in(err, "profile %" PRIu32, profile);
        cn_failures_note(&p->failures, worker, job);
    }
}

static void workers_init(struct profile_writer *p)
{
    p->workers = cn_alloc(p->w->workers, sizeof(*p->workers));
    for (unsigned i = 0; i < p->w->workers; i++) {
        struct worker *self = &p->workers[i];

        self->values =
            (struct stretch){.buffer = cn_alloc(VALUES_LEN, 1), .capacity = VALUES_LEN};
        self->index =
            (struct stretch){.buffer = cn_alloc(INDEXES_LEN, 1), .capacity = INDEXES_LEN};
        for (size_t k = 0; k < 2; k++)
            self->dropped[k] = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(uint64_t));
    }
}

/* Also adds up what each worker has dropped. */
static void workers_done(struct profile_writer *p)
{
    uint64_t *totals[2] = {p->w->dropped_threads, p->w->dropped_summaries};

    for (unsigned i = 0; i < p->w->workers; i++) {
        struct worker *self = &p->workers[i];

        for (size_t k = 0; k < 2; k++) {
            for (size_t id = 0; totals[k] && id < CN_HPC_SPARSE_ID_COUNT; id++)
                totals[k][id] += self->dropped[k][id];
            free(self->dropped[k]);
        }
        free(self->sorted);
        free(self->values.buffer);
        free(self->index.buffer);
    }
    free(p->workers);
}

static bool write_blocks(struct profile_writer *p, struct cn_error *err)
{
    struct cn_jobs jobs = {p->w->db->profile_count, p, scan_run, place_take,
                           write_finish};
    bool ok;

    workers_init(p);
    cn_failures_init(&p->failures, p->w->workers);
    cn_pool_run(&jobs, p->w->workers);
    ok = cn_failures_result(&p->failures, err);
    cn_failures_done(&p->failures);
    workers_done(p);
    return ok;
}

static bool write_tuple(struct cn_out *out, const struct cn_identity_tuple *identity,
                        struct cn_error *err)
{
    struct cn_hpc_sparse_tuple tuple = {(uint16_t)identity->count};
    uint8_t head[cn_hpc_sparse_tuple_size];

    cn_hpc_sparse_tuple_encode(&tuple, head);
    if (!cn_out_write(out, head, sizeof(head), err))
        return false;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];
        struct cn_hpc_sparse_identity record = {
            .kind =
                (uint16_t)(id->kind | (id->is_physical ? 0 : CN_HPC_SPARSE_LOGICAL_ONLY)),
            .physical = id->physical,
            .logical = id->logical,
        };
        uint8_t bytes[cn_hpc_sparse_identity_size];

        cn_hpc_sparse_identity_encode(&record, bytes);
        if (!cn_out_write(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_tuples(struct profile_writer *p, struct cn_error *err)
{
    static const struct cn_identity_tuple summary = {
        .count = 1,
        .ids = {{.kind = CN_HPC_SPARSE_KIND_SUMMARY, .is_physical = true}},
    };
    uint64_t lost_count = 0;

    for (uint32_t i = 0; i < p->w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(p->w->db, i, &profile, err))
            return false;
        /* The format knows one summary; another would look like a thread. */
        p->is_left_out[i] = i > 0 && profile.is_summary;
        lost_count += p->is_left_out[i];
        p->records[i].tuple_off = p->out.end_off;
        if (!write_tuple(&p->out, i == 0 ? &summary : &profile.identity, err))
            return false;
    }
    cn_hpc_sparse_lose(p->w, "summary profiles besides the first: values dropped",
                       lost_count);
    return true;
}

static bool write_records(struct profile_writer *p, struct cn_error *err)
{
    size_t count = p->w->db->profile_count;
    uint8_t *bytes = cn_alloc(count, cn_hpc_sparse_profile_size);
    bool ok;

    for (size_t i = 0; i < count; i++)
        cn_hpc_sparse_profile_encode(&p->records[i],
                                     bytes + i * cn_hpc_sparse_profile_size);
    ok = cn_out_write_at(&p->out, CN_HPC_SPARSE_HEADER_LEN, bytes,
                         count * cn_hpc_sparse_profile_size, err);
    free(bytes);
    return ok;
}

static bool write_file(struct profile_writer *p, struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_profile_kind;
    uint8_t header[cn_hpc_sparse_profile_header_size];
    struct cn_hpc_sparse_profile_header tuples = {0};

    if (!cn_hpc_sparse_file_begin(&p->out, p->w, kind, p->w->db->profile_count, err))
        return false;
    tuples.tuples_off = p->out.end_off;
    if (!write_tuples(p, err))
        return false;
    tuples.tuples_len = p->out.end_off - tuples.tuples_off;
    if (!cn_out_pad(&p->out, CN_HPC_SPARSE_ALIGN, err) || !write_blocks(p, err) ||
        !write_records(p, err))
        return false;
    cn_hpc_sparse_profile_header_encode(&tuples, header);
    cn_hpc_sparse_header_fill(kind, CN_HPC_SPARSE_MAJOR, p->w->db->profile_count, header);
    return cn_hpc_sparse_file_end(&p->out, kind, header, err);
}

bool cn_hpc_sparse_profiles_write(const struct cn_hpc_sparse_writing *w,
                                  uint32_t context_count, struct cn_error *err)
{
    struct profile_writer p = {.w = w, .context_count = context_count};
    bool ok;

    p.records = cn_alloc(w->db->profile_count, sizeof(*p.records));
    p.is_left_out = cn_alloc(w->db->profile_count, sizeof(*p.is_left_out));
    ok = write_file(&p, err) || cn_fail_in(err, "profile.db");
    cn_out_abandon(&p.out);
    free(p.records);
    free(p.is_left_out);
    return ok;
}
