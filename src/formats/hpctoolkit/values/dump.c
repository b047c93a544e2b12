#include "formats/hpctoolkit/values/dump.h"

#include <inttypes.h>

static bool dump_tuple(struct cn_hpc_dump *dump, const struct cn_hpc_planes *planes,
                       uint64_t off, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = planes->encoding;
    struct cn_bytes ids;
    uint16_t count;

    return cn_hpc_planes_tuple(planes, off, &count, &ids, err) &&
           cn_hpc_dump_item(dump, e->tuple, off, 0, NULL, err) &&
           cn_hpc_dump_records(dump, e->identity, off + e->tuple->size, count, err);
}

static bool dump_plane(struct cn_hpc_dump *dump, const struct cn_hpc_planes *planes,
                       uint32_t number, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = planes->encoding;
    struct cn_hpc_plane_record record = cn_hpc_planes_record(planes, number);
    uint64_t entry_count = record.key_count;
    struct cn_bytes values;

    if (record.tuple_off != 0 && !dump_tuple(dump, planes, record.tuple_off, err))
        return false;
    if (record.value_count == 0 && record.key_count == 0)
        return true;
    /* An index with an end follows the values: it is where they end. */
    if (e->has_end && record.value_count > 0 &&
        !cn_bytes_array(dump->bytes, record.values_off, record.value_count,
                        e->value->size, &values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64 " do not fit the file of %zu",
                       record.value_count, record.values_off, dump->bytes.len);
    return cn_hpc_dump_records(dump, e->index, record.index_off, entry_count + e->has_end,
                               err) &&
           cn_hpc_dump_records(dump, e->value, record.values_off, record.value_count,
                               err);
}

bool cn_hpc_dump_planes(struct cn_hpc_dump *dump, const struct cn_hpc_planes *planes,
                        struct cn_error *err)
{
    const struct cn_record_layout *layout = planes->encoding->record;

    if (planes->records.stride < layout->size)
        layout = planes->encoding->draft;
    for (uint32_t i = 0; i < planes->records.count; i++) {
        if (!cn_hpc_dump_item(dump, layout, cn_hpc_table_off(&planes->records, i), i,
                              NULL, err) ||
            !dump_plane(dump, planes, i, err))
            return cn_fail_in(err, "%s %" PRIu32, planes->encoding->owner, i);
    }
    return true;
}

bool cn_hpc_dump_traces(struct cn_hpc_dump *dump, const struct cn_hpc_traces *traces,
                        struct cn_error *err)
{
    for (uint32_t i = 0; i < traces->records.count; i++) {
        struct cn_timeline timeline;

        if (!cn_hpc_dump_item(dump, traces->encoding->record,
                              cn_hpc_table_off(&traces->records, i), i, NULL, err) ||
            !cn_hpc_traces_at(traces, i, &timeline, err) ||
            !cn_hpc_dump_records(dump, traces->encoding->sample, timeline.at,
                                 timeline.count, err))
            return false;
    }
    return true;
}
