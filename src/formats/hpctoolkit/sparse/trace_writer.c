/* trace.db: header, a record for each profile except the first, then the samples of each.
 * Record i belongs to profile i + 1, with or without samples. No footer: the file ends with
 * its last sample. */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "formats/hpctoolkit/values/trace_lines.h"

static void put_sample(struct cn_sample sample, uint8_t *at)
{
    struct cn_hpc_sparse_sample record = {sample.time_ns, sample.context};

    cn_hpc_sparse_sample_encode(&record, at);
}

static bool encode(struct cn_hpc_trace_run *run, const struct cn_sample *samples,
                   size_t count, uint8_t *at, size_t *len, struct cn_error *err)
{
    return cn_hpc_trace_run_encode(run, samples, count, cn_hpc_sparse_sample_size,
                                   put_sample, at, len, err);
}

static const struct cn_hpc_trace_encoding encoding = {
    .sample_len = cn_hpc_sparse_sample_size,
    .align = 1,
    .encode = encode,
};

static bool write_records(const struct cn_hpc_trace_lines *lines, struct cn_out *out,
                          struct cn_error *err)
{
    uint8_t *bytes = cn_alloc(lines->count, cn_hpc_sparse_trace_size);

    for (uint32_t i = 0; i < lines->count; i++) {
        struct cn_hpc_sparse_trace record = {
            .profile = i + 1,
            .begin_off = lines->lines[i].begin_off,
            .end_off = lines->lines[i].end_off,
        };

        cn_hpc_sparse_trace_encode(&record, bytes + (size_t)i * cn_hpc_sparse_trace_size);
    }
    bool ok = cn_out_write_at(out, CN_HPC_SPARSE_HEADER_LEN, bytes,
                              (size_t)lines->count * cn_hpc_sparse_trace_size, err);
    free(bytes);
    return ok;
}

static bool write_file(const struct cn_hpc_sparse_writing *w,
                       struct cn_hpc_trace_lines *lines, struct cn_out *out,
                       struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_trace_kind;
    struct cn_hpc_value_job job = cn_hpc_sparse_job(w, 0);
    struct cn_hpc_trace_contexts contexts = {.idle = w->idle_context};
    struct cn_hpc_sparse_trace_header range = {0};
    uint8_t header[cn_hpc_sparse_trace_header_size];
    uint8_t major = CN_HPC_SPARSE_MAJOR;

    if (!cn_hpc_sparse_file_begin(out, w, kind, lines->count, err) ||
        !cn_hpc_trace_lines_encode(lines, &job, &encoding, &contexts, out, err) ||
        !cn_hpc_trace_lines_place(lines, &job, &encoding, out, err) ||
        !write_records(lines, out, err))
        return false;
    if (w->has_time_range) {
        range.begin_ns = lines->totals.begin_ns;
        range.end_ns = lines->totals.end_ns;
        major = CN_HPC_SPARSE_TIMED_MAJOR;
    }
    cn_hpc_sparse_trace_header_encode(&range, header);
    cn_hpc_sparse_header_fill(kind, major, lines->count, header);
    return cn_hpc_sparse_file_end(out, kind, header, err);
}

bool cn_hpc_sparse_traces_write(const struct cn_hpc_sparse_writing *w,
                                struct cn_error *err)
{
    struct cn_hpc_trace_lines lines;
    struct cn_out out = {0};

    if (!w->db->has_timelines)
        return true;
    bool ok = (cn_hpc_trace_lines_open(&lines, w->db, err) &&
               write_file(w, &lines, &out, err)) ||
              cn_fail_in(err, "trace.db");
    cn_out_abandon(&out);
    cn_hpc_trace_lines_done(&lines);
    return ok;
}
