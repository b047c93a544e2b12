#include "formats/hpctoolkit/v4/read/value_files.h"

#include "formats/hpctoolkit/values/planes_fill.h"

static struct cn_hpc_plane_record decode_profile(struct cn_bytes bytes, uint32_t number)
{
    struct cn_hpc_draft_profile record = {0}; /* the start of the final layout as well */
    struct cn_hpc_profile final = {.flags = number == 0 ? CN_HPC_IS_SUMMARY : 0};

    (void)cn_hpc_draft_profile_decode(bytes, &record);
    (void)cn_hpc_profile_decode(bytes, &final);
    return (struct cn_hpc_plane_record){
        .value_count = record.value_count,
        .values_off = record.values_off,
        .index_off = record.index_off,
        .key_count = record.context_count,
        .tuple_off = record.tuple_off,
        .is_summary = final.flags & CN_HPC_IS_SUMMARY,
    };
}

static bool decode_identity(struct cn_bytes bytes, struct cn_identity *out,
                            struct cn_error *err)
{
    struct cn_hpc_identity id = {0};

    (void)err;
    (void)cn_hpc_identity_decode(bytes, &id);
    *out = (struct cn_identity){
        .kind = id.kind,
        .is_physical = id.flags & CN_HPC_IS_PHYSICAL,
        .logical = id.logical,
        .physical = id.flags & CN_HPC_IS_PHYSICAL ? id.physical : id.logical,
    };
    return true;
}

static const struct cn_hpc_plane_encoding profile_planes, context_planes;

static bool fill_profile(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    return cn_hpc_profile_fill(read, &profile_planes, err);
}

static const struct cn_hpc_plane_encoding profile_planes = {
    .owner = "profile",
    .key = "context",
    .record = &cn_hpc_profile_layout,
    .draft = &cn_hpc_draft_profile_layout,
    .value = &cn_hpc_profile_value_layout,
    .index = &cn_hpc_profile_index_layout,
    .is_sorted = true,
    .tuple = &cn_hpc_tuple_layout,
    .identity = &cn_hpc_identity_layout,
    .decode_record = decode_profile,
    .decode_identity = decode_identity,
    .fill = fill_profile,
};

static struct cn_hpc_plane_record decode_context(struct cn_bytes bytes, uint32_t number)
{
    struct cn_hpc_context_info record = {0};

    (void)number;
    (void)cn_hpc_context_info_decode(bytes, &record);
    return (struct cn_hpc_plane_record){
        .value_count = record.value_count,
        .values_off = record.values_off,
        .index_off = record.index_off,
        .key_count = record.metric_count,
    };
}

static bool fill_context(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    return cn_hpc_context_fill(read, &context_planes, err);
}

static const struct cn_hpc_plane_encoding context_planes = {
    .owner = "context",
    .key = "metric",
    .record = &cn_hpc_context_info_layout,
    .value = &cn_hpc_context_value_layout,
    .index = &cn_hpc_context_index_layout,
    .decode_record = decode_context,
    .fill = fill_context,
};

static struct cn_hpc_trace_record decode_trace(struct cn_bytes bytes)
{
    struct cn_hpc_trace record = {0};

    (void)cn_hpc_trace_decode(bytes, &record);
    return (struct cn_hpc_trace_record){record.profile, true, record.begin_off,
                                        record.end_off};
}

static void decode_samples(struct cn_bytes samples, size_t count, struct cn_sample *out)
{
    struct cn_hpc_sample sample = {0};

    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_sample_decode(cn_bytes_element(samples, i, cn_hpc_sample_size),
                                   &sample);
        out[i] = (struct cn_sample){sample.time_ns, sample.context};
    }
}

static const struct cn_hpc_sample_encoding samples_encoding = {
    .record = &cn_hpc_trace_layout,
    .sample = &cn_hpc_sample_layout,
    .decode_record = decode_trace,
    .decode_samples = decode_samples,
};

struct cn_hpc_planes cn_hpc_v4_planes(const struct cn_hpc_sections *sections)
{
    bool is_profile = sections->kind == &cn_hpc_profile_kind;
    struct cn_hpc_planes planes = {
        .encoding = is_profile ? &profile_planes : &context_planes,
        .file = sections->file,
        .file_len = sections->file.len + CN_HPC_FOOTER_LEN,
    };

    if (is_profile)
        planes.tuples = sections->list[CN_HPC_ID_TUPLES];
    return planes;
}

struct cn_hpc_traces cn_hpc_v4_traces(const struct cn_hpc_sections *sections)
{
    struct cn_hpc_traces_header head = {0};

    (void)cn_hpc_traces_header_decode(sections->list[CN_HPC_TRACES].bytes, &head);
    return (struct cn_hpc_traces){
        .encoding = &samples_encoding,
        .file = sections->file,
        .file_len = sections->file.len + CN_HPC_FOOTER_LEN,
        .begin_ns = head.begin_ns,
        .end_ns = head.end_ns,
    };
}

static bool open_records(struct cn_content file, const struct cn_hpc_file_kind *kind,
                         struct cn_hpc_sections *sections, struct cn_hpc_table *out,
                         struct cn_error *err)
{
    struct cn_hpc_array array;

    return cn_hpc_sections_open(file, kind, sections, err) &&
           cn_hpc_sections_records(sections, &array, err) &&
           cn_hpc_table_open(sections->list[0], &array, out, err);
}

bool cn_hpc_v4_planes_open(struct cn_content file, const struct cn_hpc_file_kind *kind,
                           struct cn_hpc_planes *out, struct cn_error *err)
{
    struct cn_hpc_sections sections;
    struct cn_hpc_table records;

    if (!open_records(file, kind, &sections, &records, err))
        return false;
    if (kind == &cn_hpc_profile_kind && records.count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profiles, not even a summary");
    *out = cn_hpc_v4_planes(&sections);
    out->records = records;
    return true;
}

bool cn_hpc_v4_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                           struct cn_error *err)
{
    struct cn_hpc_sections sections;
    struct cn_hpc_table records;

    if (!open_records(file, &cn_hpc_trace_kind, &sections, &records, err))
        return false;
    *out = cn_hpc_v4_traces(&sections);
    out->records = records;
    return true;
}
