#include "formats/hpctoolkit/values/profile_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/files/out.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "model/format.h"

enum {
    VALUES_LEN = 3 * 1024 * 1024,
    INDEX_LEN = 2 * 1024 * 1024,
    /* After this many values, pages of mapped files are given back. */
    FORGET_EVERY = 1024 * 1024,
    /* Blocks up to this length are written many at once: a job is one large block or some
     * small ones. */
    SMALL_LEN = 64 * 1024,
    JOB_LEN = 512 * 1024,
    JOB_PROFILES = 64,
};

/* What the first pass over a plane finds. */
struct block_plane {
    uint64_t value_count;
    uint32_t context_count;
    uint32_t largest_key;
    uint16_t metric_bits; /* of all ids together */
    bool is_sorted;
    struct cn_value last;
};

/* A profile of a job. */
struct planned {
    struct block_plane plane;
    size_t len;      /* of its bytes in the buffer of the job */
    bool is_encoded; /* and in that buffer */
};

struct profile_worker {
    unsigned number;
    struct cn_value_cursor cursor;
    struct cn_value translated[CN_VALUE_BATCH];
    struct block_plane plane;
    struct cn_value *sorted; /* the plane, if it was not sorted */
    size_t sorted_count, sorted_capacity;
    struct cn_hpc_plane_bytes bytes;
    bool is_whole; /* the buffers contain the whole plane */
    struct planned planned[JOB_PROFILES];
    uint8_t *joined; /* the encoded blocks of the job */
    size_t joined_len;
};

struct block_writer {
    const struct cn_hpc_value_job *job;
    const struct cn_hpc_profile_encoding *encoding;
    struct cn_out *out;
    struct cn_hpc_profile_block *blocks;
    uint32_t own_first, own_end; /* profiles that this process writes */
    uint32_t *starts;            /* of jobs, in the order of blocks; and the end */
    size_t job_count;
    uint64_t touched_count; /* values read since pages were given back */
    struct profile_worker *workers;
    struct cn_failures failures;
    struct cn_zero_ids zero_ids[2]; /* of threads, of the summary */
};

/* The profile whose block is at index `at` of the blocks of this process. */
static uint32_t profile_of(const struct block_writer *p, uint32_t at)
{
    uint32_t count = p->own_end - p->own_first;

    return p->own_first + (at + p->encoding->is_summary_last) % count;
}

/* Divide the blocks into jobs by the lengths that the database declares. */
static bool plan_jobs(struct block_writer *p, struct cn_error *err)
{
    uint32_t count = p->own_end - p->own_first;
    uint64_t len = 0;

    p->starts = cn_alloc((size_t)count + 1, sizeof(*p->starts));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = p->job_count ? p->starts[p->job_count - 1] : 0;
        struct cn_profile profile;
        uint64_t own_len;

        if (!cn_database_profile(p->job->db, profile_of(p, i), &profile, err))
            return false;
        own_len = profile.value_count < JOB_LEN ? profile.value_count : JOB_LEN;
        own_len *= p->encoding->value_len;
        if (i == 0 || i - first == JOB_PROFILES || len + own_len > JOB_LEN / 2) {
            p->starts[p->job_count++] = i;
            len = 0;
        }
        len += own_len;
    }
    p->starts[p->job_count] = count;
    return true;
}

typedef bool (*visit_fn)(struct block_writer *p, struct profile_worker *self,
                         const struct cn_value *values, size_t count,
                         struct cn_error *err);

/* Read a plane and pass its values to `visit`. */
static bool read_plane(struct block_writer *p, uint32_t profile,
                       struct profile_worker *self, bool is_first, visit_fn visit,
                       struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    if (p->job->is_left_out && p->job->is_left_out[profile])
        return true;
    if (!cn_profile_values(p->job->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        while (batch.count > 0) {
            struct cn_value_batch part = batch, found = batch;

            if (p->encoding->translate) {
                if (part.count > CN_VALUE_BATCH)
                    part.count = CN_VALUE_BATCH;
                found.values = self->translated;
                found.count =
                    p->encoding->translate(p->job->arg, self->number, profile == 0, part,
                                           is_first, self->translated);
            }
            if (!visit(p, self, found.values, found.count, err))
                return false;
            batch.values += part.count;
            batch.count -= part.count;
        }
    return step == CN_END;
}

static void scan(struct block_plane *plane, const struct cn_zero_ids *zero_ids,
                 const struct cn_value *values, size_t count)
{
    struct block_plane p = *plane;

    for (size_t i = 0; i < count; i++) {
        struct cn_value value = values[i];

        if (cn_value_is_void(&value, zero_ids))
            continue;
        if (p.value_count == 0 || value.key != p.last.key) {
            p.is_sorted = p.is_sorted && (p.value_count == 0 || value.key > p.last.key);
            p.context_count++;
        } else {
            p.is_sorted = p.is_sorted && value.metric > p.last.metric;
        }
        if (value.key > p.largest_key)
            p.largest_key = value.key;
        p.metric_bits |= value.metric;
        p.value_count++;
        p.last = value;
    }
    *plane = p;
}

static void begin_encoding(struct profile_worker *self)
{
    self->bytes.values.len = 0;
    self->bytes.index.len = 0;
    self->bytes.value_count = 0;
}

static void end_encoding(const struct block_writer *p, struct profile_worker *self)
{
    struct cn_hpc_buffered *index = &self->bytes.index;

    if (!p->encoding->put_end)
        return;
    p->encoding->put_end(self->bytes.value_count, index->buffer + index->len);
    index->len += p->encoding->index_len;
}

static bool scan_batch(struct block_writer *p, struct profile_worker *self,
                       const struct cn_value *values, size_t count, struct cn_error *err)
{
    (void)err;
    scan(&self->plane, self->bytes.zero_ids, values, count);
    if (self->is_whole && self->plane.is_sorted)
        self->is_whole = p->encoding->encode(&self->bytes, values, count) == count;
    return true;
}

static bool scan_plane(struct block_writer *p, uint32_t profile,
                       struct profile_worker *self, struct cn_error *err)
{
    self->plane = (struct block_plane){.is_sorted = true};
    self->bytes.zero_ids = &p->zero_ids[profile == 0];
    self->is_whole = true;
    begin_encoding(self);
    if (!read_plane(p, profile, self, true, scan_batch, err))
        return false;
    end_encoding(p, self);
    if (self->plane.value_count > 0 && self->plane.largest_key >= p->job->context_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value for context %" PRIu32 ", but ids end at %" PRIu32,
                       self->plane.largest_key, p->job->context_count);
    if (self->plane.metric_bits > p->encoding->metric_max)
        return cn_fail(err, CN_ERR_LIMIT,
                       "a metric id above %u, which readers do not accept",
                       p->encoding->metric_max);
    return true;
}

static int compare_values(const void *left, const void *right)
{
    const struct cn_value *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->metric > b->metric) - (a->metric < b->metric);
}

static bool load_batch(struct block_writer *p, struct profile_worker *self,
                       const struct cn_value *values, size_t count, struct cn_error *err)
{
    (void)p, (void)err;
    for (size_t i = 0; i < count; i++) {
        if (cn_value_is_void(&values[i], self->bytes.zero_ids))
            continue;
        CN_PUSH(self->sorted, self->sorted_count, self->sorted_capacity, values[i]);
    }
    return true;
}

static bool sort_plane(struct block_writer *p, uint32_t profile,
                       struct profile_worker *self, struct cn_error *err)
{
    if (!read_plane(p, profile, self, false, load_batch, err))
        return false;
    if (self->sorted_count > 1)
        qsort(self->sorted, self->sorted_count, sizeof(*self->sorted), compare_values);
    self->plane = (struct block_plane){.is_sorted = true};
    scan(&self->plane, self->bytes.zero_ids, self->sorted, self->sorted_count);
    for (size_t i = 1; !self->plane.is_sorted && i < self->sorted_count; i++)
        if (compare_values(&self->sorted[i - 1], &self->sorted[i]) == 0)
            return cn_fail(err, CN_ERR_FORMAT,
                           "context %" PRIu32 " has two values for metric %u",
                           self->sorted[i].key, self->sorted[i].metric);
    return true;
}

static bool is_encoded(const struct profile_worker *self)
{
    return self->is_whole && self->plane.is_sorted && !self->sorted;
}

/* Scan a plane; if it fits the buffers, it is encoded afterwards. */
static bool scan_profile(struct block_writer *p, uint32_t profile,
                         struct profile_worker *self, struct cn_error *err)
{
    free(self->sorted);
    self->sorted = NULL;
    self->sorted_count = self->sorted_capacity = 0;
    return (scan_plane(p, profile, self, err) &&
            (self->plane.is_sorted || sort_plane(p, profile, self, err))) ||
           cn_fail_in(err, "profile %" PRIu32, profile);
}

static uint64_t values_len(const struct block_writer *p, uint64_t value_count)
{
    return cn_align_up(value_count * p->encoding->value_len, p->encoding->align);
}

/* Copy the block of a small plane to those of the job. */
static void join_block(const struct block_writer *p, struct profile_worker *self,
                       struct planned *planned)
{
    const struct cn_hpc_buffered *values = &self->bytes.values,
                                 *index = &self->bytes.index;
    uint8_t *to = self->joined + self->joined_len;
    size_t padded_len = (size_t)values_len(p, self->plane.value_count);

    planned->len = padded_len + index->len;
    planned->is_encoded = is_encoded(self) && planned->len <= SMALL_LEN &&
                          planned->len <= JOB_LEN - self->joined_len;
    if (!planned->is_encoded)
        return;
    memcpy(to, values->buffer, values->len);
    memset(to + values->len, 0, padded_len - values->len);
    memcpy(to + padded_len, index->buffer, index->len);
    self->joined_len += planned->len;
}

static void scan_run(void *arg, size_t job, unsigned worker)
{
    struct block_writer *p = arg;
    struct profile_worker *self = &p->workers[worker];
    struct cn_error *err = cn_failures_error(&p->failures, worker);

    if (cn_failures_stopped(&p->failures, worker))
        return;
    self->joined_len = 0;
    for (uint32_t i = p->starts[job]; i < p->starts[job + 1]; i++) {
        struct planned *planned = &self->planned[i - p->starts[job]];

        if (!scan_profile(p, profile_of(p, i), self, err)) {
            cn_failures_note(&p->failures, worker, job);
            return;
        }
        planned->plane = self->plane;
        join_block(p, self, planned);
    }
}

/* Set the offsets of a block that starts at `off`; returns its length. */
static uint64_t fill_in_block(struct block_writer *p, uint32_t profile,
                              uint64_t value_count, uint32_t context_count, uint64_t off)
{
    const struct cn_hpc_profile_encoding *e = p->encoding;
    uint64_t padded_len = values_len(p, value_count);
    uint64_t entry_count = (uint64_t)context_count + (e->put_end != NULL);

    p->blocks[profile] = (struct cn_hpc_profile_block){
        .value_count = value_count,
        .context_count = context_count,
        .values_off = off,
        .index_off = off + padded_len,
    };
    return padded_len + entry_count * e->index_len;
}

/* Leave room for the blocks of other ranks. */
static bool skip_blocks(struct block_writer *p, uint32_t first, uint32_t end,
                        struct cn_error *err)
{
    for (uint32_t i = first; i < end; i++) {
        struct cn_profile profile;
        uint64_t off;

        if (!cn_database_profile(p->job->db, i, &profile, err) ||
            !cn_out_reserve(p->out,
                            fill_in_block(p, i, profile.value_count,
                                          profile.context_count, p->out->end_off),
                            &off, err))
            return false;
    }
    return true;
}

/* Allocate the file, where the lengths of all blocks are known. */
static bool expect_blocks(struct block_writer *p, struct cn_error *err)
{
    const struct cn_hpc_value_job *job = p->job;
    uint64_t end_off = p->out->end_off;

    if (p->own_first > 0 || !job->db->has_exact_counts || p->encoding->translate)
        return true;
    for (uint32_t i = 0; i < job->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(job->db, i, &profile, err))
            return false;
        end_off +=
            fill_in_block(p, i, profile.value_count, profile.context_count, end_off);
    }
    cn_out_expect(p->out, end_off);
    return true;
}

/* Other processes have left room for the counts of the database. */
static bool check_counts(struct block_writer *p, uint32_t profile,
                         const struct block_plane *plane, struct cn_error *err)
{
    struct cn_profile declared;

    if (!p->job->db->has_exact_counts || p->encoding->translate)
        return true;
    if (!cn_database_profile(p->job->db, profile, &declared, err))
        return false;
    return (declared.value_count == plane->value_count &&
            declared.context_count == plane->context_count) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "profile %" PRIu32 ": changed while it was being read", profile);
}

/* Reserve room for the blocks of a job. */
static bool reserve_blocks(struct block_writer *p, size_t job,
                           const struct profile_worker *self, struct cn_error *err)
{
    for (uint32_t i = p->starts[job]; i < p->starts[job + 1]; i++) {
        const struct block_plane *plane = &self->planned[i - p->starts[job]].plane;
        uint32_t profile = profile_of(p, i);
        uint64_t off, len = fill_in_block(p, profile, plane->value_count,
                                          plane->context_count, p->out->end_off);

        if (!check_counts(p, profile, plane, err) ||
            !cn_out_reserve(p->out, len, &off, err))
            return false;
        p->touched_count += plane->value_count;
    }
    return true;
}

static void scan_take(void *arg, size_t job, unsigned worker)
{
    struct block_writer *p = arg;
    struct cn_error *err = cn_failures_error(&p->failures, worker);

    if (!cn_failures_share(&p->failures, worker))
        return;
    if (!reserve_blocks(p, job, &p->workers[worker], err) ||
        !cn_progress_report(p->job->options->progress, "writing profile.db",
                            p->starts[job + 1], p->own_end - p->own_first, "profiles",
                            err)) {
        cn_failures_note(&p->failures, worker, job);
        return;
    }
    if (p->touched_count >= FORGET_EVERY) {
        cn_database_forget(p->job->db);
        p->touched_count = 0;
    }
}

static bool flush(const struct cn_out *out, struct cn_hpc_buffered *b,
                  struct cn_error *err)
{
    /* The input may have changed since it was counted: do not write beyond the end. */
    if (b->len > b->end_off - b->next_off)
        return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
    if (!cn_out_write_at(out, b->next_off, b->buffer, b->len, err))
        return false;
    b->next_off += b->len;
    b->len = 0;
    return true;
}

static bool encode_batch(struct block_writer *p, struct profile_worker *self,
                         const struct cn_value *values, size_t count,
                         struct cn_error *err)
{
    size_t done = 0;

    while (done < count) {
        if (!cn_hpc_plane_has_room(&self->bytes) &&
            (!flush(p->out, &self->bytes.values, err) ||
             !flush(p->out, &self->bytes.index, err)))
            return false;
        done += p->encoding->encode(&self->bytes, values + done, count - done);
    }
    return true;
}

/* Encode a plane that does not fit the buffers, flushing them. */
static bool encode_plane(struct block_writer *p, uint32_t profile,
                         struct profile_worker *self, struct cn_error *err)
{
    begin_encoding(self);
    if (!(self->sorted ? encode_batch(p, self, self->sorted, self->sorted_count, err)
                       : read_plane(p, profile, self, false, encode_batch, err)))
        return false;
    end_encoding(p, self);
    return true;
}

/* Write a block that is not among the encoded ones. Unless it is the only block of its job,
 * other planes have used the buffers since: it is scanned again. */
static bool write_block(struct block_writer *p, uint32_t profile, bool is_only,
                        const struct block_plane *plane, struct profile_worker *self,
                        struct cn_error *err)
{
    const struct cn_hpc_profile_block *block = &p->blocks[profile];
    struct cn_hpc_plane_bytes *bytes = &self->bytes;
    uint64_t entry_count =
        (uint64_t)plane->context_count + (p->encoding->put_end != NULL);

    if (!is_only && !scan_profile(p, profile, self, err))
        return false;
    bytes->values.next_off = block->values_off;
    bytes->values.end_off = block->index_off;
    bytes->index.next_off = block->index_off;
    bytes->index.end_off = block->index_off + entry_count * p->encoding->index_len;
    if (!(is_encoded(self) || encode_plane(p, profile, self, err)) ||
        !flush(p->out, &bytes->values, err) || !flush(p->out, &bytes->index, err))
        return false;
    return (bytes->value_count == plane->value_count &&
            bytes->index.next_off == bytes->index.end_off) ||
           cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
}

/* Write the blocks of a job: those that follow each other in the buffer at once. */
static bool write_job(struct block_writer *p, size_t job, struct profile_worker *self,
                      struct cn_error *err)
{
    uint32_t first = p->starts[job], end = p->starts[job + 1];
    size_t at = 0;

    for (uint32_t i = first; i < end; i++) {
        const struct planned *planned = &self->planned[i - first];
        uint32_t profile = profile_of(p, i);
        size_t len = 0;

        if (!planned->is_encoded) {
            if (!write_block(p, profile, end - first == 1, &planned->plane, self, err))
                return cn_fail_in(err, "profile %" PRIu32, profile);
            continue;
        }
        for (; i < end && self->planned[i - first].is_encoded; i++)
            len += self->planned[i - first].len;
        i--;
        if (!cn_out_write_at(p->out, p->blocks[profile].values_off, self->joined + at,
                             len, err))
            return false;
        at += len;
    }
    return true;
}

static void write_finish(void *arg, size_t job, unsigned worker)
{
    struct block_writer *p = arg;

    if (!cn_failures_stopped(&p->failures, worker) &&
        !write_job(p, job, &p->workers[worker], cn_failures_error(&p->failures, worker)))
        cn_failures_note(&p->failures, worker, job);
}

static struct cn_hpc_buffered buffered_new(size_t len, size_t element_len)
{
    size_t capacity = len / element_len * element_len;

    return (struct cn_hpc_buffered){
        .buffer = cn_alloc(capacity + element_len, 1),
        .capacity = capacity,
    };
}

static bool write_blocks(struct block_writer *p, struct cn_error *err)
{
    struct cn_jobs jobs = {p->job_count, p, scan_run, scan_take, write_finish};
    unsigned count = p->job->workers;

    p->workers = cn_alloc(count, sizeof(*p->workers));
    for (unsigned i = 0; i < count; i++) {
        struct profile_worker *self = &p->workers[i];

        self->number = i;
        self->bytes.values = buffered_new(VALUES_LEN, p->encoding->value_len);
        self->bytes.index = buffered_new(INDEX_LEN, p->encoding->index_len);
        self->joined = cn_alloc(JOB_LEN, 1);
    }
    cn_failures_init(&p->failures, count);
    cn_pool_run(&jobs, count);
    bool ok = cn_failures_result(&p->failures, err);
    cn_failures_done(&p->failures);
    for (unsigned i = 0; i < count; i++) {
        free(p->workers[i].sorted);
        free(p->workers[i].bytes.values.buffer);
        free(p->workers[i].bytes.index.buffer);
        free(p->workers[i].joined);
    }
    free(p->workers);
    return ok;
}

bool cn_hpc_profile_blocks_write(const struct cn_hpc_value_job *job,
                                 const struct cn_hpc_profile_encoding *encoding,
                                 struct cn_out *out, struct cn_hpc_profile_block *blocks,
                                 struct cn_error *err)
{
    struct block_writer p = {
        .job = job,
        .encoding = encoding,
        .out = out,
        .blocks = blocks,
        .own_first = job->db->own_first,
        .own_end = cn_database_own_end(job->db),
    };
    uint64_t off;

    for (int i = 0; i < 2; i++) {
        cn_zero_ids_init(&p.zero_ids[i], &job->db->metrics, i == 1);
        if (encoding->translate) /* with other ids; it has dropped void values */
            memset(&p.zero_ids[i], 0xff, sizeof(p.zero_ids[i]));
    }
    bool ok = expect_blocks(&p, err) && skip_blocks(&p, 0, p.own_first, err) &&
              plan_jobs(&p, err) && write_blocks(&p, err) &&
              cn_out_reserve(out, 0, &off, err) &&
              skip_blocks(&p, p.own_end, job->db->profile_count, err);
    free(p.starts);
    return ok;
}
