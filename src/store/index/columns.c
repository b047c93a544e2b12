#include "store/index/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { HEAD_LEN = 24, PAD_LEN = 8, SECTION_COUNT_ID = 0, SECTION_SLOTS_ID = 64 };
enum { SLOT_LEN = sizeof(uint32_t) };

static uint64_t slot_count_of(uint32_t row_count)
{
    return row_count + (uint64_t)row_count / 3 + 1;
}

static uint64_t first_slot(uint64_t id_low, uint64_t slot_count)
{
    return (id_low * UINT64_C(0x9e3779b97f4a7c15) >> 32) * slot_count >> 32;
}

static uint64_t mask_of(size_t width)
{
    return width == 0 ? 0 : UINT64_MAX >> (64 - 8 * width);
}

void cn_columns_of_rows(struct cn_columns *columns, struct cn_bytes rows)
{
    *columns = (struct cn_columns){
        .row_count = (uint32_t)(rows.len / cn_store_row_size),
    };
    for (unsigned i = 0; i < CN_STORE_FIELD_COUNT; i++) {
        const struct cn_field *field = &cn_store_row_fields[i];

        /* A value is read as 8 bytes, which the last field does not have. */
        if (field->offset + sizeof(uint64_t) > cn_store_row_size)
            continue;
        columns->fields[i] = (struct cn_store_column){
            .bytes = {rows.ptr ? rows.ptr + field->offset : NULL, rows.len},
            .stride = cn_store_row_size,
            .mask = mask_of(field->size),
        };
    }
}

void cn_columns_range(const struct cn_columns *columns, enum cn_store_field field,
                      uint64_t *lowest, uint64_t *highest)
{
    const struct cn_store_column *column = &columns->fields[field];

    *lowest = columns->file ? column->lowest : UINT64_MAX;
    *highest = columns->file ? column->highest : 0;
    for (uint32_t row = 0; !columns->file && row < columns->row_count; row++) {
        uint64_t value = cn_store_column_at(column, row);

        *lowest = value < *lowest ? value : *lowest;
        *highest = value > *highest ? value : *highest;
    }
}

static bool open_field(struct cn_columns *columns, unsigned i, struct cn_error *err)
{
    struct cn_bytes section, head, values;

    if (!cn_block_file_section(columns->file, i + 1, &section, err))
        return false;
    if (!cn_bytes_slice(section, 0, HEAD_LEN, &head))
        return cn_fail(err, CN_ERR_FORMAT, "column %s is truncated",
                       cn_store_row_fields[i].name);
    if (!cn_block_file_check(columns->file, head, err))
        return false;
    uint64_t width = cn_u64_get(head.ptr + sizeof(uint64_t));
    if (width > sizeof(uint64_t) ||
        !cn_bytes_slice(section, HEAD_LEN, columns->row_count * width + PAD_LEN, &values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "column %s is too short for %" PRIu32 " values of %" PRIu64
                       " bytes",
                       cn_store_row_fields[i].name, columns->row_count, width);
    columns->fields[i] = (struct cn_store_column){
        .bytes = values,
        .stride = (size_t)width,
        .mask = mask_of((size_t)width),
        .lowest = cn_u64_get(head.ptr),
        .highest = cn_u64_get(head.ptr + 2 * sizeof(uint64_t)),
    };
    return true;
}

bool cn_columns_open(struct cn_columns *columns, const struct cn_block_file *file,
                     struct cn_error *err)
{
    struct cn_columns opened = {.file = file};
    struct cn_error ignored = {0};
    struct cn_bytes section;

    if (!cn_block_file_section(file, SECTION_COUNT_ID, &section, err))
        return false;
    if (section.len < sizeof(uint64_t) || !cn_block_file_check(file, section, err) ||
        cn_u64_get(section.ptr) > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "the number of rows is missing");
    opened.row_count = (uint32_t)cn_u64_get(section.ptr);
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (!open_field(&opened, i, err))
            return false;
    }
    if (!cn_block_file_section(file, SECTION_SLOTS_ID, &opened.slots, &ignored) ||
        opened.slots.len != slot_count_of(opened.row_count) * SLOT_LEN)
        opened.slots = (struct cn_bytes){0};
    *columns = opened;
    return true;
}

bool cn_columns_field(const struct cn_columns *columns, enum cn_store_field field,
                      struct cn_store_column *out, struct cn_error *err)
{
    const struct cn_store_column *column = &columns->fields[field];

    if (columns->file && !cn_block_file_check(columns->file, column->bytes, err))
        return false;
    *out = *column;
    return true;
}

static bool check_value(const struct cn_columns *columns, unsigned field, uint32_t row,
                        struct cn_error *err)
{
    const struct cn_store_column *column = &columns->fields[field];
    struct cn_bytes value;

    return !columns->file ||
           (cn_bytes_slice(column->bytes, row * (uint64_t)column->stride,
                           sizeof(uint64_t), &value) &&
            cn_block_file_check(columns->file, value, err));
}

bool cn_columns_row(const struct cn_columns *columns, uint32_t row,
                    struct cn_store_row *out, struct cn_error *err)
{
    uint8_t bytes[cn_store_row_size] = {0};

    assert(row < columns->row_count);
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (!check_value(columns, i, row, err))
            return false;
        uint64_t value = cn_store_column_at(&columns->fields[i], row);
        if (cn_store_row_fields[i].size == sizeof(uint64_t))
            cn_u64_put(bytes + cn_store_row_fields[i].offset, value);
        else
            cn_u32_put(bytes + cn_store_row_fields[i].offset, (uint32_t)value);
    }
    return cn_store_row_decode((struct cn_bytes){bytes, sizeof(bytes)}, out);
}

static bool trace_at(const struct cn_columns *columns, uint32_t row, uint64_t *high,
                     uint64_t *low)
{
    struct cn_error ignored = {0};

    if (!check_value(columns, CN_STORE_FIELD_trace_high, row, &ignored) ||
        !check_value(columns, CN_STORE_FIELD_trace_low, row, &ignored))
        return false;
    *high = cn_store_column_at(&columns->fields[CN_STORE_FIELD_trace_high], row);
    *low = cn_store_column_at(&columns->fields[CN_STORE_FIELD_trace_low], row);
    return true;
}

/* Called without `visit` first, so that no row of a damaged table is visited. */
static bool probe_trace(const struct cn_columns *columns, uint64_t high, uint64_t low,
                        cn_columns_visit visit, void *arg)
{
    uint64_t slot_count = columns->slots.len / SLOT_LEN;
    uint64_t slot = first_slot(low, slot_count), row_high, row_low;
    struct cn_error ignored = {0};

    for (uint64_t i = 0; i < slot_count; i++) {
        struct cn_bytes at = cn_bytes_element(columns->slots, slot, SLOT_LEN);

        if (!cn_block_file_check(columns->file, at, &ignored))
            return false;
        uint32_t row = cn_u32_get(at.ptr);
        if (row == 0)
            return true;
        if (row > columns->row_count || !trace_at(columns, row - 1, &row_high, &row_low))
            return false;
        if (visit && row_high == high && row_low == low)
            visit(arg, row - 1);
        slot = slot + 1 < slot_count ? slot + 1 : 0;
    }
    return true;
}

bool cn_columns_find_trace(const struct cn_columns *columns, uint64_t high, uint64_t low,
                           cn_columns_visit visit, void *arg)
{
    return columns->slots.len > 0 && probe_trace(columns, high, low, NULL, NULL) &&
           probe_trace(columns, high, low, visit, arg);
}

static bool write_slots(struct cn_block_writer *writer, const struct cn_columns *columns,
                        struct cn_error *err)
{
    uint64_t slot_count = slot_count_of(columns->row_count);
    uint8_t *slots = cn_alloc((size_t)slot_count, SLOT_LEN);

    for (uint32_t row = 0; row < columns->row_count; row++) {
        uint64_t low =
            cn_store_column_at(&columns->fields[CN_STORE_FIELD_trace_low], row);
        uint64_t slot = first_slot(low, slot_count);

        while (cn_u32_get(slots + slot * SLOT_LEN) != 0)
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        cn_u32_put(slots + slot * SLOT_LEN, row + 1);
    }
    bool ok = cn_block_writer_section(writer, SECTION_SLOTS_ID, err) &&
              cn_block_writer_add(writer, slots, (size_t)slot_count * SLOT_LEN, err);
    free(slots);
    return ok;
}

static bool write_field(struct cn_block_writer *writer, uint32_t row_count,
                        const struct cn_store_column *column, struct cn_error *err)
{
    uint64_t lowest = row_count > 0 ? UINT64_MAX : 0, highest = 0;
    uint8_t bytes[HEAD_LEN] = {0};
    size_t width = 0;

    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t value = cn_store_column_at(column, row);

        lowest = value < lowest ? value : lowest;
        highest = value > highest ? value : highest;
    }
    while (row_count > 0 && mask_of(width) < highest - lowest)
        width++;
    cn_u64_put(bytes, lowest);
    cn_u64_put(bytes + sizeof(uint64_t), width);
    cn_u64_put(bytes + 2 * sizeof(uint64_t), highest);
    if (!cn_block_writer_add(writer, bytes, HEAD_LEN, err))
        return false;
    for (uint32_t row = 0; row < row_count; row++) {
        cn_u64_put(bytes, cn_store_column_at(column, row) - lowest);
        if (!cn_block_writer_add(writer, bytes, width, err))
            return false;
    }
    cn_u64_put(bytes, 0);
    return cn_block_writer_add(writer, bytes, PAD_LEN, err);
}

static bool write_columns(struct cn_block_writer *writer,
                          const struct cn_columns *columns, struct cn_error *err)
{
    uint8_t count[sizeof(uint64_t)];
    struct cn_store_column column;

    cn_u64_put(count, columns->row_count);
    if (!cn_block_writer_section(writer, SECTION_COUNT_ID, err) ||
        !cn_block_writer_add(writer, count, sizeof(count), err))
        return false;
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (!cn_columns_field(columns, (enum cn_store_field)i, &column, err) ||
            !cn_block_writer_section(writer, i + 1, err) ||
            !write_field(writer, columns->row_count, &column, err))
            return false;
    }
    return write_slots(writer, columns, err);
}

bool cn_columns_write(const struct cn_disk *disk, const char *dir,
                      const struct cn_columns *columns, struct cn_error *err)
{
    struct cn_block_writer writer = {0};
    bool ok = cn_block_writer_open(&writer, disk, dir, CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, CN_META_FILE_VERSION, err) &&
              write_columns(&writer, columns, err) &&
              cn_block_writer_commit(&writer, err);

    cn_block_writer_abandon(&writer);
    return ok;
}
