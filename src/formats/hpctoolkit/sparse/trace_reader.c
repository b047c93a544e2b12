#include "formats/hpctoolkit/sparse/trace_reader.h"

#include <inttypes.h>

struct cn_hpc_sparse_trace
cn_hpc_sparse_traces_record(const struct cn_hpc_sparse_traces *traces, uint32_t index)
{
    struct cn_hpc_sparse_trace record = {0};

    (void)cn_hpc_sparse_trace_decode(
        cn_bytes_element(traces->frame.records, index, cn_hpc_sparse_trace_size),
        &record);
    return record;
}

uint64_t cn_hpc_sparse_traces_off(const struct cn_hpc_sparse_traces *traces,
                                  uint32_t index)
{
    return traces->frame.head.infos_off + (uint64_t)index * cn_hpc_sparse_trace_size;
}

/* Traces that add up to more than the file would make its work more than linear. */
static bool check_apart(const struct cn_hpc_sparse_traces *traces, struct cn_error *err)
{
    uint64_t total = 0;

    for (uint32_t i = 0; i < traces->frame.head.count; i++) {
        struct cn_hpc_sparse_trace record = cn_hpc_sparse_traces_record(traces, i);

        /* One that does not fit says so when it is read. */
        if (record.end_off > traces->frame.file.len || record.end_off < record.begin_off)
            continue;
        total += record.end_off - record.begin_off;
        if (total > traces->frame.file.len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "trace %" PRIu32 " at 0x%" PRIx64 ": traces overlap: %" PRIu64
                           " bytes of them in a file of %zu",
                           i, cn_hpc_sparse_traces_off(traces, i), total,
                           traces->frame.file.len);
    }
    return true;
}

bool cn_hpc_sparse_traces_open(struct cn_bytes file, struct cn_hpc_sparse_traces *out,
                               struct cn_error *err)
{
    struct cn_hpc_sparse_traces traces = {0};
    struct cn_hpc_sparse_trace_header head;

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_trace_kind, &traces.frame, err))
        return false;
    if (!cn_hpc_sparse_trace_header_decode(file, &head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off");
    if (!check_apart(&traces, err))
        return false;
    traces.begin_ns = head.begin_ns;
    traces.end_ns = head.end_ns;
    *out = traces;
    return true;
}

bool cn_hpc_sparse_traces_at(const struct cn_hpc_sparse_traces *traces, uint32_t index,
                             struct cn_timeline *out, struct cn_error *err)
{
    struct cn_hpc_sparse_trace trace = cn_hpc_sparse_traces_record(traces, index);
    uint64_t off = cn_hpc_sparse_traces_off(traces, index);
    struct cn_bytes samples = {0};

    /* The place of an empty trace does not matter: writers leave it behind the
     * end. */
    if (trace.begin_off != trace.end_off &&
        (trace.end_off < trace.begin_off ||
         !cn_bytes_slice(traces->frame.file, trace.begin_off,
                         trace.end_off - trace.begin_off, &samples)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64 ": samples from 0x%" PRIx64
                       " to 0x%" PRIx64 " do not fit the file of %zu",
                       index, off, trace.begin_off, trace.end_off,
                       traces->frame.file.len);
    if (samples.len % cn_hpc_sparse_sample_size != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "trace %" PRIu32 " at 0x%" PRIx64
                       ": %zu bytes of samples are no multiple of %u",
                       index, off, samples.len, cn_hpc_sparse_sample_size);
    *out = (struct cn_timeline){.count = samples.len / cn_hpc_sparse_sample_size,
                                .at = trace.begin_off};
    return true;
}

static bool belongs_to(const struct cn_hpc_sparse_traces *traces, uint32_t index,
                       uint32_t profile)
{
    struct cn_hpc_sparse_trace trace = cn_hpc_sparse_traces_record(traces, index);

    return trace.profile == profile && trace.type == CN_HPC_SPARSE_TRACE_OF_CONTEXTS;
}

bool cn_hpc_sparse_traces_find(const struct cn_hpc_sparse_traces *traces,
                               uint32_t profile, struct cn_timeline *out,
                               struct cn_error *err)
{
    uint32_t usual = profile - 1; /* wraps for profile 0, and is then no index */
    uint32_t count = traces->frame.head.count;

    /* Writers list one trace for every profile but the summary, in order; the format
     * does not promise it. */
    if (usual < count && belongs_to(traces, usual, profile))
        return cn_hpc_sparse_traces_at(traces, usual, out, err);
    for (uint32_t i = 0; i < count; i++)
        if (belongs_to(traces, i, profile))
            return cn_hpc_sparse_traces_at(traces, i, out, err);
    *out = (struct cn_timeline){0};
    return true;
}

bool cn_hpc_sparse_traces_samples(const struct cn_hpc_sparse_traces *traces,
                                  const struct cn_timeline *timeline, uint64_t first,
                                  size_t count, struct cn_sample *out,
                                  struct cn_error *err)
{
    uint64_t off = timeline->at + first * cn_hpc_sparse_sample_size;
    struct cn_hpc_sparse_sample sample = {0};
    struct cn_bytes samples;

    if (count == 0)
        return true;
    if (!cn_bytes_array(traces->frame.file, off, count, cn_hpc_sparse_sample_size,
                        &samples))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%zu samples at 0x%" PRIx64 " do not fit the file", count, off);
    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_sparse_sample_decode(
            cn_bytes_element(samples, i, cn_hpc_sparse_sample_size), &sample);
        out[i] = (struct cn_sample){sample.time_ns, sample.context};
    }
    return true;
}
