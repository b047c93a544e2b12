#include "store/index/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "model/contexts/context.h"

enum {
    HEAD_LEN = 24,
    PAD_LEN = 8,
    SECTION_COUNT_ID = 0,
    SECTION_SLOTS_ID = 64,
    SECTION_STARTS_ID = 65
};
enum {
    SLOT_LEN = sizeof(uint32_t),
    HAS_GROUPS = 256,
    HAS_REFERENCES = 512,
    HAS_BITS = 1024,
    HAS_BASES = 2048,
    GROUPED_BITS_MIN = 9,
    WORD_BITS = 64,
    /* A value of fewer bits is inside of the 8 bytes that its first byte begins. */
    BITS_MAX = 57,
    /* Bits of each value that bases must save: they take one, and time. */
    BASES_SAVE = 3,
};

/* Values of a column that refers to spans. */
enum { REFERS_TO_NONE, REFERS_TO_EXCEPTION, REFERS_FROM };

static uint64_t slot_count_of(uint32_t row_count)
{
    return row_count + (uint64_t)row_count / 3 + 1;
}

static uint64_t first_slot(uint64_t id_low, uint64_t slot_count)
{
    return (id_low * UINT64_C(0x9e3779b97f4a7c15) >> 32) * slot_count >> 32;
}

static uint64_t mask_of(uint64_t bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (WORD_BITS - bits);
}

static uint64_t bits_len(uint64_t count, uint64_t bits)
{
    return (count * bits + 7) / 8;
}

/* The bits of each value of a column, by its head. */
static bool bits_of_head(uint64_t width, uint64_t flags, uint64_t *bits)
{
    *bits = width & UINT8_MAX;
    if ((width & ~(uint64_t)UINT8_MAX & ~flags) != 0 || *bits > WORD_BITS)
        return false;
    if (!(width & HAS_BITS))
        *bits *= 8;
    return *bits <= BITS_MAX || *bits == WORD_BITS;
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
            .values = rows.ptr ? rows.ptr + field->offset : NULL,
            .stride = UINT64_C(8) * cn_store_row_size,
            .mask = mask_of(UINT64_C(8) * field->size),
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

static uint64_t groups_len(uint32_t row_count)
{
    return ((uint64_t)row_count + CN_COLUMN_GROUP_ROWS - 1) / CN_COLUMN_GROUP_ROWS *
           CN_COLUMN_GROUP_LEN;
}

static uint64_t bases_len(uint32_t row_count)
{
    return ((uint64_t)row_count + CN_COLUMN_GROUP_ROWS - 1) / CN_COLUMN_GROUP_ROWS *
           sizeof(uint64_t);
}

/* What a column has after its head, whose second number is `width`. */
static bool open_values(struct cn_store_column *column, struct cn_bytes rest,
                        uint32_t row_count, uint64_t width)
{
    bool has_groups = width & HAS_GROUPS, has_bases = width & HAS_BASES;
    uint64_t at = 0, count = row_count, bits;

    if (!bits_of_head(width, HAS_GROUPS | HAS_BITS | HAS_BASES, &bits) ||
        (has_groups && has_bases))
        return false;
    if (has_groups)
        at = groups_len(row_count);
    else if (has_bases)
        at = bases_len(row_count);
    if (rest.len < at + PAD_LEN)
        return false;
    if (has_groups)
        count = bits > 0 ? (rest.len - at - PAD_LEN) * 8 / bits : 1;
    /* The last byte may have room for more. */
    if (has_groups && width & HAS_BITS && count > row_count)
        count = row_count;
    if (count > row_count || (count == 0 && row_count > 0) ||
        !cn_bytes_slice(rest, 0, at + bits_len(count, bits) + PAD_LEN, &column->bytes))
        return false;
    column->values = column->bytes.ptr + at;
    column->groups = has_groups ? column->bytes.ptr : NULL;
    column->bases = has_bases ? column->bytes.ptr : NULL;
    column->value_count = (uint32_t)count;
    column->stride = bits;
    column->mask = mask_of(bits);
    return true;
}

static uint64_t exception_rows_len(uint64_t count)
{
    return (count * sizeof(uint32_t) + PAD_LEN - 1) / PAD_LEN * PAD_LEN;
}

/* The same for a column whose values refer to spans. */
static bool open_references(struct cn_columns *columns, struct cn_store_column *column,
                            struct cn_bytes rest, uint64_t width)
{
    uint64_t rows = columns->row_count, bits, len, count;
    struct cn_bytes count_bytes, exception_rows, exceptions;

    if (!bits_of_head(width, HAS_REFERENCES | HAS_BITS, &bits))
        return false;
    len = bits_len(rows, bits);
    if (!cn_bytes_slice(rest, len, sizeof(uint64_t), &count_bytes) ||
        !cn_block_file_check(columns->file, count_bytes, &(struct cn_error){0}))
        return false;
    count = cn_u64_get(count_bytes.ptr);
    len += sizeof(uint64_t);
    if (count > rows ||
        !cn_bytes_slice(rest, len, exception_rows_len(count), &exception_rows) ||
        !cn_bytes_slice(rest, len + exception_rows.len, count * sizeof(uint64_t),
                        &exceptions) ||
        !cn_bytes_slice(rest, 0, len + exception_rows.len + exceptions.len + PAD_LEN,
                        &column->bytes))
        return false;
    column->lowest = column->highest = 0;
    column->values = column->bytes.ptr;
    column->stride = bits;
    column->mask = mask_of(bits);
    column->row_count = columns->row_count;
    column->exception_rows = exception_rows.ptr;
    column->exceptions = exceptions.ptr;
    column->exception_count = (uint32_t)count;
    return true;
}

static bool has_references(const struct cn_store_column *column)
{
    return column->exception_rows != NULL;
}

static bool is_exception_by(const void *arg, uint64_t i, uint64_t row)
{
    const struct cn_store_column *column = arg;

    return cn_u32_get(column->exception_rows + i * sizeof(uint32_t)) <= row;
}

uint64_t cn_store_column_referred(const struct cn_store_column *column, uint32_t row,
                                  uint64_t stored)
{
    uint64_t distance = stored - REFERS_FROM, to;
    size_t i;

    if (stored == REFERS_TO_NONE)
        return 0;
    if (stored == REFERS_TO_EXCEPTION) {
        i = (size_t)cn_search(0, column->exception_count, is_exception_by, column, row);
        return i > 0 && cn_u32_get(column->exception_rows + (i - 1) * sizeof(uint32_t)) ==
                            row
                   ? cn_u64_get(column->exceptions + (i - 1) * sizeof(uint64_t))
                   : 0;
    }
    to = distance % 2 == 0 ? row - distance / 2 : row + (distance + 1) / 2;
    return to < column->row_count ? cn_store_column_at(column->ids, (uint32_t)to) : 0;
}

static bool open_field(struct cn_columns *columns, unsigned i, struct cn_error *err)
{
    struct cn_bytes section, head, rest;

    if (!cn_block_file_section(columns->file, i + 1, &section, err))
        return false;
    if (!cn_bytes_slice(section, 0, HEAD_LEN, &head))
        return cn_fail(err, CN_ERR_FORMAT, "column %s is truncated",
                       cn_store_row_fields[i].name);
    if (!cn_block_file_check(columns->file, head, err))
        return false;
    uint64_t width = cn_u64_get(head.ptr + sizeof(uint64_t));
    columns->fields[i] = (struct cn_store_column){
        .lowest = cn_u64_get(head.ptr),
        .highest = cn_u64_get(head.ptr + 2 * sizeof(uint64_t)),
    };
    if (!cn_bytes_from(section, HEAD_LEN, &rest) ||
        !(i == CN_STORE_FIELD_parent_id && width & HAS_REFERENCES
              ? open_references(columns, &columns->fields[i], rest, width)
              : open_values(&columns->fields[i], rest, columns->row_count, width)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "column %s is too short for %" PRIu32 " values of width %" PRIu64,
                       cn_store_row_fields[i].name, columns->row_count, width);
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
    opened.has_starts =
        cn_block_file_section(file, SECTION_STARTS_ID, &opened.slots, &ignored);
    if (!opened.has_starts &&
        (!cn_block_file_section(file, SECTION_SLOTS_ID, &opened.slots, &ignored) ||
         opened.slots.len != slot_count_of(opened.row_count) * SLOT_LEN))
        opened.slots = (struct cn_bytes){0};
    opened.slots.len -= opened.slots.len % SLOT_LEN;
    *columns = opened;
    return true;
}

bool cn_columns_field(const struct cn_columns *columns, enum cn_store_field field,
                      struct cn_store_column *out, struct cn_error *err)
{
    const struct cn_store_column *column = &columns->fields[field];
    const struct cn_store_column *ids =
        has_references(column) ? &columns->fields[CN_STORE_FIELD_span_id] : NULL;

    if (columns->file && !cn_block_file_check(columns->file, column->bytes, err))
        return false;
    if (ids && !cn_block_file_check(columns->file, ids->bytes, err))
        return false;
    *out = *column;
    out->ids = ids;
    return true;
}

static bool check_value(const struct cn_columns *columns, unsigned field, uint32_t row,
                        struct cn_error *err);

/* One parent, of a column that refers to spans. */
static bool parent_at(const struct cn_columns *columns, uint32_t row, uint64_t *out,
                      struct cn_error *err)
{
    struct cn_store_column column = columns->fields[CN_STORE_FIELD_parent_id];
    uint64_t stored = cn_store_column_stored(&column, row), distance, to;

    column.ids = &columns->fields[CN_STORE_FIELD_span_id];
    if (stored == REFERS_TO_EXCEPTION) {
        struct cn_bytes rest = {column.exception_rows,
                                (size_t)exception_rows_len(column.exception_count) +
                                    column.exception_count * sizeof(uint64_t)};

        if (!cn_block_file_check(columns->file, rest, err))
            return false;
    } else if (stored >= REFERS_FROM) {
        distance = stored - REFERS_FROM;
        to = distance % 2 == 0 ? row - distance / 2 : row + (distance + 1) / 2;
        if (to < columns->row_count &&
            !check_value(columns, CN_STORE_FIELD_span_id, (uint32_t)to, err))
            return false;
    }
    *out = cn_store_column_referred(&column, row, stored);
    return true;
}

static bool check_value(const struct cn_columns *columns, unsigned field, uint32_t row,
                        struct cn_error *err)
{
    const struct cn_store_column *column = &columns->fields[field];
    uint64_t at = (uint64_t)(column->values - column->bytes.ptr), i = row;
    struct cn_bytes value;

    if (!columns->file)
        return true;
    if (column->groups) {
        if (!cn_bytes_slice(column->bytes,
                            (uint64_t)(row / CN_COLUMN_GROUP_ROWS) * CN_COLUMN_GROUP_LEN,
                            CN_COLUMN_GROUP_LEN, &value) ||
            !cn_block_file_check(columns->file, value, err))
            return false;
        i = cn_store_column_index(column, row);
    }
    if (column->bases &&
        (!cn_bytes_slice(column->bytes,
                         (uint64_t)(row / CN_COLUMN_GROUP_ROWS) * sizeof(uint64_t),
                         sizeof(uint64_t), &value) ||
         !cn_block_file_check(columns->file, value, err)))
        return false;
    return cn_bytes_slice(column->bytes, at + i * column->stride / 8, sizeof(uint64_t),
                          &value) &&
           cn_block_file_check(columns->file, value, err);
}

bool cn_columns_row(const struct cn_columns *columns, uint32_t row,
                    struct cn_store_row *out, struct cn_error *err)
{
    uint8_t bytes[cn_store_row_size] = {0};

    assert(row < columns->row_count);
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (!check_value(columns, i, row, err))
            return false;
        uint64_t value;
        if (!has_references(&columns->fields[i]))
            value = cn_store_column_at(&columns->fields[i], row);
        else if (!parent_at(columns, row, &value, err))
            return false;
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

/* Visit a row of a trace, and those after it that a slot for it stands for. */
static bool visit_rows(const struct cn_columns *columns, uint32_t row, uint64_t high,
                       uint64_t low, cn_columns_visit visit, void *arg)
{
    uint64_t row_high = high, row_low = low;

    do {
        if (visit)
            visit(arg, row);
        row++;
        if (!columns->has_starts || row == columns->row_count)
            return true;
        if (!trace_at(columns, row, &row_high, &row_low))
            return false;
    } while (row_high == high && row_low == low);
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
        if (row_high == high && row_low == low &&
            !visit_rows(columns, row - 1, high, low, visit, arg))
            return false;
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
    const struct cn_store_column *high = &columns->fields[CN_STORE_FIELD_trace_high];
    const struct cn_store_column *low = &columns->fields[CN_STORE_FIELD_trace_low];
    uint32_t count = 0;

    for (uint32_t row = 0; row < columns->row_count; row++)
        count += cn_store_column_is_new(high, row) || cn_store_column_is_new(low, row);
    uint64_t slot_count = slot_count_of(count);
    uint8_t *slots = cn_alloc((size_t)slot_count, SLOT_LEN);
    for (uint32_t row = 0; row < columns->row_count; row++) {
        uint64_t slot = first_slot(cn_store_column_at(low, row), slot_count);

        if (!cn_store_column_is_new(high, row) && !cn_store_column_is_new(low, row))
            continue;

        while (cn_u32_get(slots + slot * SLOT_LEN) != 0)
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        cn_u32_put(slots + slot * SLOT_LEN, row + 1);
    }
    bool ok = cn_block_writer_section(writer, SECTION_STARTS_ID, err) &&
              cn_block_writer_add(writer, slots, (size_t)slot_count * SLOT_LEN, err);
    free(slots);
    return ok;
}

/* How a column is written. */
struct column_shape {
    uint64_t lowest, highest;
    unsigned bits; /* of each value */
    bool has_groups, has_bases;
};

static unsigned bits_for(uint64_t range)
{
    unsigned bits = range == 0 ? 0 : WORD_BITS - (unsigned)__builtin_clzll(range);

    return bits > BITS_MAX ? WORD_BITS : bits;
}

/* The lowest value of 64 rows; *range receives how far above it the highest is. */
static uint64_t base_at(const struct cn_store_column *column, uint32_t first,
                        uint32_t row_count, uint64_t *range)
{
    uint64_t lowest = UINT64_MAX, highest = 0;

    for (uint32_t row = first; row - first < CN_COLUMN_GROUP_ROWS && row < row_count;
         row++) {
        uint64_t value = cn_store_column_at(column, row);

        lowest = value < lowest ? value : lowest;
        highest = value > highest ? value : highest;
    }
    *range = highest - lowest;
    return lowest;
}

static unsigned bits_above_bases(const struct cn_store_column *column, uint32_t row_count)
{
    uint64_t widest = 0, range;

    for (uint64_t row = 0; row < row_count; row += CN_COLUMN_GROUP_ROWS) {
        (void)base_at(column, (uint32_t)row, row_count, &range);
        widest = range > widest ? range : widest;
    }
    return bits_for(widest);
}

static struct column_shape shape_of(const struct cn_store_column *column,
                                    uint32_t row_count, unsigned version)
{
    struct column_shape shape = {.lowest = row_count > 0 ? UINT64_MAX : 0};
    uint64_t count = 0;

    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t value = cn_store_column_at(column, row);

        shape.lowest = value < shape.lowest ? value : shape.lowest;
        shape.highest = value > shape.highest ? value : shape.highest;
        count += cn_store_column_is_new(column, row);
    }
    if (row_count > 0)
        shape.bits = bits_for(shape.highest - shape.lowest);
    /* Groups cost time where columns are scanned: only where they save most of the bytes. */
    shape.has_groups = shape.bits >= GROUPED_BITS_MIN && count <= row_count / 4;
    if (version <= CN_META_FILE_BYTES) {
        shape.bits = (shape.bits + 7) / 8 * 8;
    } else if (!shape.has_groups) {
        unsigned bits = bits_above_bases(column, row_count);

        shape.has_bases = bits + BASES_SAVE <= shape.bits;
        if (shape.has_bases)
            shape.bits = bits;
    }
    return shape;
}

static bool write_bases(struct cn_block_writer *writer, uint32_t row_count,
                        const struct cn_store_column *column, struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];
    uint64_t range;

    for (uint64_t row = 0; row < row_count; row += CN_COLUMN_GROUP_ROWS) {
        cn_u64_put(bytes, base_at(column, (uint32_t)row, row_count, &range));
        if (!cn_block_writer_add(writer, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

/* Numbers of the same number of bits, written one after the other. */
struct bit_writer {
    struct cn_block_writer *out;
    uint64_t waiting;
    unsigned bits, used;
};

static bool add_bits(struct bit_writer *writer, uint64_t value, struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];

    writer->waiting |= value << writer->used;
    if (writer->used + writer->bits < WORD_BITS) {
        writer->used += writer->bits;
        return true;
    }
    cn_u64_put(bytes, writer->waiting);
    writer->waiting = writer->used == 0 ? 0 : value >> (WORD_BITS - writer->used);
    writer->used = writer->used + writer->bits - WORD_BITS;
    return cn_block_writer_add(writer->out, bytes, sizeof(bytes), err);
}

/* The last bytes. */
static bool end_bits(struct bit_writer *writer, struct cn_error *err)
{
    uint8_t bytes[sizeof(uint64_t)];

    cn_u64_put(bytes, writer->waiting);
    return cn_block_writer_add(writer->out, bytes, (writer->used + 7) / 8, err);
}

/* The second number of a head. */
static uint64_t head_width(unsigned bits, unsigned version)
{
    return version <= CN_META_FILE_BYTES ? bits / 8 : (uint64_t)HAS_BITS + bits;
}

static bool write_groups(struct cn_block_writer *writer, uint32_t row_count,
                         const struct cn_store_column *column, struct cn_error *err)
{
    uint8_t group[CN_COLUMN_GROUP_LEN];
    uint32_t count = 0;

    for (uint32_t first = 0; first < row_count; first += CN_COLUMN_GROUP_ROWS) {
        uint64_t bits = 0;

        for (uint32_t i = 0; i < CN_COLUMN_GROUP_ROWS && first + i < row_count; i++)
            bits |= (uint64_t)cn_store_column_is_new(column, first + i) << i;
        cn_u64_put(group, bits);
        cn_u32_put(group + sizeof(bits), count);
        if (!cn_block_writer_add(writer, group, sizeof(group), err))
            return false;
        count += (uint32_t)__builtin_popcountll(bits);
    }
    return true;
}

static bool write_field(struct cn_block_writer *writer, uint32_t row_count,
                        const struct cn_store_column *column, unsigned version,
                        struct cn_error *err)
{
    struct column_shape shape = shape_of(column, row_count, version);
    struct bit_writer values = {.out = writer, .bits = shape.bits};
    uint64_t base = shape.lowest, range;
    uint8_t bytes[HEAD_LEN] = {0};

    cn_u64_put(bytes, shape.lowest);
    cn_u64_put(bytes + sizeof(uint64_t), head_width(shape.bits, version) |
                                             (shape.has_groups ? HAS_GROUPS : 0) |
                                             (shape.has_bases ? HAS_BASES : 0));
    cn_u64_put(bytes + 2 * sizeof(uint64_t), shape.highest);
    if (!cn_block_writer_add(writer, bytes, HEAD_LEN, err) ||
        (shape.has_groups && !write_groups(writer, row_count, column, err)) ||
        (shape.has_bases && !write_bases(writer, row_count, column, err)))
        return false;
    for (uint32_t row = 0; row < row_count; row++) {
        if (shape.has_groups && !cn_store_column_is_new(column, row))
            continue;
        if (shape.has_bases && row % CN_COLUMN_GROUP_ROWS == 0)
            base = base_at(column, row, row_count, &range);
        if (!add_bits(&values, cn_store_column_at(column, row) - base, err))
            return false;
    }
    cn_u64_put(bytes, 0);
    return end_bits(&values, err) && cn_block_writer_add(writer, bytes, PAD_LEN, err);
}

/* Which parents are spans of the segment. */
struct reference_list {
    uint16_t *values; /* by row */
    uint32_t *exception_rows;
    size_t exception_count, exception_capacity;
    uint16_t highest;
};

static void refer(struct reference_list *list, uint32_t row, uint32_t to)
{
    uint64_t steps = to < row ? 2 * (uint64_t)(row - to) : 2 * (uint64_t)(to - row) - 1;

    if (to == row || steps > UINT16_MAX - REFERS_FROM)
        return;
    list->values[row] = (uint16_t)(REFERS_FROM + steps);
    if (list->values[row] > list->highest)
        list->highest = list->values[row];
}

/* The rows of spans before a parent's row are looked at first, then those after it. */
static void find_references(struct reference_list *list, uint32_t row_count,
                            const struct cn_store_column *ids,
                            const struct cn_store_column *parents)
{
    struct cn_map rows = {0};

    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t parent = cn_store_column_at(parents, row);
        uint32_t to = parent != 0 ? cn_map_find(&rows, parent, CN_NONE) : CN_NONE;

        *cn_map_at(&rows, cn_store_column_at(ids, row), 0) = row;
        list->values[row] = parent == 0 ? REFERS_TO_NONE : REFERS_TO_EXCEPTION;
        if (to != CN_NONE)
            refer(list, row, to);
    }
    for (uint32_t row = 0; row < row_count; row++) {
        if (list->values[row] != REFERS_TO_EXCEPTION)
            continue;
        uint32_t to = cn_map_find(&rows, cn_store_column_at(parents, row), CN_NONE);
        if (to != CN_NONE)
            refer(list, row, to);
        if (list->values[row] == REFERS_TO_EXCEPTION)
            CN_PUSH(list->exception_rows, list->exception_count, list->exception_capacity,
                    row);
    }
    cn_map_done(&rows);
}

static bool write_references(struct cn_block_writer *writer, uint32_t row_count,
                             const struct reference_list *list,
                             const struct cn_store_column *parents, unsigned version,
                             struct cn_error *err)
{
    unsigned bits = list->highest > UINT8_MAX ? 16 : 8;
    uint8_t bytes[HEAD_LEN] = {0};

    if (version > CN_META_FILE_BYTES)
        bits = bits_for(list->highest);
    struct bit_writer values = {.out = writer, .bits = bits};
    cn_u64_put(bytes, REFERS_FROM);
    cn_u64_put(bytes + sizeof(uint64_t), head_width(bits, version) | HAS_REFERENCES);
    if (!cn_block_writer_add(writer, bytes, HEAD_LEN, err))
        return false;
    for (uint32_t row = 0; row < row_count; row++)
        if (!add_bits(&values, list->values[row], err))
            return false;
    cn_u64_put(bytes, list->exception_count);
    if (!end_bits(&values, err) ||
        !cn_block_writer_add(writer, bytes, sizeof(uint64_t), err))
        return false;
    for (size_t i = 0; i < list->exception_count; i++) {
        cn_u32_put(bytes, list->exception_rows[i]);
        if (!cn_block_writer_add(writer, bytes, sizeof(uint32_t), err))
            return false;
    }
    cn_u64_put(bytes, 0);
    if (!cn_block_writer_add(writer, bytes,
                             (size_t)exception_rows_len(list->exception_count) -
                                 list->exception_count * sizeof(uint32_t),
                             err))
        return false;
    for (size_t i = 0; i < list->exception_count; i++) {
        cn_u64_put(bytes, cn_store_column_at(parents, list->exception_rows[i]));
        if (!cn_block_writer_add(writer, bytes, sizeof(uint64_t), err))
            return false;
    }
    cn_u64_put(bytes, 0);
    return cn_block_writer_add(writer, bytes, PAD_LEN, err);
}

/* Write the parents as references if most are spans of the segment; otherwise as they are. */
static bool write_parents(struct cn_block_writer *writer,
                          const struct cn_columns *columns,
                          const struct cn_store_column *parents, unsigned version,
                          struct cn_error *err)
{
    struct reference_list list = {
        .values = cn_alloc((size_t)columns->row_count + 1, sizeof(*list.values))};
    struct cn_store_column ids;
    bool ok = cn_columns_field(columns, CN_STORE_FIELD_span_id, &ids, err);

    if (ok) {
        find_references(&list, columns->row_count, &ids, parents);
        ok = list.exception_count > columns->row_count / 4
                 ? write_field(writer, columns->row_count, parents, version, err)
                 : write_references(writer, columns->row_count, &list, parents, version,
                                    err);
    }
    free(list.values);
    free(list.exception_rows);
    return ok;
}

static bool write_columns(struct cn_block_writer *writer,
                          const struct cn_columns *columns, unsigned version,
                          struct cn_error *err)
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
            !(i == CN_STORE_FIELD_parent_id && version >= CN_META_FILE_BYTES
                  ? write_parents(writer, columns, &column, version, err)
                  : write_field(writer, columns->row_count, &column, version, err)))
            return false;
    }
    return write_slots(writer, columns, err);
}

bool cn_columns_write(const struct cn_disk *disk, const char *dir,
                      const struct cn_columns *columns, unsigned version,
                      struct cn_error *err)
{
    struct cn_block_writer writer = {0};
    bool ok = cn_block_writer_open(&writer, disk, dir, CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, version, err) &&
              write_columns(&writer, columns, version, err) &&
              cn_block_writer_commit(&writer, err);

    cn_block_writer_abandon(&writer);
    return ok;
}
