/* trace.db: header, a record for each profile except the first, then the samples of each.
 * Record i belongs to profile i + 1, with or without samples: readers expect it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/write/writing.h"

static void put_sample(struct cn_sample sample, uint8_t *at)
{
    struct cn_hpc_sample record = {sample.time_ns, sample.context};

    cn_hpc_sample_encode(&record, at);
}

static bool encode(struct cn_hpc_trace_run *run, const struct cn_sample *samples,
                   size_t count, uint8_t *at, size_t *len, struct cn_error *err)
{
    return cn_hpc_trace_run_encode(run, samples, count, cn_hpc_sample_size, put_sample,
                                   at, len, err);
}

static const struct cn_hpc_trace_encoding encoding = {
    .sample_len = cn_hpc_sample_size,
    .align = 8,
    .merges_pauses = true,
    .encode = encode,
};

static bool write_records(const struct cn_hpc_trace_lines *lines, struct cn_out *out,
                          const struct cn_hpc_section *section, struct cn_error *err)
{
    struct cn_hpc_traces_header header = {
        .traces_off = section->off + cn_hpc_traces_header_size,
        .trace_count = lines->count,
        .trace_len = cn_hpc_trace_size,
        .begin_ns = lines->totals.begin_ns,
        .end_ns = lines->totals.end_ns,
    };
    uint8_t *bytes = cn_alloc((size_t)section->len, 1);

    cn_hpc_traces_header_encode(&header, bytes);
    for (uint32_t i = 0; i < lines->count; i++) {
        struct cn_hpc_trace record = {
            .profile = i + 1,
            .begin_off = lines->lines[i].begin_off,
            .end_off = lines->lines[i].end_off,
        };

        cn_hpc_trace_encode(&record,
                            bytes + cn_hpc_traces_header_size + i * cn_hpc_trace_size);
    }
    bool ok = cn_out_write_at(out, section->off, bytes, (size_t)section->len, err);
    free(bytes);
    return ok;
}

static struct cn_hpc_section section_of(const struct cn_hpc_trace_lines *lines)
{
    return (struct cn_hpc_section){
        .off = cn_hpc_header_len(CN_HPC_TRACE_SECTION_COUNT),
        .len = cn_hpc_traces_header_size + (uint64_t)lines->count * cn_hpc_trace_size,
    };
}

bool cn_hpc_traces_encode(const struct cn_hpc_writing *w,
                          struct cn_hpc_trace_lines *lines, struct cn_out *out,
                          struct cn_error *err)
{
    struct cn_hpc_value_job job = cn_hpc_writing_job(w);
    struct cn_hpc_trace_contexts contexts = {
        .listed = w->listed, .limit = w->db->context_limit, .count = w->context_count};
    struct cn_hpc_section section;

    if (!cn_hpc_trace_lines_open(lines, w->db, err))
        return false;
    section = section_of(lines);
    return cn_out_reserve(out, section.len, &section.off, err) &&
           cn_hpc_trace_lines_encode(lines, &job, &encoding, &contexts, out, err);
}

bool cn_hpc_traces_end(const struct cn_hpc_writing *w, struct cn_hpc_trace_lines *lines,
                       struct cn_out *out, struct cn_error *err)
{
    struct cn_hpc_value_job job = cn_hpc_writing_job(w);
    struct cn_hpc_section section = section_of(lines);

    return cn_hpc_trace_lines_place(lines, &job, &encoding, out, err) &&
           (!w->is_first ||
            (write_records(lines, out, &section, err) &&
             cn_hpc_file_end(out, CN_HPC_TRACE_FORMAT, CN_HPC_TRACE_FOOTER, &section,
                             CN_HPC_TRACE_SECTION_COUNT, err)));
}
