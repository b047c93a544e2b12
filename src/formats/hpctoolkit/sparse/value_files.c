#include "formats/hpctoolkit/sparse/value_files.h"

#include <inttypes.h>

#include "formats/hpctoolkit/values/planes_fill.h"

static struct cn_hpc_plane_record decode_profile(struct cn_bytes bytes, uint32_t number)
{
    struct cn_hpc_sparse_profile record = {0};

    (void)cn_hpc_sparse_profile_decode(bytes, &record);
    return (struct cn_hpc_plane_record){
        .value_count = record.value_count,
        .values_off = record.block_off,
        .index_off =
            record.block_off + record.value_count * cn_hpc_sparse_profile_value_size,
        .key_count = record.context_count,
        .tuple_off = record.tuple_off,
        .is_summary = number == 0,
    };
}

static bool decode_identity(struct cn_bytes bytes, struct cn_identity *out,
                            struct cn_error *err)
{
    struct cn_hpc_sparse_identity id = {0};

    (void)cn_hpc_sparse_identity_decode(bytes, &id);
    unsigned kind = id.kind & CN_HPC_SPARSE_KIND_MASK;
    if (kind >= CN_KINDS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "identity of kind %u, can read %d", kind,
                       CN_KINDS_MAX - 1);
    if (id.logical > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "logical id %" PRIu64 " of kind %u, can read %" PRIu32, id.logical,
                       kind, UINT32_MAX);
    out->kind = (uint8_t)kind;
    out->is_physical =
        (id.kind & CN_HPC_SPARSE_LOGICAL_ONLY) != CN_HPC_SPARSE_LOGICAL_ONLY;
    out->logical = (uint32_t)id.logical;
    out->physical = out->is_physical ? id.physical : id.logical;
    return true;
}

static bool fill_profile(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    return cn_hpc_profile_fill(read, &cn_hpc_sparse_profile_planes, err);
}

const struct cn_hpc_plane_encoding cn_hpc_sparse_profile_planes = {
    .owner = "profile",
    .key = "context",
    .record = &cn_hpc_sparse_profile_layout,
    .value = &cn_hpc_sparse_profile_value_layout,
    .index = &cn_hpc_sparse_profile_index_layout,
    .id_field = 1,
    .tuple = &cn_hpc_sparse_tuple_layout,
    .identity = &cn_hpc_sparse_identity_layout,
    .has_end = true,
    .end_key = CN_HPC_SPARSE_PROFILE_END,
    .decode_record = decode_profile,
    .decode_identity = decode_identity,
    .fill = fill_profile,
};

static struct cn_hpc_plane_record decode_context(struct cn_bytes bytes, uint32_t number)
{
    struct cn_hpc_sparse_context record = {0};

    (void)number;
    (void)cn_hpc_sparse_context_decode(bytes, &record);
    return (struct cn_hpc_plane_record){
        .value_count = record.value_count,
        .values_off = record.block_off,
        .index_off =
            record.block_off + record.value_count * cn_hpc_sparse_context_value_size,
        .key_count = record.metric_count,
    };
}

static bool fill_context(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    return cn_hpc_context_fill(read, &cn_hpc_sparse_context_planes, err);
}

const struct cn_hpc_plane_encoding cn_hpc_sparse_context_planes = {
    .owner = "context",
    .key = "metric",
    .record = &cn_hpc_sparse_context_layout,
    .value = &cn_hpc_sparse_context_value_layout,
    .index = &cn_hpc_sparse_context_index_layout,
    .id_field = 1,
    .has_end = true,
    .is_end_read = true,
    .end_key = CN_HPC_SPARSE_CONTEXT_END,
    .decode_record = decode_context,
    .fill = fill_context,
};

static struct cn_hpc_trace_record decode_trace(struct cn_bytes bytes)
{
    struct cn_hpc_sparse_trace record = {0};

    (void)cn_hpc_sparse_trace_decode(bytes, &record);
    return (struct cn_hpc_trace_record){record.profile,
                                        record.type == CN_HPC_SPARSE_TRACE_OF_CONTEXTS,
                                        record.begin_off, record.end_off};
}

static void decode_samples(struct cn_bytes samples, size_t count, struct cn_sample *out)
{
    struct cn_hpc_sparse_sample sample = {0};

    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_sparse_sample_decode(
            cn_bytes_element(samples, i, cn_hpc_sparse_sample_size), &sample);
        out[i] = (struct cn_sample){sample.time_ns, sample.context};
    }
}

const struct cn_hpc_sample_encoding cn_hpc_sparse_samples = {
    .record = &cn_hpc_sparse_trace_layout,
    .sample = &cn_hpc_sparse_sample_layout,
    .decode_record = decode_trace,
    .decode_samples = decode_samples,
};

struct cn_hpc_planes cn_hpc_sparse_planes(const struct cn_hpc_sparse_frame *frame,
                                          const struct cn_hpc_plane_encoding *encoding)
{
    return (struct cn_hpc_planes){
        .encoding = encoding,
        .file = frame->file,
        .file_len = frame->file.len,
        .records = frame->records,
    };
}

static bool blocks_overlap(const char *owner, const struct cn_hpc_table *records,
                           uint32_t i, uint64_t total, uint64_t file_len,
                           struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "%s %" PRIu32 " at 0x%" PRIx64 ": blocks overlap: %" PRIu64
                   " bytes of them in a file of %" PRIu64,
                   owner, i, cn_hpc_table_off(records, i), total, file_len);
}

bool cn_hpc_sparse_profiles_open(struct cn_content file, struct cn_hpc_planes *out,
                                 struct cn_error *err)
{
    struct cn_hpc_sparse_profile_header head;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_planes planes;
    struct cn_bytes start;
    uint64_t total = 0, values_len;

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_profile_kind, &frame, err))
        return false;
    planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_profile_planes);
    if (!cn_content_slice(file, 0, cn_hpc_sparse_profile_header_size, &start) ||
        !cn_hpc_sparse_profile_header_decode(start, &head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off");
    if (planes.records.count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profiles, not even a summary");
    if (!cn_content_keep(planes.file, head.tuples_off, head.tuples_len,
                         &planes.tuples.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuples of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit the file of %" PRIu64,
                       head.tuples_len, head.tuples_off, file.len);
    planes.tuples.off = head.tuples_off;
    for (uint32_t i = 0; i < planes.records.count; i++) {
        struct cn_hpc_plane_record record = cn_hpc_planes_record(&planes, i);
        uint64_t index_len =
            (uint64_t)record.key_count * cn_hpc_sparse_profile_index_size;

        /* One that cannot fit fails when it is read. */
        if (!cn_u64_mul(record.value_count, cn_hpc_sparse_profile_value_size,
                        &values_len) ||
            values_len > planes.file.len || index_len > planes.file.len)
            continue;
        total += values_len + index_len;
        if (total > planes.file.len)
            return blocks_overlap("profile", &planes.records, i, total, planes.file.len,
                                  err);
    }
    *out = planes;
    return true;
}

static bool is_zero(struct cn_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] != 0)
            return false;
    return true;
}

bool cn_hpc_sparse_cct_open(struct cn_content file, struct cn_hpc_planes *out,
                            bool *is_zeroed, struct cn_error *err)
{
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_planes planes;
    struct cn_bytes values;
    uint64_t total = 0, len;

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_cct_kind, &frame, err))
        return false;
    planes = cn_hpc_sparse_planes(&frame, &cn_hpc_sparse_context_planes);
    *is_zeroed = false;
    for (uint32_t i = 0; i < planes.records.count; i++) {
        struct cn_hpc_sparse_context record = {0};

        (void)cn_hpc_sparse_context_decode(cn_hpc_table_at(&planes.records, i), &record);
        if (record.context != i)
            return cn_fail(err, CN_ERR_FORMAT,
                           "context %" PRIu32 " at 0x%" PRIx64 ": has id %" PRIu32
                           ", ids must be dense and ascending",
                           i, cn_hpc_table_off(&planes.records, i), record.context);
        /* One that does not fit fails when it is read. */
        if (record.value_count == 0 ||
            !cn_u64_mul(record.value_count, cn_hpc_sparse_context_value_size, &len) ||
            !cn_content_has(planes.file, record.block_off, len))
            continue;
        if (total == 0 && cn_content_slice(planes.file, record.block_off, len, &values))
            *is_zeroed = is_zero(values);
        total += len;
        if (total > planes.file.len)
            return blocks_overlap("context", &planes.records, i, total, planes.file.len,
                                  err);
    }
    *out = planes;
    return true;
}

bool cn_hpc_sparse_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                               struct cn_error *err)
{
    struct cn_hpc_sparse_trace_header head;
    struct cn_hpc_sparse_frame frame;
    struct cn_hpc_traces traces;
    struct cn_bytes start;
    uint64_t total = 0;

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_trace_kind, &frame, err))
        return false;
    if (!cn_content_slice(file, 0, cn_hpc_sparse_trace_header_size, &start) ||
        !cn_hpc_sparse_trace_header_decode(start, &head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off");
    traces = (struct cn_hpc_traces){
        .encoding = &cn_hpc_sparse_samples,
        .file = frame.file,
        .file_len = frame.file.len,
        .records = frame.records,
        .begin_ns = head.begin_ns,
        .end_ns = head.end_ns,
    };
    for (uint32_t i = 0; i < traces.records.count; i++) {
        struct cn_hpc_trace_record record = cn_hpc_traces_record(&traces, i);

        /* One that does not fit fails when it is read. */
        if (record.end_off > traces.file.len || record.end_off < record.begin_off)
            continue;
        total += record.end_off - record.begin_off;
        if (total > traces.file.len)
            return blocks_overlap("trace", &traces.records, i, total, traces.file.len,
                                  err);
    }
    *out = traces;
    return true;
}
