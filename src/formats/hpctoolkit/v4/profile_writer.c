/* profile.db: header, profile records, identity tuples, then a block a profile: values, and
 * behind them where each context's values start.
 *
 * The place of a block is known when its plane was read: planes follow each other in the order
 * of profiles. Of several processes, each writes the blocks of its own profiles, behind the room
 * that those before it need. A plane that fits a worker's buffers is encoded as it is read; a larger one is read
 * a second time and encoded piece by piece, so that memory does not grow with planes.
 */
#include "formats/hpctoolkit/v4/value_writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/failures.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/ranks.h"

enum {
    BLOCK_ALIGN = 4,
    VALUES_LEN = 4 * 1024 * 1024 / cn_hpc_profile_value_size * cn_hpc_profile_value_size,
    INDEX_LEN = 2 * 1024 * 1024 / cn_hpc_profile_index_size * cn_hpc_profile_index_size,
    /* After this many values, pages of mapped files that were read are given back. */
    FORGET_EVERY = 1024 * 1024,
    SMALL_LEN = 64 * 1024, /* blocks up to this length are written many at once */
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
    uint32_t largest_key;
    uint16_t metric_bits; /* of all ids together */
    bool is_sorted;
    struct cn_value last;
};

struct worker {
    struct cn_value_cursor cursor;
    struct plane plane;
    struct cn_value *sorted; /* the plane, when it did not come sorted */
    size_t sorted_capacity;
    struct stretch values, index;
    bool is_held;           /* the buffers hold the whole plane */
    bool is_written;        /* together with others */
    uint64_t written_count; /* values encoded so far */
    uint32_t last_key;
};

struct profile_writer {
    const struct cn_hpc_writing *w;
    struct cn_out out;
    struct cn_hpc_profile *records;
    uint32_t own_first, own_end; /* profiles that this process writes */
    uint64_t unforgotten_count;  /* values read since pages were given back */
    struct worker *workers;
    struct cn_failures failures;
};

static void scan(struct plane *plane, const struct cn_value *values, size_t count)
{
    struct plane p = *plane;

    for (size_t i = 0; i < count; i++) {
        struct cn_value value = values[i];

        if (value.value == 0)
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

static void begin_encoding(struct worker *self)
{
    self->values.len = 0;
    self->index.len = 0;
    self->written_count = 0;
}

static bool has_room(const struct worker *self)
{
    return self->values.len < self->values.capacity &&
           self->index.len < self->index.capacity;
}

/* Append values to the buffers until one of them is full; returns how many were taken. */
static size_t encode_some(struct worker *self, const struct cn_value *values,
                          size_t count)
{
    size_t i = 0;

    for (; i < count && has_room(self); i++) {
        struct cn_hpc_profile_value record = {values[i].metric, values[i].value};
        struct cn_hpc_profile_index index = {values[i].key, self->written_count};

        if (record.value == 0)
            continue;
        if (self->written_count == 0 || index.context != self->last_key) {
            cn_hpc_profile_index_encode(&index, self->index.buffer + self->index.len);
            self->index.len += cn_hpc_profile_index_size;
            self->last_key = index.context;
        }
        cn_hpc_profile_value_encode(&record, self->values.buffer + self->values.len);
        self->values.len += cn_hpc_profile_value_size;
        self->written_count++;
    }
    return i;
}

static bool scan_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                       struct cn_error *err)
{
    struct cn_value_batch batch;
    enum cn_step step;

    self->plane = (struct plane){.is_sorted = true};
    self->is_held = true;
    begin_encoding(self);
    if (!cn_profile_values(p->w->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM) {
        scan(&self->plane, batch.values, batch.count);
        if (self->is_held && self->plane.is_sorted)
            self->is_held = encode_some(self, batch.values, batch.count) == batch.count;
    }
    if (step != CN_END)
        return false;
    if (self->plane.value_count > 0 && self->plane.largest_key >= p->w->context_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "value for context %" PRIu32 ", but ids end at %" PRIu32,
                       self->plane.largest_key, p->w->context_count);
    if (self->plane.metric_bits > CN_HPC_METRIC_ID_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "a metric id above %d, which readers do not know",
                       CN_HPC_METRIC_ID_MAX);
    return true;
}

static int compare_values(const void *left, const void *right)
{
    const struct cn_value *a = left, *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->metric > b->metric) - (a->metric < b->metric);
}

static bool load_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                       struct cn_error *err)
{
    struct cn_value_batch batch;
    size_t count = 0;
    enum cn_step step;

    if (!cn_profile_values(p->w->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            if (batch.values[i].value == 0)
                continue;
            self->sorted = cn_grow(self->sorted, count, &self->sorted_capacity,
                                   sizeof(*self->sorted));
            self->sorted[count++] = batch.values[i];
        }
    if (step != CN_END)
        return false;
    qsort(self->sorted, count, sizeof(*self->sorted), compare_values);
    self->plane = (struct plane){.is_sorted = true};
    scan(&self->plane, self->sorted, count);
    if (self->plane.is_sorted)
        return true;
    for (size_t i = 1; i < count; i++)
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
    uint32_t profile = p->own_first + (uint32_t)job;

    if (cn_failures_stopped(&p->failures, worker))
        return;
    free(self->sorted);
    self->sorted = NULL;
    self->sorted_capacity = 0;
    if (scan_plane(p, profile, self, err) &&
        (self->plane.is_sorted || load_plane(p, profile, self, err)))
        return;
    (void)cn_fail_in(err, "profile %" PRIu32, profile);
    cn_failures_note(&p->failures, worker, job);
}

static uint64_t values_len(uint64_t value_count)
{
    return cn_align_up(value_count * cn_hpc_profile_value_size, BLOCK_ALIGN);
}

/* Where the parts of a block are that starts at `off`; returns its length. */
static uint64_t fill_in_record(struct profile_writer *p, uint32_t profile,
                               uint64_t value_count, uint32_t context_count, uint64_t off)
{
    struct cn_hpc_profile *record = &p->records[profile];

    record->value_count = value_count;
    record->context_count = context_count;
    record->values_off = off;
    record->index_off = off + values_len(value_count);
    return values_len(value_count) + (uint64_t)context_count * cn_hpc_profile_index_size;
}

/* Leave room for the blocks of other processes. */
static bool pass_over(struct profile_writer *p, uint32_t first, uint32_t end,
                      struct cn_error *err)
{
    for (uint32_t i = first; i < end; i++) {
        struct cn_profile profile;
        uint64_t off;

        if (!cn_database_profile(p->w->db, i, &profile, err) ||
            !cn_out_reserve(&p->out,
                            fill_in_record(p, i, profile.value_count,
                                           profile.context_count, p->out.end_off),
                            &off, err))
            return false;
    }
    return true;
}

/* Other processes have left room for what the database has told them. */
static bool check_counts(struct profile_writer *p, uint32_t profile,
                         const struct plane *plane, struct cn_error *err)
{
    struct cn_profile told;

    if (!p->w->db->has_exact_counts)
        return true;
    if (!cn_database_profile(p->w->db, profile, &told, err))
        return false;
    return (told.value_count == plane->value_count &&
            told.context_count == plane->context_count) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "profile %" PRIu32 ": changed while it was being read", profile);
}

static bool is_encoded(const struct worker *self)
{
    return self->is_held && self->plane.is_sorted && !self->sorted;
}

/* A small block is appended to those before it, a large one gets its place and is
 * written by its worker. */
static bool place(struct profile_writer *p, uint32_t profile, struct worker *self,
                  struct cn_error *err)
{
    const struct plane *plane = &self->plane;
    uint64_t begin_off = p->out.end_off, off;
    uint64_t len =
        fill_in_record(p, profile, plane->value_count, plane->context_count, begin_off);

    self->values.next_off = begin_off;
    self->values.end_off = p->records[profile].index_off;
    self->index.next_off = self->values.end_off;
    self->index.end_off = begin_off + len;
    if (!check_counts(p, profile, plane, err))
        return false;
    self->is_written = is_encoded(self) && len <= SMALL_LEN;
    if (!self->is_written)
        return cn_out_reserve(&p->out, len, &off, err);
    return cn_out_write(&p->out, self->values.buffer, self->values.len, err) &&
           cn_out_pad(&p->out, BLOCK_ALIGN, err) &&
           cn_out_write(&p->out, self->index.buffer, self->index.len, err);
}

/* The place of the block: in the order of profiles, whoever is ready first. */
static void place_take(void *arg, size_t job, unsigned worker)
{
    struct profile_writer *p = arg;
    struct worker *self = &p->workers[worker];
    struct cn_error *err = cn_failures_error(&p->failures, worker);

    if (!cn_failures_share(&p->failures, worker))
        return;
    if (!place(p, p->own_first + (uint32_t)job, self, err) ||
        !cn_progress_report(p->w->options->progress, "writing profile.db", job + 1,
                            p->own_end - p->own_first, "profiles", err)) {
        cn_failures_note(&p->failures, worker, job);
        return;
    }
    p->unforgotten_count += self->plane.value_count;
    if (p->unforgotten_count >= FORGET_EVERY) {
        cn_database_forget(p->w->db);
        p->unforgotten_count = 0;
    }
}

static bool flush(const struct cn_out *out, struct stretch *stretch, struct cn_error *err)
{
    size_t len = stretch->len;

    /* The input may have changed since it was counted: never write beyond our place. */
    if (len > stretch->end_off - stretch->next_off)
        return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
    if (!cn_out_write_at(out, stretch->next_off, stretch->buffer, len, err))
        return false;
    stretch->next_off += len;
    stretch->len = 0;
    return true;
}

static bool encode(const struct cn_out *out, struct worker *self,
                   struct cn_value_batch batch, struct cn_error *err)
{
    size_t done = 0;

    while (done < batch.count) {
        if (!has_room(self) &&
            (!flush(out, &self->values, err) || !flush(out, &self->index, err)))
            return false;
        done += encode_some(self, batch.values + done, batch.count - done);
    }
    return true;
}

/* A plane that was not held: from the start, through the buffers. */
static bool encode_plane(struct profile_writer *p, uint32_t profile, struct worker *self,
                         struct cn_error *err)
{
    struct cn_value_batch batch = {self->sorted, (size_t)self->plane.value_count};
    enum cn_step step;

    begin_encoding(self);
    if (self->sorted)
        return encode(&p->out, self, batch, err);
    if (!cn_profile_values(p->w->db, profile, 0, UINT32_MAX, &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        if (!encode(&p->out, self, batch, err))
            return false;
    return step == CN_END;
}

static void write_finish(void *arg, size_t job, unsigned worker)
{
    struct profile_writer *p = arg;
    struct worker *self = &p->workers[worker];
    struct cn_error *err = cn_failures_error(&p->failures, worker);
    uint32_t profile = p->own_first + (uint32_t)job;
    bool ok;

    if (cn_failures_stopped(&p->failures, worker) || self->is_written)
        return;
    ok = (is_encoded(self) || encode_plane(p, profile, self, err)) &&
         flush(&p->out, &self->values, err) && flush(&p->out, &self->index, err);
    if (ok && (self->written_count != self->plane.value_count ||
               self->index.next_off != self->index.end_off))
        ok = cn_fail(err, CN_ERR_FORMAT,
                     "profile %" PRIu32 ": changed while it was being read", profile);
    if (!ok)
        cn_failures_note(&p->failures, worker, job);
}

static bool write_blocks(struct profile_writer *p, struct cn_error *err)
{
    struct cn_jobs jobs = {p->own_end - p->own_first, p, scan_run, place_take,
                           write_finish};
    unsigned count = p->w->workers;
    bool ok;

    p->workers = cn_alloc(count, sizeof(*p->workers));
    for (unsigned i = 0; i < count; i++) {
        p->workers[i].values = (struct stretch){
            .buffer = cn_alloc(VALUES_LEN, 1),
            .capacity = VALUES_LEN,
        };
        p->workers[i].index = (struct stretch){
            .buffer = cn_alloc(INDEX_LEN, 1),
            .capacity = INDEX_LEN,
        };
    }
    cn_failures_init(&p->failures, count);
    cn_pool_run(&jobs, count);
    ok = cn_failures_result(&p->failures, err);
    cn_failures_done(&p->failures);
    for (unsigned i = 0; i < count; i++) {
        free(p->workers[i].sorted);
        free(p->workers[i].values.buffer);
        free(p->workers[i].index.buffer);
    }
    free(p->workers);
    return ok;
}

/* Ours between those of other processes, which we only know the length of. */
static bool write_own_blocks(struct profile_writer *p, struct cn_error *err)
{
    uint64_t off;

    return pass_over(p, 0, p->own_first, err) && write_blocks(p, err) &&
           cn_out_reserve(&p->out, 0, &off, err) &&
           pass_over(p, p->own_end, p->w->db->profile_count, err);
}

static bool write_tuple(struct cn_out *out, const struct cn_identity_tuple *identity,
                        struct cn_error *err)
{
    struct cn_hpc_tuple tuple = {(uint16_t)identity->count};
    uint8_t head[cn_hpc_tuple_size];

    cn_hpc_tuple_encode(&tuple, head);
    if (!cn_out_write(out, head, sizeof(head), err))
        return false;
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];
        struct cn_hpc_identity record = {
            .kind = id->kind,
            .flags = id->is_physical ? CN_HPC_IS_PHYSICAL : 0,
            .logical = id->logical,
            .physical = id->physical,
        };
        uint8_t bytes[cn_hpc_identity_size];

        cn_hpc_identity_encode(&record, bytes);
        if (!cn_out_write(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool write_tuples(struct profile_writer *p, struct cn_error *err)
{
    for (uint32_t i = 0; i < p->w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(p->w->db, i, &profile, err))
            return false;
        if (i == 0 || profile.is_summary)
            p->records[i].flags = CN_HPC_IS_SUMMARY;
        /* Readers know the summary over all threads by its having no tuple. */
        if (i == 0)
            continue;
        p->records[i].tuple_off = p->out.end_off;
        if (!write_tuple(&p->out, &profile.identity, err))
            return false;
    }
    return true;
}

static bool write_records(struct profile_writer *p,
                          const struct cn_hpc_profiles_header *header,
                          const struct cn_hpc_section *infos, struct cn_error *err)
{
    uint8_t *bytes = cn_alloc((size_t)infos->len, 1);
    size_t at = (size_t)(header->profiles_off - infos->off);
    bool ok;

    cn_hpc_profiles_header_encode(header, bytes);
    for (uint32_t i = 0; i < header->profile_count; i++)
        cn_hpc_profile_encode(&p->records[i], bytes + at + i * cn_hpc_profile_size);
    ok = cn_out_write_at(&p->out, infos->off, bytes, (size_t)infos->len, err);
    free(bytes);
    return ok;
}

static bool write_file(struct profile_writer *p, struct cn_error *err)
{
    struct cn_hpc_section sections[CN_HPC_PROFILE_SECTION_COUNT] = {0};
    struct cn_hpc_section *infos = &sections[CN_HPC_PROFILE_INFOS];
    struct cn_hpc_section *tuples = &sections[CN_HPC_ID_TUPLES];
    struct cn_hpc_profiles_header header = {
        .profile_count = p->w->db->profile_count,
        .profile_len = cn_hpc_profile_size,
    };
    uint64_t head_len = cn_align_up(cn_hpc_profiles_header_size, 8);
    bool is_first = cn_ranks_is_first(p->w->ranks);

    infos->len = head_len + (uint64_t)header.profile_count * cn_hpc_profile_size;
    if (!cn_hpc_shared_file_begin(&p->out, p->w, "profile.db",
                                  CN_HPC_PROFILE_SECTION_COUNT, err) ||
        !cn_out_reserve(&p->out, infos->len, &infos->off, err))
        return false;
    header.profiles_off = infos->off + head_len;
    tuples->off = p->out.end_off;
    if (!cn_ranks_agree(p->w->ranks, !is_first || write_tuples(p, err), err) ||
        !cn_ranks_combine(p->w->ranks, CN_RANKS_MAX, &p->out.end_off, 1, err))
        return false;
    tuples->len = p->out.end_off - tuples->off;
    if (!cn_ranks_agree(p->w->ranks, write_own_blocks(p, err), err))
        return false;
    return !is_first ||
           (write_records(p, &header, infos, err) &&
            cn_hpc_file_end(&p->out, CN_HPC_PROFILE_FORMAT, CN_HPC_PROFILE_FOOTER,
                            sections, CN_HPC_PROFILE_SECTION_COUNT, err));
}

bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct profile_writer p = {
        .w = w,
        .own_first = cn_database_own_first(w->db),
        .own_end = cn_database_own_end(w->db),
    };
    bool ok;

    if (w->db->profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profile: the first must be the summary");
    p.records = cn_alloc(w->db->profile_count, sizeof(*p.records));
    ok = write_file(&p, err);
    cn_out_abandon(&p.out);
    free(p.records);
    return ok;
}
