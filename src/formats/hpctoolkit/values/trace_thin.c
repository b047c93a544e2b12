#include "formats/hpctoolkit/values/trace_lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/files/out.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "model/contexts/thinner.h"
#include "model/format.h"

enum {
    CHUNK_COUNT = 8192,
    /* Without a limit of samples, a timeline without parts of more samples is read in turn. */
    LONG_COUNT = 1 << 20,
};

/* A timeline, or a part of one. */
struct thin_unit {
    uint32_t line;
    uint64_t first, count;
    bool is_long; /* to be read when its turn comes */
};

struct thin_worker {
    struct cn_sample samples[CHUNK_COUNT];
    struct cn_thinner thinner;
};

struct thin_writer {
    struct cn_hpc_trace_lines *lines;
    const struct cn_hpc_value_job *job;
    const struct cn_hpc_trace_encoding *encoding;
    struct thin_unit *units;
    size_t unit_count, unit_capacity;
    struct thin_worker *workers;
    struct cn_failures failures;
    uint64_t done_count, sample_count;

    /* The line whose units are taken. */
    struct cn_thinner line;
    struct cn_hpc_trace_run run;
    uint32_t last_context;
    bool has_last;
    struct cn_sample *chunk;
    size_t chunk_count;
    uint8_t *bytes;
    uint64_t resolution_ns; /* the coarsest of all lines */
};

/* The lines of this process. */
static uint32_t own_first(const struct cn_hpc_value_job *job)
{
    return job->db->own_first > 0 ? job->db->own_first - 1 : 0;
}

static uint32_t own_end(const struct cn_hpc_value_job *job)
{
    return cn_database_own_end(job->db) - 1;
}

static void add_unit(struct thin_writer *t, struct thin_unit unit)
{
    CN_PUSH(t->units, t->unit_count, t->unit_capacity, unit);
    t->sample_count += unit.count;
}

static void plan_units(struct thin_writer *t)
{
    bool is_limited = t->job->options->timeline_sample_max > 0;

    for (uint32_t i = own_first(t->job); i < own_end(t->job); i++) {
        const struct cn_timeline *timeline = &t->lines->timelines[i];

        if (timeline->part_count < 2) {
            add_unit(t, (struct thin_unit){.line = i,
                                           .count = timeline->count,
                                           .is_long = !is_limited &&
                                                      timeline->count > LONG_COUNT});
            continue;
        }
        for (size_t part = 0; part < timeline->part_count; part++) {
            struct thin_unit unit = {.line = i};

            cn_timeline_part(t->job->db, timeline, part, &unit.first, &unit.count);
            add_unit(t, unit);
        }
    }
}

/* Prepare a thinner for a line, or for a unit of it. */
static void begin_line(const struct thin_writer *t, struct cn_thinner *thinner,
                       uint32_t line)
{
    const struct cn_write_options *options = t->job->options;
    const struct cn_timeline *timeline = &t->lines->timelines[line];

    thinner->sample_max = options->timeline_sample_max;
    cn_thinner_reset(thinner,
                     timeline->resolution_ns > options->timeline_resolution_ns
                         ? timeline->resolution_ns
                         : options->timeline_resolution_ns,
                     timeline->origin_ns);
}

/* Encode the samples of the chunk. */
static bool flush(struct thin_writer *t, struct cn_error *err)
{
    struct cn_spool *spool = &t->lines->spool;
    size_t len = 0;

    if (!t->encoding->encode(&t->run, t->chunk, t->chunk_count, t->bytes, &len, err) ||
        !cn_spool_write(spool, cn_spool_reserve(spool, len), t->bytes, len, err))
        return false;
    t->chunk_count = 0;
    return true;
}

/* Write a sample of the line, unless only the cells make it one. */
static bool emit(struct thin_writer *t, struct cn_sample sample, bool is_exact,
                 struct cn_error *err)
{
    if (t->has_last && !is_exact && sample.context == t->last_context)
        return true;
    t->has_last = true;
    t->last_context = sample.context;
    t->chunk[t->chunk_count++] = sample;
    return t->chunk_count < CHUNK_COUNT || flush(t, err);
}

/* Write all samples of the line but the last `left`. */
static bool emit_list(struct thin_writer *t, size_t left, struct cn_error *err)
{
    struct cn_thinner *line = &t->line;
    size_t count = line->count > left ? line->count - left : 0;

    for (size_t i = 0; i < count; i++)
        if (!emit(t, line->list[i], line->resolution_ns == 1, err))
            return false;
    for (size_t i = count; i < line->count; i++)
        line->list[i - count] = line->list[i];
    line->count -= count;
    return true;
}

/* Add samples to the line. Without a limit, all but the last are final. */
static bool add_to_line(struct thin_writer *t, const struct cn_sample *samples,
                        size_t count, struct cn_error *err)
{
    return cn_thinner_add(&t->line, samples, count, err) &&
           (t->line.sample_max > 0 || emit_list(t, 1, err));
}

/* Thin a unit into `worker`, or into the line if it is the turn of a long one. */
static bool read_unit(struct thin_writer *t, const struct thin_unit *unit,
                      struct thin_worker *worker, bool into_line, struct cn_error *err)
{
    for (uint64_t done = 0; done < unit->count;) {
        uint64_t left = unit->count - done;
        size_t count = left < CHUNK_COUNT ? (size_t)left : CHUNK_COUNT;

        if (!cn_progress_check(t->job->options->progress, "writing trace.db", err))
            return false;
        if (!cn_timeline_read(t->job->db, &t->lines->timelines[unit->line],
                              unit->first + done, count, worker->samples, err) ||
            !(into_line ? add_to_line(t, worker->samples, count, err)
                        : cn_thinner_add(&worker->thinner, worker->samples, count, err)))
            return cn_timeline_fail_in(t->job->db, unit->line + 1, err);
        done += count;
    }
    return true;
}

static void unit_run(void *arg, size_t job, unsigned number)
{
    struct thin_writer *t = arg;
    struct thin_worker *worker = &t->workers[number];

    begin_line(t, &worker->thinner, t->units[job].line);
    if (!cn_failures_stopped(&t->failures, number) && !t->units[job].is_long &&
        !read_unit(t, &t->units[job], worker, false,
                   cn_failures_error(&t->failures, number)))
        cn_failures_note(&t->failures, number, job);
}

static bool end_line(struct thin_writer *t, uint32_t line, uint64_t begin_off,
                     struct cn_error *err)
{
    cn_thinner_end(&t->line);
    if (!emit_list(t, 0, err) || !flush(t, err))
        return cn_fail_in(err, "profile %" PRIu32, line + 1);
    t->lines->lens[line] += t->lines->spool.end_off - begin_off;
    if (t->line.resolution_ns > t->resolution_ns)
        t->resolution_ns = t->line.resolution_ns;
    return true;
}

static bool take(struct thin_writer *t, size_t job, struct thin_worker *worker,
                 struct cn_error *err)
{
    const struct thin_unit *unit = &t->units[job];
    uint64_t begin_off = t->lines->spool.end_off;
    bool is_last = job + 1 == t->unit_count || t->units[job + 1].line != unit->line;

    if (job == 0 || t->units[job - 1].line != unit->line) {
        begin_line(t, &t->line, unit->line);
        t->run.has_last = false;
        t->has_last = false;
    }
    cn_thinner_coarsen(&t->line, worker->thinner.resolution_ns);
    if (!(unit->is_long
              ? read_unit(t, unit, worker, true, err)
              : add_to_line(t, worker->thinner.list, worker->thinner.count, err)))
        return false;
    if (is_last)
        return end_line(t, unit->line, begin_off, err);
    t->lines->lens[unit->line] += t->lines->spool.end_off - begin_off;
    return true;
}

static void unit_take(void *arg, size_t job, unsigned number)
{
    struct thin_writer *t = arg;
    struct cn_error *err = cn_failures_error(&t->failures, number);

    if (!cn_failures_share(&t->failures, number))
        return;
    t->done_count += t->units[job].count;
    if (!take(t, job, &t->workers[number], err) ||
        !cn_progress_report(t->job->options->progress, "writing trace.db", t->done_count,
                            t->sample_count, "samples", err))
        cn_failures_note(&t->failures, number, job);
}

static bool run_units(struct thin_writer *t, struct cn_error *err)
{
    struct cn_jobs jobs = {t->unit_count, t, unit_run, unit_take, NULL};
    unsigned count = t->job->workers;

    t->workers = cn_alloc(count, sizeof(*t->workers));
    cn_failures_init(&t->failures, count);
    cn_pool_run(&jobs, count);
    bool ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    for (unsigned i = 0; i < count; i++)
        free(t->workers[i].thinner.list);
    free(t->workers);
    return ok;
}

bool cn_hpc_trace_thin_encode(struct cn_hpc_trace_lines *lines,
                              const struct cn_hpc_value_job *job,
                              const struct cn_hpc_trace_encoding *encoding,
                              const struct cn_hpc_trace_contexts *contexts,
                              struct cn_error *err)
{
    struct thin_writer t = {
        .lines = lines,
        .job = job,
        .encoding = encoding,
        .run = {.contexts = *contexts, .keeps_all = !encoding->merges_pauses},
        .chunk = cn_alloc(CHUNK_COUNT, sizeof(*t.chunk)),
        .bytes = cn_alloc(CHUNK_COUNT, encoding->sample_len),
        .resolution_ns = job->options->timeline_resolution_ns,
    };
    bool ok = cn_spool_open(&lines->spool, job->dir, err);

    if (ok) {
        plan_units(&t);
        ok = run_units(&t, err);
    }
    lines->totals = (struct cn_hpc_trace_totals){
        .unlisted_count = t.run.unlisted_count,
        .begin_ns = t.run.has_span ? t.run.begin_ns : UINT64_MAX,
        .end_ns = t.run.end_ns,
        .resolution_ns = t.resolution_ns,
    };
    free(t.units);
    free(t.line.list);
    free(t.chunk);
    free(t.bytes);
    return ok;
}

static bool copy_line(const struct cn_spool *spool, uint64_t from, uint64_t to,
                      uint64_t len, const struct cn_out *out, struct cn_error *err)
{
    enum { COPY_LEN = 64 * 1024 };
    uint8_t *bytes = cn_alloc(COPY_LEN, 1);
    bool ok = true;

    for (uint64_t done = 0; ok && done < len;) {
        size_t more = len - done < COPY_LEN ? (size_t)(len - done) : COPY_LEN;

        ok = cn_spool_read(spool, from + done, bytes, more, err) &&
             cn_out_write_at(out, to + done, bytes, more, err);
        done += more;
    }
    free(bytes);
    return ok;
}

/* Reserve room for every line in the file; copy those of this process. */
bool cn_hpc_trace_thin_place(struct cn_hpc_trace_lines *lines,
                             const struct cn_hpc_value_job *job,
                             const struct cn_hpc_trace_encoding *encoding,
                             struct cn_out *out, struct cn_error *err)
{
    uint64_t spool_off = 0;

    for (uint32_t i = 0; i < lines->count; i++) {
        uint64_t off;

        if (!cn_out_reserve(out, cn_align_up(lines->lens[i], encoding->align), &off, err))
            return false;
        lines->lines[i].begin_off = off;
        if (i < own_first(job) || i >= own_end(job))
            continue;
        if (!copy_line(&lines->spool, spool_off, off, lines->lens[i], out, err))
            return false;
        spool_off += lines->lens[i];
    }
    return true;
}
