/* trace.db: header, one record for every profile but the first, then the samples of each.
 *
 * Record i belongs to profile i + 1, with or without samples: readers look it up so. Every
 * timeline gets the room its length asks for before any is written; one that shrinks because
 * pauses were merged leaves zeros behind, which the format allows.
 */
#include "formats/hpctoolkit/v4/value_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/failures.h"
#include "base/pool.h"
#include "base/progress.h"
#include "base/ranks.h"

enum {
    CHUNK_COUNT = 8192,
    /* After this many samples, pages of mapped files that were read are given back. */
    FORGET_EVERY = 1024 * 1024,
};

/* Timelines first..end-1, written by one job: many small ones, or a large one, or a
 * piece of one. */
struct group {
    uint32_t first, end;
    bool is_piece;
    uint64_t first_sample, sample_count; /* of a piece */
};

struct worker {
    struct cn_sample samples[CHUNK_COUNT];
    uint8_t bytes[CHUNK_COUNT * cn_hpc_sample_size]; /* encoded, not yet written */
    size_t len;
    uint64_t off; /* of `bytes` in the file */
    struct cn_sample last;
    bool has_last;
    bool keeps_all; /* each sample has its place: nothing is merged */
    bool has_span;
    uint64_t begin_ns, end_ns; /* of all samples this worker has written */
    uint64_t merged_count, unlisted_count;
};

struct trace_writer {
    const struct cn_hpc_writing *w;
    struct cn_out out;
    struct cn_timeline *timelines; /* of profile i + 1, as the records */
    struct cn_hpc_trace *records;
    uint32_t count;
    struct group *groups;
    size_t group_count, group_capacity;
    uint32_t own_first, own_end;       /* lines that this process has */
    uint64_t sample_count, done_count; /* of those */
    bool has_samples;                  /* any process */
    uint64_t forgotten_count;          /* samples done when pages were given back */
    struct worker *workers;
    struct cn_failures failures;
};

static bool open_timelines(struct trace_writer *t, struct cn_error *err)
{
    const struct cn_database *db = t->w->db;
    uint32_t first = cn_database_own_first(db);

    t->own_first = first > 0 ? first - 1 : 0;
    t->own_end = cn_database_own_end(db) - 1;
    for (uint32_t i = 0; i < t->count; i++) {
        if (!cn_timeline_open(t->w->db, i + 1, &t->timelines[i], err))
            return cn_fail_in(err, "profile %" PRIu32, i + 1);
        t->has_samples = t->has_samples || t->timelines[i].count > 0;
        if (i >= t->own_first && i < t->own_end)
            t->sample_count += t->timelines[i].count;
    }
    return true;
}

static void add_group(struct trace_writer *t, struct group group)
{
    t->groups =
        cn_grow(t->groups, t->group_count, &t->group_capacity, sizeof(*t->groups));
    t->groups[t->group_count++] = group;
}

static void add_pieces(struct trace_writer *t, uint32_t i)
{
    for (size_t piece = 0; piece < t->timelines[i].piece_count; piece++) {
        struct group group = {.first = i, .end = i + 1, .is_piece = true};

        cn_timeline_piece(t->w->db, &t->timelines[i], piece, &group.first_sample,
                          &group.sample_count);
        add_group(t, group);
    }
}

static void plan_groups(struct trace_writer *t)
{
    for (uint32_t first = t->own_first, i = first; i < t->own_end; i = first) {
        uint64_t count = 0;

        while (i < t->own_end && count < CHUNK_COUNT && t->timelines[i].piece_count < 2)
            count += t->timelines[i++].count;
        if (i > first)
            add_group(t, (struct group){.first = first, .end = i});
        else
            add_pieces(t, i++);
        first = i;
    }
}

static bool flush(const struct trace_writer *t, struct worker *self, struct cn_error *err)
{
    bool ok = cn_out_write_at(&t->out, self->off, self->bytes, self->len, err);

    self->off += self->len;
    self->len = 0;
    return ok;
}

/* Room in the buffer for `len` bytes that belong at `off`: behind what it holds, over a
 * gap of zeros where a timeline has shrunk, or at its start when it was written. */
static bool make_room(const struct trace_writer *t, struct worker *self, uint64_t off,
                      size_t len, struct cn_error *err)
{
    uint64_t gap_len = off - (self->off + self->len);

    if (gap_len > sizeof(self->bytes) - self->len ||
        len > sizeof(self->bytes) - self->len - gap_len) {
        if (!flush(t, self, err))
            return false;
        self->off = off;
        return true;
    }
    memset(self->bytes + self->len, 0, (size_t)gap_len);
    self->len += (size_t)gap_len;
    return true;
}

/* What was encoded is in the order of time. */
static void extend_span(struct worker *self, const uint8_t *bytes, size_t len)
{
    uint64_t begin_ns, end_ns;

    if (len == 0)
        return;
    begin_ns = cn_u64_get(bytes);
    end_ns = cn_u64_get(bytes + len - cn_hpc_sample_size);
    if (!self->has_span || begin_ns < self->begin_ns)
        self->begin_ns = begin_ns;
    if (!self->has_span || end_ns > self->end_ns)
        self->end_ns = end_ns;
    self->has_span = true;
}

/* Encode what is in self->samples; returns the length. Readers cannot show a
 * context that meta.db does not list: what the thread did there is unknown. */
static bool encode(const struct cn_hpc_writing *w, struct worker *self, size_t count,
                   size_t *len, struct cn_error *err)
{
    struct cn_sample last = self->has_last ? self->last : (struct cn_sample){0, CN_NONE};
    uint8_t *begin = self->bytes + self->len, *at = begin;

    for (size_t i = 0; i < count; i++) {
        struct cn_sample sample = self->samples[i];

        if (sample.context != 0 && !cn_hpc_writing_lists(w, sample.context)) {
            sample.context = 0;
            self->unlisted_count++;
        }
        if (sample.time_ns < last.time_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64,
                           sample.time_ns, last.time_ns);
        /* "Not running" twice in a row is once: the pause began with the first. */
        if ((sample.context | last.context) == 0 && !self->keeps_all) {
            last.time_ns = sample.time_ns;
            self->merged_count++;
            continue;
        }
        cn_hpc_sample_encode(&(struct cn_hpc_sample){sample.time_ns, sample.context}, at);
        at += cn_hpc_sample_size;
        last = sample;
    }
    self->last = last;
    self->has_last = true;
    *len = (size_t)(at - begin);
    self->len += *len;
    extend_span(self, begin, *len);
    return true;
}

/* Samples from `first` to before `end` of a timeline, from `*off` on. */
static bool write_samples(struct trace_writer *t, uint32_t line, uint64_t first,
                          uint64_t end, uint64_t *off, struct worker *self,
                          struct cn_error *err)
{
    self->has_last = false;
    while (first < end) {
        size_t count = end - first < CHUNK_COUNT ? (size_t)(end - first) : CHUNK_COUNT;
        size_t len = 0;

        if (!cn_progress_check(t->w->options->progress, "writing trace.db", err))
            return false;
        if (!cn_timeline_read(t->w->db, &t->timelines[line], first, count, self->samples,
                              err) ||
            !make_room(t, self, *off, count * cn_hpc_sample_size, err) ||
            !encode(t->w, self, count, &len, err))
            return cn_fail_in(err, "profile %" PRIu32, line + 1);
        *off += len;
        first += count;
    }
    return true;
}

static bool write_piece(struct trace_writer *t, const struct group *group,
                        struct worker *self, struct cn_error *err)
{
    uint64_t off =
        t->records[group->first].begin_off + group->first_sample * cn_hpc_sample_size;

    self->len = 0;
    self->off = off;
    self->keeps_all = true;
    return write_samples(t, group->first, group->first_sample,
                         group->first_sample + group->sample_count, &off, self, err) &&
           flush(t, self, err);
}

static bool write_group(struct trace_writer *t, const struct group *group,
                        struct worker *self, struct cn_error *err)
{
    if (group->is_piece)
        return write_piece(t, group, self, err);
    self->len = 0;
    self->off = t->records[group->first].begin_off;
    self->keeps_all = false;
    for (uint32_t i = group->first; i < group->end; i++) {
        uint64_t off = t->records[i].begin_off;

        if (!write_samples(t, i, 0, t->timelines[i].count, &off, self, err))
            return false;
        t->records[i].end_off = off;
    }
    return flush(t, self, err);
}

static void group_run(void *arg, size_t job, unsigned worker)
{
    struct trace_writer *t = arg;
    struct cn_error *err = cn_failures_error(&t->failures, worker);

    if (!cn_failures_stopped(&t->failures, worker) &&
        !write_group(t, &t->groups[job], &t->workers[worker], err))
        cn_failures_note(&t->failures, worker, job);
}

static void note_done(struct trace_writer *t, const struct group *group)
{
    struct cn_hpc_trace *record = &t->records[group->first];

    if (group->is_piece) {
        t->done_count += group->sample_count;
        record->end_off =
            record->begin_off +
            (group->first_sample + group->sample_count) * cn_hpc_sample_size;
        return;
    }
    for (uint32_t i = group->first; i < group->end; i++)
        t->done_count += t->timelines[i].count;
}

static void group_take(void *arg, size_t job, unsigned worker)
{
    struct trace_writer *t = arg;

    if (!cn_failures_share(&t->failures, worker))
        return;
    note_done(t, &t->groups[job]);
    if (t->done_count - t->forgotten_count >= FORGET_EVERY) {
        cn_database_forget(t->w->db);
        t->forgotten_count = t->done_count;
    }
    if (!cn_progress_report(t->w->options->progress, "writing trace.db", t->done_count,
                            t->sample_count, "samples",
                            cn_failures_error(&t->failures, worker)))
        cn_failures_note(&t->failures, worker, job);
}

/* What all lines together say. */
struct lines_total {
    uint64_t merged_count, unlisted_count;
    uint64_t begin_ns, end_ns; /* begin after end: no sample */
};

static struct lines_total add_up_workers(const struct trace_writer *t)
{
    struct lines_total total = {.begin_ns = UINT64_MAX};

    for (unsigned i = 0; i < t->w->workers; i++) {
        const struct worker *worker = &t->workers[i];

        total.merged_count += worker->merged_count;
        total.unlisted_count += worker->unlisted_count;
        if (worker->has_span && worker->begin_ns < total.begin_ns)
            total.begin_ns = worker->begin_ns;
        if (worker->has_span && worker->end_ns > total.end_ns)
            total.end_ns = worker->end_ns;
    }
    return total;
}

/* Lines of other processes end where those say. */
static bool add_up_ranks(struct trace_writer *t, struct lines_total *total,
                         struct cn_error *err)
{
    struct cn_ranks *ranks = t->w->ranks;
    uint64_t *end_offs = cn_alloc(t->count, sizeof(*end_offs));
    bool ok;

    for (uint32_t i = 0; i < t->count; i++)
        end_offs[i] = t->records[i].end_off;
    ok = cn_ranks_combine(ranks, CN_RANKS_ADD, &total->merged_count, 1, err) &&
         cn_ranks_combine(ranks, CN_RANKS_ADD, &total->unlisted_count, 1, err) &&
         cn_ranks_combine(ranks, CN_RANKS_MIN, &total->begin_ns, 1, err) &&
         cn_ranks_combine(ranks, CN_RANKS_MAX, &total->end_ns, 1, err) &&
         cn_ranks_combine(ranks, CN_RANKS_MAX, end_offs, t->count, err);
    for (uint32_t i = 0; ok && i < t->count; i++)
        t->records[i].end_off = end_offs[i];
    free(end_offs);
    return ok;
}

static bool write_lines(struct trace_writer *t, struct cn_hpc_traces_header *header,
                        struct cn_error *err)
{
    struct cn_jobs jobs = {t->group_count, t, group_run, group_take, NULL};
    struct lines_total total;
    bool ok;

    t->workers = cn_alloc(t->w->workers, sizeof(*t->workers));
    cn_failures_init(&t->failures, t->w->workers);
    cn_pool_run(&jobs, t->w->workers);
    ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    total = add_up_workers(t);
    free(t->workers);
    if (!cn_ranks_agree(t->w->ranks, ok, err) || !add_up_ranks(t, &total, err))
        return false;
    if (total.begin_ns <= total.end_ns) {
        header->begin_ns = total.begin_ns;
        header->end_ns = total.end_ns;
    }
    cn_hpc_writing_lose(t->w, "samples that only repeat that a thread does not run",
                        total.merged_count);
    cn_hpc_writing_lose(t->w, "samples of contexts that are not described, shown as idle",
                        total.unlisted_count);
    return true;
}

static bool place_lines(struct trace_writer *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t len;

        if (!cn_u64_mul(t->timelines[i].count, cn_hpc_sample_size, &len) ||
            len > INT64_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "profile %" PRIu32 ": %" PRIu64 " samples",
                           i + 1, t->timelines[i].count);
        t->records[i].profile = i + 1;
        if (!cn_out_reserve(&t->out, cn_align_up(len, 8), &t->records[i].begin_off, err))
            return false;
        t->records[i].end_off = t->records[i].begin_off;
    }
    return true;
}

static bool write_records(struct trace_writer *t,
                          const struct cn_hpc_traces_header *header,
                          const struct cn_hpc_section *section, struct cn_error *err)
{
    uint8_t *bytes = cn_alloc((size_t)section->len, 1);
    bool ok;

    cn_hpc_traces_header_encode(header, bytes);
    for (uint32_t i = 0; i < t->count; i++)
        cn_hpc_trace_encode(&t->records[i],
                            bytes + cn_hpc_traces_header_size + i * cn_hpc_trace_size);
    ok = cn_out_write_at(&t->out, section->off, bytes, (size_t)section->len, err);
    free(bytes);
    return ok;
}

static bool write_file(struct trace_writer *t, struct cn_error *err)
{
    struct cn_hpc_traces_header header = {
        .trace_count = t->count,
        .trace_len = cn_hpc_trace_size,
    };
    struct cn_hpc_section section = {
        .len = cn_hpc_traces_header_size + (uint64_t)t->count * cn_hpc_trace_size,
    };

    if (!cn_hpc_shared_file_begin(&t->out, t->w, "trace.db", CN_HPC_TRACE_SECTION_COUNT,
                                  err) ||
        !cn_out_reserve(&t->out, section.len, &section.off, err) || !place_lines(t, err))
        return false;
    plan_groups(t);
    if (!write_lines(t, &header, err))
        return false;
    header.traces_off = section.off + cn_hpc_traces_header_size;
    return !cn_ranks_is_first(t->w->ranks) ||
           (write_records(t, &header, &section, err) &&
            cn_hpc_file_end(&t->out, CN_HPC_TRACE_FORMAT, CN_HPC_TRACE_FOOTER, &section,
                            CN_HPC_TRACE_SECTION_COUNT, err));
}

bool cn_hpc_traces_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct trace_writer t = {.w = w, .count = w->db->profile_count - 1};
    bool ok;

    if (!w->db->has_timelines)
        return true;
    t.timelines = cn_alloc(t.count, sizeof(*t.timelines));
    t.records = cn_alloc(t.count, sizeof(*t.records));
    ok = cn_ranks_agree(w->ranks, open_timelines(&t, err), err) &&
         (!t.has_samples || write_file(&t, err));
    cn_out_abandon(&t.out);
    free(t.timelines);
    free(t.records);
    free(t.groups);
    return ok;
}
