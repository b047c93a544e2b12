#include "formats/hpctoolkit/values/trace_lines.h"

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
    CHUNK_COUNT = 8192,
    /* After this many samples, pages of mapped files are given back. */
    FORGET_EVERY = 1024 * 1024,
};

/* Timelines first..end-1, written by one job: many small ones, a large one, or a part of
 * one. */
struct lines_group {
    uint32_t first, end;
    bool is_part;
    uint64_t first_sample, sample_count; /* of a part */
};

struct lines_worker {
    struct cn_sample samples[CHUNK_COUNT];
    uint8_t *bytes; /* encoded, not yet written */
    size_t len;
    uint64_t off; /* of `bytes` in the file */
    struct cn_hpc_trace_run run;
};

struct trace_writer {
    struct cn_hpc_trace_lines *lines;
    const struct cn_hpc_value_job *job;
    const struct cn_hpc_trace_encoding *encoding;
    const struct cn_hpc_trace_contexts *contexts;
    struct cn_out *out;
    struct lines_group *groups;
    size_t group_count, group_capacity;
    uint32_t own_first, own_end;       /* lines of this process */
    uint64_t sample_count, done_count; /* of those */
    uint64_t forgotten_count;          /* samples done when pages were given back */
    size_t bytes_len;                  /* of a worker's buffer */
    struct lines_worker *workers;
    struct cn_failures failures;
};

bool cn_hpc_trace_lines_open(struct cn_hpc_trace_lines *lines, struct cn_database *db,
                             struct cn_error *err)
{
    *lines = (struct cn_hpc_trace_lines){.count = db->profile_count - 1};
    lines->timelines = cn_alloc(lines->count, sizeof(*lines->timelines));
    lines->lines = cn_alloc(lines->count, sizeof(*lines->lines));
    lines->lens = cn_alloc(lines->count, sizeof(*lines->lens));
    for (uint32_t i = 0; i < lines->count; i++) {
        if (!cn_timeline_open(db, i + 1, &lines->timelines[i], err))
            return cn_timeline_fail_in(db, i + 1, err);
    }
    return true;
}

void cn_hpc_trace_lines_done(struct cn_hpc_trace_lines *lines)
{
    free(lines->timelines);
    free(lines->lines);
    free(lines->lens);
    cn_spool_close(&lines->spool);
    *lines = (struct cn_hpc_trace_lines){0};
}

static void add_group(struct trace_writer *t, struct lines_group group)
{
    CN_PUSH(t->groups, t->group_count, t->group_capacity, group);
}

static void plan_groups(struct trace_writer *t)
{
    for (uint32_t first = t->own_first, i = first; i < t->own_end; i = first) {
        uint64_t count = 0;

        while (i < t->own_end && count < CHUNK_COUNT &&
               t->lines->timelines[i].part_count < 2)
            count += t->lines->timelines[i++].count;
        if (i > first) {
            add_group(t, (struct lines_group){.first = first, .end = i});
        } else {
            const struct cn_timeline *timeline = &t->lines->timelines[i++];

            for (size_t part = 0; part < timeline->part_count; part++) {
                struct lines_group group = {.first = first, .end = i, .is_part = true};

                cn_timeline_part(t->job->db, timeline, part, &group.first_sample,
                                 &group.sample_count);
                add_group(t, group);
            }
        }
        first = i;
    }
}

static bool flush(const struct trace_writer *t, struct lines_worker *self,
                  struct cn_error *err)
{
    bool ok = cn_out_write_at(t->out, self->off, self->bytes, self->len, err);

    self->off += self->len;
    self->len = 0;
    return ok;
}

/* Make room in the buffer for `len` bytes at `off`: append zeros up to `off`, where a
 * timeline has shrunk, or flush the buffer. */
static bool make_room(const struct trace_writer *t, struct lines_worker *self,
                      uint64_t off, size_t len, struct cn_error *err)
{
    uint64_t gap_len = off - (self->off + self->len);

    if (gap_len > t->bytes_len - self->len || len > t->bytes_len - self->len - gap_len) {
        if (!flush(t, self, err))
            return false;
        self->off = off;
        return true;
    }
    memset(self->bytes + self->len, 0, (size_t)gap_len);
    self->len += (size_t)gap_len;
    return true;
}

/* Write the samples of a part of one timeline at `*off`, which advances. */
static bool write_samples(struct trace_writer *t, const struct lines_group *part,
                          uint64_t *off, struct lines_worker *self, struct cn_error *err)
{
    uint64_t first = part->first_sample, end = first + part->sample_count;

    self->run.has_last = false;
    while (first < end) {
        size_t count = end - first < CHUNK_COUNT ? (size_t)(end - first) : CHUNK_COUNT;
        size_t len = 0;

        if (!cn_progress_check(t->job->options->progress, "writing trace.db", err))
            return false;
        if (!cn_timeline_read(t->job->db, &t->lines->timelines[part->first], first, count,
                              self->samples, err) ||
            !make_room(t, self, *off, count * t->encoding->sample_len, err) ||
            !t->encoding->encode(&self->run, self->samples, count,
                                 self->bytes + self->len, &len, err))
            return cn_timeline_fail_in(t->job->db, part->first + 1, err);
        self->len += len;
        *off += len;
        first += count;
    }
    return true;
}

static bool write_group(struct trace_writer *t, const struct lines_group *group,
                        struct lines_worker *self, struct cn_error *err)
{
    uint64_t off = t->lines->lines[group->first].begin_off +
                   group->first_sample * t->encoding->sample_len;

    self->len = 0;
    self->off = off;
    self->run.keeps_all = group->is_part || !t->encoding->merges_pauses;
    if (group->is_part)
        return write_samples(t, group, &off, self, err) && flush(t, self, err);
    for (uint32_t i = group->first; i < group->end; i++) {
        struct lines_group whole = {.first = i,
                                    .sample_count = t->lines->timelines[i].count};

        off = t->lines->lines[i].begin_off;
        if (!write_samples(t, &whole, &off, self, err))
            return false;
        t->lines->lens[i] = off - t->lines->lines[i].begin_off;
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

static void note_done(struct trace_writer *t, const struct lines_group *group)
{
    if (group->is_part) {
        t->done_count += group->sample_count;
        t->lines->lens[group->first] =
            (group->first_sample + group->sample_count) * t->encoding->sample_len;
        return;
    }
    for (uint32_t i = group->first; i < group->end; i++)
        t->done_count += t->lines->timelines[i].count;
}

static void group_take(void *arg, size_t job, unsigned worker)
{
    struct trace_writer *t = arg;

    if (!cn_failures_share(&t->failures, worker))
        return;
    note_done(t, &t->groups[job]);
    if (t->done_count - t->forgotten_count >= FORGET_EVERY) {
        cn_database_forget(t->job->db);
        t->forgotten_count = t->done_count;
    }
    if (!cn_progress_report(t->job->options->progress, "writing trace.db", t->done_count,
                            t->sample_count, "samples",
                            cn_failures_error(&t->failures, worker)))
        cn_failures_note(&t->failures, worker, job);
}

static void add_up(const struct trace_writer *t)
{
    struct cn_hpc_trace_totals *totals = &t->lines->totals;

    *totals = (struct cn_hpc_trace_totals){.begin_ns = UINT64_MAX};
    for (unsigned i = 0; i < t->job->workers; i++) {
        const struct cn_hpc_trace_run *run = &t->workers[i].run;

        totals->merged_count += run->merged_count;
        totals->unlisted_count += run->unlisted_count;
        if (run->has_span && run->begin_ns < totals->begin_ns)
            totals->begin_ns = run->begin_ns;
        if (run->has_span && run->end_ns > totals->end_ns)
            totals->end_ns = run->end_ns;
    }
}

static bool run_jobs(struct trace_writer *t, struct cn_error *err)
{
    struct cn_jobs jobs = {t->group_count, t, group_run, group_take, NULL};
    unsigned count = t->job->workers;

    t->workers = cn_alloc(count, sizeof(*t->workers));
    for (unsigned i = 0; i < count; i++) {
        t->workers[i].bytes = cn_alloc(t->bytes_len, 1);
        t->workers[i].run.contexts = *t->contexts;
    }
    cn_failures_init(&t->failures, count);
    cn_pool_run(&jobs, count);
    bool ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    add_up(t);
    for (unsigned i = 0; i < count; i++)
        free(t->workers[i].bytes);
    free(t->workers);
    return ok;
}

static bool reserve_lines(struct trace_writer *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->lines->count; i++) {
        uint64_t sample_count = t->lines->timelines[i].count;
        struct cn_hpc_trace_line *line = &t->lines->lines[i];
        uint64_t len;

        if (!cn_u64_mul(sample_count, t->encoding->sample_len, &len) || len > INT64_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "profile %" PRIu32 ": %" PRIu64 " samples",
                           i + 1, sample_count);
        if (!cn_out_reserve(t->out, cn_align_up(len, t->encoding->align),
                            &line->begin_off, err))
            return false;
        if (i >= t->own_first && i < t->own_end)
            t->sample_count += sample_count;
    }
    return true;
}

bool cn_hpc_trace_lines_encode(struct cn_hpc_trace_lines *lines,
                               const struct cn_hpc_value_job *job,
                               const struct cn_hpc_trace_encoding *encoding,
                               const struct cn_hpc_trace_contexts *contexts,
                               struct cn_out *out, struct cn_error *err)
{
    struct trace_writer t = {
        .lines = lines,
        .job = job,
        .encoding = encoding,
        .contexts = contexts,
        .out = out,
        .own_first = job->db->own_first > 0 ? job->db->own_first - 1 : 0,
        .own_end = cn_database_own_end(job->db) - 1,
        .bytes_len = CHUNK_COUNT * encoding->sample_len,
    };
    bool ok;

    if (job->options->timeline_resolution_ns > 0)
        return cn_hpc_trace_thin_encode(lines, job, encoding, contexts, err);
    ok = reserve_lines(&t, err);
    if (ok) {
        plan_groups(&t);
        ok = run_jobs(&t, err);
    }
    free(t.groups);
    return ok;
}

/* What the source declares may be wider than its samples. That of states is not of timelines. */
static void extend_range(struct cn_hpc_trace_totals *totals, const struct cn_database *db)
{
    bool is_empty = totals->end_ns == 0;

    if (db->end_ns == 0 || db->states)
        return;
    if (is_empty || db->begin_ns < totals->begin_ns)
        totals->begin_ns = db->begin_ns;
    if (db->end_ns > totals->end_ns)
        totals->end_ns = db->end_ns;
}

bool cn_hpc_trace_lines_place(struct cn_hpc_trace_lines *lines,
                              const struct cn_hpc_value_job *job,
                              const struct cn_hpc_trace_encoding *encoding,
                              struct cn_out *out, struct cn_error *err)
{
    struct cn_hpc_trace_totals *totals = &lines->totals;

    if (lines->spool.fds && !cn_hpc_trace_thin_place(lines, job, encoding, out, err))
        return false;
    for (uint32_t i = 0; i < lines->count; i++)
        lines->lines[i].end_off = lines->lines[i].begin_off + lines->lens[i];
    if (totals->begin_ns > totals->end_ns)
        totals->begin_ns = totals->end_ns = 0;
    extend_range(totals, job->db);
    cn_write_lose(job->options, "samples that only repeat that a thread does not run",
                  totals->merged_count);
    cn_write_lose(job->options,
                  "samples of contexts that are not listed, written as not running",
                  totals->unlisted_count);
    return true;
}
