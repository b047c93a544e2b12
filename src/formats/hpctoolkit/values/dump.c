#include "formats/hpctoolkit/values/dump.h"

#include <inttypes.h>

#include "base/files/file.h"

/* Nothing but strings and a few shared structures is referred to more than once, so a dump
 * is about as long as its file. */
enum { REPEAT_MAX = 4 };

static bool emit(struct cn_hpc_dump *dump, struct cn_dump_item item, uint64_t len,
                 struct cn_error *err)
{
    item.file = dump->file;
    if (!cn_bytes_slice(dump->bytes, item.off, len, &item.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s of %" PRIu64 " bytes at 0x%" PRIx64
                       " does not fit the file of %zu",
                       item.layout->name, len, item.off, dump->bytes.len);
    dump->emitted_len += len;
    if (dump->emitted_len / REPEAT_MAX > dump->bytes.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 ": structures overlap: %" PRIu64
                       " bytes of them in a file of %zu",
                       item.layout->name, item.off, dump->emitted_len, dump->bytes.len);
    dump->is_stopped = !dump->emit(dump->arg, &item);
    return !dump->is_stopped;
}

bool cn_hpc_dump_item(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                      uint64_t off, uint64_t index, const char *text,
                      struct cn_error *err)
{
    struct cn_dump_item item = {
        .layout = layout, .off = off, .index = index, .text = text};

    return emit(dump, item, layout->size, err);
}

bool cn_hpc_dump_records(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
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
        if (!cn_hpc_dump_item(dump, layout, off + i * layout->size, i, NULL, err))
            return false;
    return true;
}

/* The field of a record that is called `name`, an offset. */
static uint64_t offset_of(const struct cn_record_layout *layout, struct cn_bytes record,
                          const char *name)
{
    for (size_t i = 0; i < layout->field_count; i++)
        if (strcmp(layout->fields[i].name, name) == 0) {
            const uint8_t *at = record.ptr + layout->fields[i].offset;

            return layout->is_big_endian ? cn_u64_be_get(at) : cn_u64_get(at);
        }
    return 0;
}

bool cn_hpc_dump_table(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                       const struct cn_hpc_table *table, struct cn_hpc_span strings,
                       const char *field, struct cn_error *err)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct cn_dump_item item = {
            .layout = layout, .off = cn_hpc_table_off(table, i), .index = i};
        uint64_t off = field ? offset_of(layout, cn_hpc_table_at(table, i), field) : 0;

        if (off != 0 && !cn_hpc_span_string(strings, off, "string", &item.text, err))
            return cn_fail_in(err, "%s at 0x%" PRIx64, layout->name, item.off);
        if (!emit(dump, item, table->stride, err))
            return false;
    }
    return true;
}

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

bool cn_hpc_dump_planes(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                        const struct cn_hpc_planes *planes, struct cn_error *err)
{
    for (uint32_t i = 0; i < planes->records.count; i++) {
        struct cn_dump_item item = {
            .layout = layout, .off = cn_hpc_table_off(&planes->records, i), .index = i};

        if (!emit(dump, item, planes->records.stride, err) ||
            !dump_plane(dump, planes, i, err))
            return cn_fail_in(err, "%s %" PRIu32, planes->encoding->owner, i);
    }
    return true;
}

bool cn_hpc_dump_traces(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                        const struct cn_record_layout *sample,
                        const struct cn_hpc_traces *traces, struct cn_error *err)
{
    for (uint32_t i = 0; i < traces->records.count; i++) {
        struct cn_dump_item item = {
            .layout = layout, .off = cn_hpc_table_off(&traces->records, i), .index = i};
        struct cn_timeline timeline;

        if (!emit(dump, item, traces->records.stride, err) ||
            !cn_hpc_traces_at(traces, i, &timeline, err) ||
            !cn_hpc_dump_records(dump, sample, timeline.at, timeline.count, err))
            return false;
    }
    return true;
}

bool cn_hpc_dump_file(struct cn_hpc_dump *dump, const char *dir, const char *name,
                      bool is_optional, cn_hpc_dump_fn contents, struct cn_error *err)
{
    struct cn_file file = {0};
    bool ok;

    if (dump->is_stopped)
        return true;
    if (!cn_file_open_at(&file, dir, name, err))
        return is_optional && err->kind == CN_ERR_NOT_FOUND;
    dump->file = name;
    dump->bytes = file.bytes;
    dump->emitted_len = 0;
    ok = contents(dump, err) || dump->is_stopped || cn_fail_in(err, "%s/%s", dir, name);
    cn_file_close(&file);
    return ok;
}
