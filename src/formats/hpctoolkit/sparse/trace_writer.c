/* trace.db: header, one record for every profile but the first, then the samples of
 * each, one behind the other. Record i belongs to profile i + 1, with or without
 * samples. No footer: the file ends with its last sample.
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
    CHUNK_COUNT = 8192,
    SAMPLE_LEN = cn_hpc_sparse_sample_size,
    /* After this many samples, pages of mapped files that were read are given
     * back. */
    FORGET_EVERY = 4 * 1024 * 1024,
};

struct worker {
    struct cn_sample samples[CHUNK_COUNT];
    uint8_t bytes[CHUNK_COUNT * SAMPLE_LEN];
    bool has_span;
    uint64_t begin_ns, end_ns; /* of all samples this worker has written */
};

struct trace_writer {
    const struct cn_hpc_sparse_writing *w;
    struct cn_out out;
    struct cn_timeline *timelines; /* of profile i + 1, as the records */
    struct cn_hpc_sparse_trace *records;
    uint32_t count;
    uint64_t sample_count, done_count;
    uint64_t forgotten_count; /* samples done when pages were given back */
    struct worker *workers;
    struct cn_failures failures;
};

static bool open_timelines(struct trace_writer *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (!cn_timeline_open(t->w->db, i + 1, &t->timelines[i], err))
            return cn_fail_in(err, "profile %" PRIu32, i + 1);
        t->sample_count += t->timelines[i].count;
    }
    return true;
}

static void note_time(struct worker *self, uint64_t time_ns)
{
    if (!self->has_span || time_ns < self->begin_ns)
        self->begin_ns = time_ns;
    if (!self->has_span || time_ns > self->end_ns)
        self->end_ns = time_ns;
    self->has_span = true;
}

static bool encode(const struct trace_writer *t, struct worker *self, size_t count,
                   uint64_t *last_ns, struct cn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_sparse_sample record = {self->samples[i].time_ns,
                                              self->samples[i].context};

        if (record.time_ns < *last_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64,
                           record.time_ns, *last_ns);
        if (record.context == 0)
            record.context = t->w->idle_context;
        cn_hpc_sparse_sample_encode(&record, self->bytes + i * SAMPLE_LEN);
        note_time(self, record.time_ns);
        *last_ns = record.time_ns;
    }
    return true;
}

static bool write_line(struct trace_writer *t, size_t i, struct worker *self,
                       struct cn_error *err)
{
    const struct cn_timeline *timeline = &t->timelines[i];
    uint64_t last_ns = 0;

    for (uint64_t first = 0; first < timeline->count;) {
        uint64_t left = timeline->count - first;
        size_t count = left < CHUNK_COUNT ? (size_t)left : CHUNK_COUNT;

        if (!cn_timeline_read(t->w->db, timeline, first, count, self->samples, err) ||
            !encode(t, self, count, &last_ns, err) ||
            !cn_out_write_at(&t->out, t->records[i].begin_off + first * SAMPLE_LEN,
                             self->bytes, count * SAMPLE_LEN, err))
            return false;
        first += count;
    }
    return true;
}

static void line_run(void *arg, size_t job, unsigned worker)
{
    struct trace_writer *t = arg;
    struct cn_error *err = cn_failures_error(&t->failures, worker);

    if (cn_failures_stopped(&t->failures, worker))
        return;
    if (!write_line(t, job, &t->workers[worker], err)) {
        (void)cn_fail_in(err, "profile %zu", job + 1);
        cn_failures_note(&t->failures, worker, job);
    }
}

static void line_take(void *arg, size_t job, unsigned worker)
{
    struct trace_writer *t = arg;

    if (!cn_failures_share(&t->failures, worker))
        return;
    t->done_count += t->timelines[job].count;
    if (t->done_count - t->forgotten_count >= FORGET_EVERY) {
        cn_database_forget(t->w->db);
        t->forgotten_count = t->done_count;
    }
    if (!cn_progress_report(t->w->options->progress, "writing trace.db", t->done_count,
                            t->sample_count, "samples",
                            cn_failures_error(&t->failures, worker)))
        cn_failures_note(&t->failures, worker, job);
}

static bool write_lines(struct trace_writer *t, struct cn_hpc_sparse_trace_header *header,
                        struct cn_error *err)
{
    struct cn_jobs jobs = {t->count, t, line_run, line_take, NULL};
    bool has_span = false;
    bool ok;

    t->workers = cn_alloc(t->w->workers, sizeof(*t->workers));
    cn_failures_init(&t->failures, t->w->workers);
    cn_pool_run(&jobs, t->w->workers);
    ok = cn_failures_result(&t->failures, err);
    cn_failures_done(&t->failures);
    for (unsigned i = 0; t->w->has_time_range && i < t->w->workers; i++) {
        const struct worker *worker = &t->workers[i];

        if (!worker->has_span)
            continue;
        if (!has_span || worker->begin_ns < header->begin_ns)
            header->begin_ns = worker->begin_ns;
        if (!has_span || worker->end_ns > header->end_ns)
            header->end_ns = worker->end_ns;
        has_span = true;
    }
    free(t->workers);
    return ok;
}

static bool place_lines(struct trace_writer *t, struct cn_error *err)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t len;

        if (!cn_u64_mul(t->timelines[i].count, SAMPLE_LEN, &len) || len > INT64_MAX)
            return cn_fail(err, CN_ERR_LIMIT, "profile %" PRIu32 ": %" PRIu64 " samples",
                           i + 1, t->timelines[i].count);
        t->records[i].profile = i + 1;
        if (!cn_out_reserve(&t->out, len, &t->records[i].begin_off, err))
            return false;
        t->records[i].end_off = t->records[i].begin_off + len;
    }
    return true;
}

static bool write_records(struct trace_writer *t, struct cn_error *err)
{
    uint8_t *bytes = cn_alloc(t->count, cn_hpc_sparse_trace_size);
    bool ok;

    for (uint32_t i = 0; i < t->count; i++)
        cn_hpc_sparse_trace_encode(&t->records[i],
                                   bytes + (size_t)i * cn_hpc_sparse_trace_size);
    ok = cn_out_write_at(&t->out, CN_HPC_SPARSE_HEADER_LEN, bytes,
                         (size_t)t->count * cn_hpc_sparse_trace_size, err);
    free(bytes);
    return ok;
}

static bool write_file(struct trace_writer *t, struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_trace_kind;
    struct cn_hpc_sparse_trace_header range = {0};
    uint8_t header[cn_hpc_sparse_trace_header_size];

    if (!cn_hpc_sparse_file_begin(&t->out, t->w, kind, t->count, err) ||
        !place_lines(t, err) || !write_lines(t, &range, err) || !write_records(t, err))
        return false;
    cn_hpc_sparse_trace_header_encode(&range, header);
    cn_hpc_sparse_header_fill(
        kind, t->w->has_time_range ? CN_HPC_SPARSE_TIMED_MAJOR : CN_HPC_SPARSE_MAJOR,
        t->count, header);
    return cn_hpc_sparse_file_end(&t->out, kind, header, err);
}

bool cn_hpc_sparse_traces_write(const struct cn_hpc_sparse_writing *w,
                                struct cn_error *err)
{
    struct trace_writer t = {.w = w, .count = w->db->profile_count - 1};
    bool ok;

    if (!w->db->has_timelines)
        return true;
    t.timelines = cn_alloc(t.count, sizeof(*t.timelines));
    t.records = cn_alloc(t.count, sizeof(*t.records));
    ok = (open_timelines(&t, err) && (t.sample_count == 0 || write_file(&t, err))) ||
         cn_fail_in(err, "trace.db");
    cn_out_abandon(&t.out);
    free(t.timelines);
    free(t.records);
    return ok;
}
