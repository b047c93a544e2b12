#include <inttypes.h>

#include "formats/hpctoolkit/v4/dump/dump_emit.h"
#include "formats/hpctoolkit/v4/read/cct_reader.h"
#include "formats/hpctoolkit/v4/read/profile_reader.h"
#include "formats/hpctoolkit/v4/read/trace_reader.h"

/* `count` records of a fixed size at `off`, outside any section. */
static bool dump_records(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                         uint64_t off, uint64_t count, struct cn_error *err)
{
    struct cn_bytes array;

    if (count == 0)
        return true;
    if (!cn_bytes_array(dump->bytes, off, count, layout->size, &array))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " records %s at 0x%" PRIx64
                       " do not fit the file of %zu",
                       count, layout->name, off, dump->bytes.len);
    for (uint64_t i = 0; i < count; i++)
        if (!cn_hpc_dump_item(dump, layout, off + i * layout->size, layout->size, i, NULL,
                              err))
            return false;
    return true;
}

static bool dump_tuple(struct cn_hpc_dump *dump, struct cn_hpc_span section, uint64_t off,
                       struct cn_error *err)
{
    struct cn_hpc_tuple tuple;
    struct cn_bytes bytes;

    if (off == 0)
        return true;
    if (!cn_hpc_span_slice(section, off, cn_hpc_tuple_size, &bytes) ||
        !cn_hpc_tuple_decode(bytes, &tuple))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuple at 0x%" PRIx64 " does not fit section IdTuples",
                       off);
    return cn_hpc_dump_item(dump, &cn_hpc_tuple_layout, off, cn_hpc_tuple_size, 0, NULL,
                            err) &&
           dump_records(dump, &cn_hpc_identity_layout, off + cn_hpc_tuple_size,
                        tuple.id_count, err);
}

static bool dump_profile(struct cn_hpc_dump *dump, const struct cn_hpc_profiles *profiles,
                         uint32_t i, struct cn_error *err)
{
    const struct cn_record_layout *layout =
        profiles->has_flags ? &cn_hpc_profile_layout : &cn_hpc_draft_profile_layout;
    struct cn_hpc_profile record;

    return cn_hpc_profiles_record(profiles, i, &record, err) &&
           cn_hpc_dump_item(dump, layout, cn_hpc_table_off(&profiles->table, i),
                            profiles->table.stride, i, NULL, err) &&
           dump_tuple(dump, profiles->sections.list[CN_HPC_ID_TUPLES], record.tuple_off,
                      err) &&
           dump_records(dump, &cn_hpc_profile_index_layout, record.index_off,
                        record.context_count, err) &&
           dump_records(dump, &cn_hpc_profile_value_layout, record.values_off,
                        record.value_count, err);
}

bool cn_hpc_dump_profiles(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_profiles profiles;

    if (!cn_hpc_profiles_open(dump->bytes, &profiles, err) ||
        !cn_hpc_dump_item(dump, &cn_hpc_profiles_header_layout,
                          profiles.sections.list[CN_HPC_PROFILE_INFOS].off,
                          cn_hpc_profiles_header_size, 0, NULL, err))
        return false;
    for (uint32_t i = 0; i < profiles.table.count; i++)
        if (!dump_profile(dump, &profiles, i, err))
            return cn_fail_in(err, "profile %" PRIu32, i);
    return true;
}

static bool dump_context(struct cn_hpc_dump *dump, const struct cn_hpc_cct *cct,
                         uint32_t i, struct cn_error *err)
{
    struct cn_hpc_context_info record = {0};

    (void)cn_hpc_context_info_decode(cn_hpc_table_at(&cct->table, i), &record);
    return cn_hpc_dump_item(dump, &cn_hpc_context_info_layout,
                            cn_hpc_table_off(&cct->table, i), cct->table.stride, i, NULL,
                            err) &&
           dump_records(dump, &cn_hpc_context_index_layout, record.index_off,
                        record.metric_count, err) &&
           dump_records(dump, &cn_hpc_context_value_layout, record.values_off,
                        record.value_count, err);
}

bool cn_hpc_dump_cct(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_cct cct;

    if (!cn_hpc_cct_open(dump->bytes, &cct, err) ||
        !cn_hpc_dump_item(dump, &cn_hpc_context_infos_header_layout,
                          cct.sections.list[CN_HPC_CONTEXT_INFOS].off,
                          cn_hpc_context_infos_header_size, 0, NULL, err))
        return false;
    for (uint32_t i = 0; i < cct.table.count; i++)
        if (!dump_context(dump, &cct, i, err))
            return cn_fail_in(err, "context %" PRIu32, i);
    return true;
}

static bool dump_trace(struct cn_hpc_dump *dump, const struct cn_hpc_traces *traces,
                       uint32_t i, struct cn_error *err)
{
    uint64_t off = cn_hpc_table_off(&traces->table, i);
    struct cn_timeline timeline;

    return cn_hpc_dump_item(dump, &cn_hpc_trace_layout, off, traces->table.stride, i,
                            NULL, err) &&
           cn_hpc_traces_at(traces, i, &timeline, err) &&
           dump_records(dump, &cn_hpc_sample_layout, timeline.at, timeline.count, err);
}

bool cn_hpc_dump_traces(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_traces traces;

    if (!cn_hpc_traces_open(dump->bytes, &traces, err) ||
        !cn_hpc_dump_item(dump, &cn_hpc_traces_header_layout,
                          traces.sections.list[CN_HPC_TRACES].off,
                          cn_hpc_traces_header_size, 0, NULL, err))
        return false;
    for (uint32_t i = 0; i < traces.table.count; i++)
        if (!dump_trace(dump, &traces, i, err))
            return false;
    return true;
}
