#include "formats/hpctoolkit/v4/read/value_files.h"

#include "formats/hpctoolkit/v4/read/sections.h"

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

static struct cn_hpc_plane_entry decode_profile_entry(struct cn_bytes bytes)
{
    struct cn_hpc_profile_index entry = {0};

    (void)cn_hpc_profile_index_decode(bytes, &entry);
    return (struct cn_hpc_plane_entry){entry.context, entry.start};
}

static struct cn_hpc_plane_value decode_profile_value(struct cn_bytes bytes)
{
    struct cn_hpc_profile_value value = {0};

    (void)cn_hpc_profile_value_decode(bytes, &value);
    return (struct cn_hpc_plane_value){value.value, value.metric};
}

static uint16_t decode_id_count(struct cn_bytes bytes)
{
    struct cn_hpc_tuple tuple = {0};

    (void)cn_hpc_tuple_decode(bytes, &tuple);
    return tuple.id_count;
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

/* Values of one context that are still to be decoded. A copy of the cursor's position:
 * the compiler keeps it in registers, which it cannot do with the cursor itself. */
struct run {
    uint64_t at, end;
    uint64_t next; /* entry of the index that follows */
    uint32_t context;
};

static inline struct cn_hpc_profile_index entry_at(const struct cn_hpc_block *block,
                                                   uint64_t i)
{
    struct cn_hpc_profile_index entry = {.start = block->value_count};

    if (i < block->key_count)
        (void)cn_hpc_profile_index_decode(
            cn_bytes_element(block->index, i, cn_hpc_profile_index_size), &entry);
    return entry;
}

/* Move to the values of the next context. False when its entry is damaged. */
static inline bool begin_run(const struct cn_hpc_block *block, uint32_t context_limit,
                             struct run *run)
{
    struct cn_hpc_profile_index entry = entry_at(block, run->next);
    uint64_t end = entry_at(block, run->next + 1).start;

    if (entry.context >= context_limit || entry.start > end || end > block->value_count ||
        (run->next > 0 && entry.context <= entry_at(block, run->next - 1).context))
        return false;
    *run = (struct run){entry.start, end, run->next + 1, entry.context};
    return true;
}

/* Decode values of the current context into `out`, at most `room` of them. */
static inline size_t decode_run(const struct cn_hpc_block *block, struct run *run,
                                struct cn_value *out, size_t room)
{
    uint64_t left = run->end - run->at;
    size_t count = left < room ? (size_t)left : room;

    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_plane_value value = decode_profile_value(
            cn_bytes_element(block->values, run->at + i, cn_hpc_profile_value_size));

        out[i] = (struct cn_value){value.value, run->context, (uint16_t)value.id};
    }
    run->at += count;
    return count;
}

static bool fill_profile(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    const struct cn_hpc_block *block = &read->block;
    struct cn_value_cursor *cursor = read->cursor;
    struct run run = {cursor->at, cursor->run_end, cursor->index_at, cursor->key};
    uint64_t index_end = cursor->index_end;
    uint32_t limit = read->limit;
    size_t filled = 0;
    bool ok = true;

    while (ok && filled < CN_VALUE_BATCH) {
        if (run.at < run.end)
            filled +=
                decode_run(block, &run, cursor->batch + filled, CN_VALUE_BATCH - filled);
        else if (run.next == index_end ||
                 entry_at(block, run.next).context > cursor->last_key)
            break;
        else
            ok = begin_run(block, limit, &run);
    }
    cursor->at = run.at;
    cursor->run_end = run.end;
    cursor->index_at = run.next;
    cursor->key = run.context;
    read->count = filled;
    return ok || cn_hpc_block_bad_entry(block, run.next, limit, err);
}

const struct cn_hpc_plane_encoding cn_hpc_v4_profile_planes = {
    .owner = "profile",
    .key = "context",
    .value = &cn_hpc_profile_value_layout,
    .index = &cn_hpc_profile_index_layout,
    .tuple = &cn_hpc_tuple_layout,
    .identity = &cn_hpc_identity_layout,
    .decode_record = decode_profile,
    .decode_entry = decode_profile_entry,
    .decode_value = decode_profile_value,
    .decode_id_count = decode_id_count,
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

static struct cn_hpc_plane_entry decode_context_entry(struct cn_bytes bytes)
{
    struct cn_hpc_context_index entry = {0};

    (void)cn_hpc_context_index_decode(bytes, &entry);
    return (struct cn_hpc_plane_entry){entry.metric, entry.start};
}

static struct cn_hpc_plane_value decode_context_value(struct cn_bytes bytes)
{
    struct cn_hpc_context_value value = {0};

    (void)cn_hpc_context_value_decode(bytes, &value);
    return (struct cn_hpc_plane_value){value.value, value.profile};
}

static bool fill_context(struct cn_hpc_plane_read *read, struct cn_error *err)
{
    return cn_hpc_context_fill(read, &cn_hpc_v4_context_planes, err);
}

const struct cn_hpc_plane_encoding cn_hpc_v4_context_planes = {
    .owner = "context",
    .key = "metric",
    .value = &cn_hpc_context_value_layout,
    .index = &cn_hpc_context_index_layout,
    .decode_record = decode_context,
    .decode_entry = decode_context_entry,
    .decode_value = decode_context_value,
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

const struct cn_hpc_sample_encoding cn_hpc_v4_samples = {
    .sample_len = cn_hpc_sample_size,
    .decode_record = decode_trace,
    .decode_samples = decode_samples,
};

static bool open_planes(const struct cn_hpc_sections *sections,
                        const struct cn_hpc_plane_encoding *encoding,
                        const struct cn_hpc_array *array, struct cn_hpc_planes *out,
                        struct cn_error *err)
{
    struct cn_hpc_planes planes = {
        .encoding = encoding,
        .file = sections->file,
        .file_len = sections->file.len + CN_HPC_FOOTER_LEN,
    };

    if (!cn_hpc_table_open(sections->list[0], array, &planes.records, err))
        return false;
    *out = planes;
    return true;
}

bool cn_hpc_v4_profiles_open(struct cn_content file, struct cn_hpc_planes *out,
                             struct cn_error *err)
{
    struct cn_hpc_profiles_header head;
    struct cn_hpc_sections sections;

    if (!cn_hpc_sections_open(file, &cn_hpc_profile_kind, &sections, err))
        return false;
    if (!cn_hpc_profiles_header_decode(sections.list[CN_HPC_PROFILE_INFOS].bytes, &head))
        return cn_hpc_section_too_short(&sections, CN_HPC_PROFILE_INFOS, err);
    if (head.profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profiles, not even a summary");
    if (!open_planes(&sections, &cn_hpc_v4_profile_planes,
                     &(struct cn_hpc_array){"profiles", head.profiles_off,
                                            head.profile_count, head.profile_len,
                                            cn_hpc_draft_profile_size},
                     out, err))
        return false;
    out->tuples = sections.list[CN_HPC_ID_TUPLES];
    return true;
}

bool cn_hpc_v4_cct_open(struct cn_content file, struct cn_hpc_planes *out,
                        struct cn_error *err)
{
    struct cn_hpc_context_infos_header head;
    struct cn_hpc_sections sections;

    if (!cn_hpc_sections_open(file, &cn_hpc_cct_kind, &sections, err))
        return false;
    if (!cn_hpc_context_infos_header_decode(sections.list[CN_HPC_CONTEXT_INFOS].bytes,
                                            &head))
        return cn_hpc_section_too_short(&sections, CN_HPC_CONTEXT_INFOS, err);
    return open_planes(&sections, &cn_hpc_v4_context_planes,
                       &(struct cn_hpc_array){"contexts", head.infos_off,
                                              head.context_count, head.info_len,
                                              cn_hpc_context_info_size},
                       out, err);
}

bool cn_hpc_v4_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                           struct cn_error *err)
{
    struct cn_hpc_traces traces = {.encoding = &cn_hpc_v4_samples, .file_len = file.len};
    struct cn_hpc_traces_header head;
    struct cn_hpc_sections sections;

    if (!cn_hpc_sections_open(file, &cn_hpc_trace_kind, &sections, err))
        return false;
    if (!cn_hpc_traces_header_decode(sections.list[CN_HPC_TRACES].bytes, &head))
        return cn_hpc_section_too_short(&sections, CN_HPC_TRACES, err);
    if (!cn_hpc_table_open(sections.list[CN_HPC_TRACES],
                           &(struct cn_hpc_array){"traces", head.traces_off,
                                                  head.trace_count, head.trace_len,
                                                  cn_hpc_trace_size},
                           &traces.records, err))
        return false;
    traces.file = sections.file;
    traces.begin_ns = head.begin_ns;
    traces.end_ns = head.end_ns;
    *out = traces;
    return true;
}
