/* Writes meta.dat. */

#include "store/index/columns.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/search.h"
#include "model/contexts/context.h"
#include "store/index/bit_writer.h"
#include "store/index/chunk_values_write.h"
#include "store/index/columns_layout.h"
#include "store/index/numbered.h"

enum {
    GROUPED_BITS_MIN = 9,
    /* Of columns that are not scanned, from version 5 on. */
    GROUPED_BITS_FEW = 5,
    /* A base with a slope takes half a bit a row more than one without. */
    SLOPES_SAVE = 3,
    CODES_SAVE = 2,
    /* Bits of each value that bases must save: they take one, and time. */
    BASES_SAVE = 3,
};

static unsigned bits_for(uint64_t range)
{
    unsigned bits = range == 0 ? 0 : CN_META_WORD_BITS - (unsigned)__builtin_clzll(range);

    return bits > CN_META_BITS_MAX ? CN_META_WORD_BITS : bits;
}

static bool put_slot_bits(struct cn_block_writer *writer, const uint8_t *slots,
                          uint64_t slot_count, uint32_t row_count, struct cn_error *err)
{
    struct cn_bit_writer bits = {.out = writer, .bits = bits_for(row_count | 1)};

    if (!cn_block_writer_section(writer, CN_META_SECTION_START_BITS_ID, err) ||
        !cn_block_writer_add_u64(writer, slot_count, err) ||
        !cn_block_writer_add_u64(writer, bits.bits, err))
        return false;
    for (uint64_t i = 0; i < slot_count; i++)
        if (!cn_bit_writer_add(&bits, cn_u32_get(slots + i * CN_META_SLOT_LEN), err))
            return false;
    return cn_bit_writer_end(&bits, err) && cn_block_writer_add_u64(writer, 0, err);
}

static bool write_slots(struct cn_block_writer *writer, const struct cn_columns *columns,
                        unsigned version, struct cn_error *err)
{
    const struct cn_store_column *high = &columns->fields[CN_STORE_FIELD_trace_high];
    const struct cn_store_column *low = &columns->fields[CN_STORE_FIELD_trace_low];
    uint32_t count = 0;

    for (uint32_t row = 0; row < columns->row_count; row++)
        count += cn_store_column_is_new(high, row) || cn_store_column_is_new(low, row);
    uint64_t slot_count = cn_meta_slot_count(count);
    uint8_t *slots = cn_alloc((size_t)slot_count, CN_META_SLOT_LEN);
    for (uint32_t row = 0; row < columns->row_count; row++) {
        uint64_t slot = cn_meta_first_slot(cn_store_column_at(low, row), slot_count);

        if (!cn_store_column_is_new(high, row) && !cn_store_column_is_new(low, row))
            continue;

        while (cn_u32_get(slots + slot * CN_META_SLOT_LEN) != 0)
            slot = slot + 1 < slot_count ? slot + 1 : 0;
        cn_u32_put(slots + slot * CN_META_SLOT_LEN, row + 1);
    }
    bool ok = version >= CN_META_FILE_ALONE
                  ? put_slot_bits(writer, slots, slot_count, columns->row_count, err)
                  : cn_block_writer_section(writer, CN_META_SECTION_STARTS_ID, err) &&
                        cn_block_writer_add(writer, slots,
                                            (size_t)slot_count * CN_META_SLOT_LEN, err);
    free(slots);
    return ok;
}

/* How a column is written. */
struct column_shape {
    uint64_t lowest, highest;
    unsigned bits; /* of each value */
    bool has_groups, has_bases, has_slopes;
    bool shares_groups;                /* with the field before it */
    uint64_t codes[CN_META_CODES_MAX]; /* ascending */
    size_t code_count;                 /* 0: it has none */
};

/* What the values of 64 rows are above: base + slope * row. */
struct column_base {
    uint64_t base, range; /* range: how far above it the highest is */
    uint32_t slope;
};

/* A slope from the first value to the last; 0 if they do not grow. */
static uint32_t slope_at(const struct cn_store_column *column, uint32_t first,
                         uint32_t last)
{
    uint64_t from = cn_store_column_at(column, first);
    uint64_t to = cn_store_column_at(column, last);
    uint64_t slope = last > first && to > from ? (to - from) / (last - first) : 0;

    return slope <= UINT32_MAX ? (uint32_t)slope : 0;
}

/* Signed differences may wrap around: then the range is wide, and bases are not used. */
static struct column_base base_at(const struct cn_store_column *column, uint32_t first,
                                  uint32_t row_count, bool has_slope)
{
    uint32_t last = row_count - first > CN_COLUMN_GROUP_ROWS
                        ? first + CN_COLUMN_GROUP_ROWS - 1
                        : row_count - 1;
    struct column_base base = {.slope = has_slope ? slope_at(column, first, last) : 0};
    uint64_t begin = cn_store_column_at(column, first);
    int64_t lowest = 0, highest = 0;

    for (uint32_t row = first; row <= last; row++) {
        int64_t above = (int64_t)(cn_store_column_at(column, row) - begin -
                                  (uint64_t)base.slope * (row - first));

        lowest = above < lowest ? above : lowest;
        highest = above > highest ? above : highest;
    }
    base.base = begin + (uint64_t)lowest;
    base.range = (uint64_t)highest - (uint64_t)lowest;
    return base;
}

static unsigned bits_above_bases(const struct cn_store_column *column, uint32_t row_count,
                                 bool has_slopes)
{
    uint64_t widest = 0;

    for (uint64_t row = 0; row < row_count; row += CN_COLUMN_GROUP_ROWS) {
        uint64_t range = base_at(column, (uint32_t)row, row_count, has_slopes).range;

        widest = range > widest ? range : widest;
    }
    return bits_for(widest);
}

/* How many codes are not above a value. */
static size_t codes_to(const struct column_shape *shape, uint64_t value)
{
    return shape->code_count > 0 ? cn_search_u64(shape->codes, shape->code_count,
                                                 sizeof(*shape->codes), value)
                                 : 0;
}

/* Find the different values of a column, unless they are too many. */
static void find_codes(struct column_shape *shape, const struct cn_store_column *column,
                       uint32_t row_count)
{
    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t value = cn_store_column_at(column, row);
        size_t i = codes_to(shape, value);

        if (i > 0 && shape->codes[i - 1] == value)
            continue;
        if (shape->code_count == CN_META_CODES_MAX) {
            shape->code_count = 0;
            return;
        }
        memmove(shape->codes + i + 1, shape->codes + i,
                (shape->code_count - i) * sizeof(*shape->codes));
        shape->codes[i] = value;
        shape->code_count++;
    }
}

/* Codes, if they save bits. */
static void choose_codes(struct column_shape *shape, const struct cn_store_column *column,
                         uint32_t row_count)
{
    if (shape->bits <= CODES_SAVE || row_count < CN_META_CODES_MAX)
        return;
    find_codes(shape, column, row_count);
    unsigned bits = shape->code_count > 0 ? bits_for(shape->code_count - 1) : shape->bits;
    if (bits + CODES_SAVE > shape->bits ||
        (uint64_t)(shape->bits - bits) * row_count <= shape->code_count * UINT64_C(64))
        shape->code_count = 0;
    else
        shape->bits = bits;
}

static void choose_bases(struct column_shape *shape, const struct cn_store_column *column,
                         uint32_t row_count, unsigned version)
{
    unsigned bits = bits_above_bases(column, row_count, false);

    shape->has_bases = bits + BASES_SAVE <= shape->bits;
    if (shape->has_bases)
        shape->bits = bits;
    if (version <= CN_META_FILE_ALONE || row_count < CN_COLUMN_GROUP_ROWS)
        return;
    bits = bits_above_bases(column, row_count, true);
    if (bits + (shape->has_bases ? SLOPES_SAVE : SLOPES_SAVE + 1) <= shape->bits) {
        shape->has_bases = shape->has_slopes = true;
        shape->bits = bits;
    }
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
    if (version <= CN_META_FILE_BYTES)
        shape.bits = (shape.bits + 7) / 8 * 8;
    if (version <= CN_META_FILE_BYTES || shape.has_groups)
        return shape;
    if (version > CN_META_FILE_ALONE)
        choose_codes(&shape, column, row_count);
    if (shape.code_count > 0)
        return shape;
    if (version > CN_META_FILE_ALONE && shape.bits >= GROUPED_BITS_FEW &&
        count <= row_count / 4 && row_count >= CN_COLUMN_GROUP_ROWS)
        shape.has_groups = true;
    else
        choose_bases(&shape, column, row_count, version);
    return shape;
}

/* True if a column is new only in rows in which the one before it is new, which has groups as well; or, `exactly`,
 * in all of these. */
static bool shares_groups(const struct column_shape *shape,
                          const struct cn_store_column *column,
                          const struct cn_store_column *before, bool exactly,
                          uint32_t row_count)
{
    if (!shape->has_groups || !before ||
        !shape_of(before, row_count, CN_META_FILE_VERSION).has_groups)
        return false;
    for (uint32_t row = 0; row < row_count; row++) {
        bool is_new = cn_store_column_is_new(column, row);
        bool was_new = cn_store_column_is_new(before, row);

        if ((is_new && !was_new) || (exactly && was_new && !is_new))
            return false;
    }
    return true;
}

static bool write_bases(struct cn_block_writer *writer, uint32_t row_count,
                        const struct cn_store_column *column, bool has_slopes,
                        struct cn_error *err)
{
    uint8_t bytes[CN_COLUMN_SLOPE_LEN];

    for (uint64_t row = 0; row < row_count; row += CN_COLUMN_GROUP_ROWS) {
        struct column_base base = base_at(column, (uint32_t)row, row_count, has_slopes);

        cn_u64_put(bytes, base.base);
        cn_u32_put(bytes + sizeof(uint64_t), base.slope);
        if (!cn_block_writer_add(writer, bytes,
                                 has_slopes ? CN_COLUMN_SLOPE_LEN : CN_COLUMN_BASE_LEN,
                                 err))
            return false;
    }
    return true;
}

static bool write_codes(struct cn_block_writer *writer, const struct column_shape *shape,
                        struct cn_error *err)
{
    bool ok = cn_block_writer_add_u64(writer, shape->code_count, err);

    for (size_t i = 0; ok && i < shape->code_count; i++)
        ok = cn_block_writer_add_u64(writer, shape->codes[i], err);
    return ok;
}

/* The second number of a head. */
static uint64_t head_width(unsigned bits, unsigned version)
{
    return version <= CN_META_FILE_BYTES ? bits / 8 : (uint64_t)CN_META_HAS_BITS + bits;
}

static uint64_t flags_of_groups(const struct column_shape *shape)
{
    return (shape->has_groups ? CN_META_HAS_GROUPS : 0) |
           (shape->shares_groups ? CN_META_SHARES_GROUPS : 0);
}

static uint64_t groups_len(const struct column_shape *shape, uint32_t row_count)
{
    return shape->has_groups && !shape->shares_groups ? cn_meta_groups_len(row_count) : 0;
}

static bool write_groups(struct cn_block_writer *writer, const struct column_shape *shape,
                         uint32_t row_count, const struct cn_store_column *column,
                         struct cn_error *err)
{
    uint8_t group[CN_COLUMN_GROUP_LEN];
    uint32_t count = 0;

    if (!shape->has_groups || shape->shares_groups)
        return true;
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

/* `before` is the column whose groups it may share; NULL: none. */
static bool write_field(struct cn_block_writer *writer, uint32_t row_count,
                        const struct cn_store_column *column,
                        const struct cn_store_column *before, unsigned version,
                        struct cn_error *err)
{
    struct column_shape shape = shape_of(column, row_count, version);
    struct cn_bit_writer values = {.out = writer, .bits = shape.bits};
    struct column_base base = {.base = shape.lowest};
    uint8_t bytes[CN_META_HEAD_LEN] = {0};

    shape.shares_groups = shares_groups(&shape, column, before, false, row_count);
    const struct cn_store_column *groups = shape.shares_groups ? before : column;
    cn_u64_put(bytes, shape.lowest);
    cn_u64_put(bytes + sizeof(uint64_t),
               head_width(shape.bits, version) | flags_of_groups(&shape) |
                   (shape.has_bases ? CN_META_HAS_BASES : 0) |
                   (shape.has_slopes ? CN_META_HAS_SLOPES : 0) |
                   (shape.code_count > 0 ? CN_META_HAS_CODES : 0));
    cn_u64_put(bytes + 2 * sizeof(uint64_t), shape.highest);
    if (!cn_block_writer_add(writer, bytes, CN_META_HEAD_LEN, err) ||
        !write_groups(writer, &shape, row_count, column, err) ||
        (shape.has_bases &&
         !write_bases(writer, row_count, column, shape.has_slopes, err)) ||
        (shape.code_count > 0 && !write_codes(writer, &shape, err)))
        return false;
    for (uint32_t row = 0; row < row_count; row++) {
        if (shape.has_groups && !cn_store_column_is_new(groups, row))
            continue;
        if (shape.has_bases && row % CN_COLUMN_GROUP_ROWS == 0)
            base = base_at(column, row, row_count, shape.has_slopes);
        uint64_t value = cn_store_column_at(column, row);
        value =
            shape.code_count > 0
                ? codes_to(&shape, value) - 1
                : value - base.base - (uint64_t)base.slope * (row % CN_COLUMN_GROUP_ROWS);
        if (!cn_bit_writer_add(&values, value, err))
            return false;
    }
    return cn_bit_writer_end(&values, err) && cn_block_writer_add_u64(writer, 0, err);
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

    if (to == row || steps > UINT16_MAX - CN_META_REFERS_FROM)
        return;
    list->values[row] = (uint16_t)(CN_META_REFERS_FROM + steps);
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
        list->values[row] =
            parent == 0 ? CN_META_REFERS_TO_NONE : CN_META_REFERS_TO_EXCEPTION;
        if (to != CN_NONE)
            refer(list, row, to);
    }
    for (uint32_t row = 0; row < row_count; row++) {
        if (list->values[row] != CN_META_REFERS_TO_EXCEPTION)
            continue;
        uint32_t to = cn_map_find(&rows, cn_store_column_at(parents, row), CN_NONE);
        if (to != CN_NONE)
            refer(list, row, to);
        if (list->values[row] == CN_META_REFERS_TO_EXCEPTION)
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
    const struct cn_store_column stored = {
        .values = (const uint8_t *)list->values,
        .stride = 8 * sizeof(*list->values),
        .mask = UINT16_MAX,
    };
    struct column_shape shape = {.bits = list->highest > UINT8_MAX ? 16 : 8};
    uint8_t bytes[CN_META_HEAD_LEN] = {0};

    if (version > CN_META_FILE_BYTES)
        shape.bits = bits_for(list->highest);
    if (version > CN_META_FILE_ALONE)
        choose_codes(&shape, &stored, row_count);
    struct cn_bit_writer values = {.out = writer, .bits = shape.bits};
    cn_u64_put(bytes, CN_META_REFERS_FROM);
    cn_u64_put(bytes + sizeof(uint64_t),
               head_width(shape.bits, version) | CN_META_HAS_REFERENCES |
                   (shape.code_count > 0 ? CN_META_HAS_CODES : 0));
    if (!cn_block_writer_add(writer, bytes, CN_META_HEAD_LEN, err) ||
        (shape.code_count > 0 && !write_codes(writer, &shape, err)))
        return false;
    for (uint32_t row = 0; row < row_count; row++)
        if (!cn_bit_writer_add(&values,
                               shape.code_count > 0
                                   ? codes_to(&shape, list->values[row]) - 1
                                   : list->values[row],
                               err))
            return false;
    if (!cn_bit_writer_end(&values, err) ||
        !cn_block_writer_add_u64(writer, list->exception_count, err))
        return false;
    for (size_t i = 0; i < list->exception_count; i++) {
        cn_u32_put(bytes, list->exception_rows[i]);
        if (!cn_block_writer_add(writer, bytes, sizeof(uint32_t), err))
            return false;
    }
    cn_u64_put(bytes, 0);
    if (!cn_block_writer_add(writer, bytes,
                             (size_t)cn_meta_exception_rows_len(list->exception_count) -
                                 list->exception_count * sizeof(uint32_t),
                             err))
        return false;
    for (size_t i = 0; i < list->exception_count; i++)
        if (!cn_block_writer_add_u64(
                writer, cn_store_column_at(parents, list->exception_rows[i]), err))
            return false;
    return cn_block_writer_add_u64(writer, 0, err);
}

/* Write the parents as references if most are spans of the segment; otherwise as they are. */
static bool write_parents(struct cn_block_writer *writer,
                          const struct cn_columns *columns,
                          const struct cn_store_column *parents, unsigned version,
                          struct cn_error *err)
{
    struct reference_list list = {
        /* Each is read as 8 bytes. */
        .values = cn_alloc((size_t)columns->row_count + sizeof(uint64_t),
                           sizeof(*list.values))};
    struct cn_store_column ids;
    bool ok = cn_columns_field(columns, CN_STORE_FIELD_span_id, &ids, err);

    if (ok) {
        find_references(&list, columns->row_count, &ids, parents);
        ok = list.exception_count > columns->row_count / 4
                 ? write_field(writer, columns->row_count, parents, NULL, version, err)
                 : write_references(writer, columns->row_count, &list, parents, version,
                                    err);
    }
    free(list.values);
    free(list.exception_rows);
    return ok;
}

/* The field of `places` that a column is; CN_CHUNK_FIELDS: none. */
static enum cn_chunk_field chunk_field(enum cn_store_field field)
{
    switch ((unsigned)field) {
    case CN_STORE_FIELD_trace_high:
        return CN_CHUNK_TRACE_HIGH;
    case CN_STORE_FIELD_trace_low:
        return CN_CHUNK_TRACE_LOW;
    case CN_STORE_FIELD_span_id:
        return CN_CHUNK_SPAN_ID;
    case CN_STORE_FIELD_duration_ns:
        return CN_CHUNK_DURATION;
    default:
        return CN_CHUNK_FIELDS;
    }
}

/* Write a column as where its values are in chunks. */
static bool write_in_chunks(struct cn_block_writer *writer, uint32_t row_count,
                            const struct cn_store_column *column,
                            const struct column_shape *shape,
                            const struct cn_chunk_values_text *values,
                            struct cn_error *err)
{
    uint8_t bytes[CN_META_HEAD_LEN] = {0};

    cn_u64_put(bytes, shape->lowest);
    cn_u64_put(bytes + sizeof(uint64_t), CN_META_IN_CHUNKS | flags_of_groups(shape));
    cn_u64_put(bytes + 2 * sizeof(uint64_t), shape->highest);
    if (!cn_block_writer_add(writer, bytes, CN_META_HEAD_LEN, err) ||
        !write_groups(writer, shape, row_count, column, err))
        return false;
    cn_u64_put(bytes, values->count);
    if (!cn_block_writer_add(writer, bytes, sizeof(uint64_t), err) ||
        !cn_block_writer_add(writer, cn_text_str(&values->entries), values->entries.len,
                             err) ||
        !cn_block_writer_add(writer, cn_text_str(&values->here), values->here.len, err))
        return false;
    return cn_block_writer_add_u64(writer, 0, err);
}

/* Values are written as places in chunks if most of them are there, and rows of a chunk follow each other. */
static bool write_placed(struct cn_block_writer *writer, const struct cn_columns *columns,
                         const struct cn_store_column *column, enum cn_chunk_field field,
                         const struct cn_chunk_places *places, struct cn_error *err)
{
    uint32_t row_count = columns->row_count;
    struct column_shape shape = shape_of(column, row_count, CN_META_FILE_VERSION);
    struct cn_chunk_values_text values = {0};
    struct cn_store_column data_off, high;

    if (!cn_columns_field(columns, CN_STORE_FIELD_data_off, &data_off, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_high, &high, err))
        return false;
    if (field == CN_CHUNK_TRACE_LOW)
        shape.shares_groups = shares_groups(&shape, column, &high, true, row_count);
    if (shape_of(&data_off, row_count, CN_META_FILE_VERSION).has_groups)
        cn_chunk_values_gather(&values, CN_META_HEAD_LEN + groups_len(&shape, row_count),
                               row_count, column, &data_off, shape.has_groups, places,
                               field);
    bool ok =
        values.is_worth
            ? write_in_chunks(writer, row_count, column, &shape, &values, err)
            : write_field(writer, row_count, column, NULL, CN_META_FILE_VERSION, err);
    cn_text_done(&values.entries);
    cn_text_done(&values.here);
    return ok;
}

/* True if a span has as many records as calls in all rows: all of them were recorded. */
static bool is_same(const struct cn_columns *columns,
                    const struct cn_store_column *records)
{
    struct cn_store_column calls;
    struct cn_error ignored;

    if (!cn_columns_field(columns, CN_STORE_FIELD_calls, &calls, &ignored))
        return false;
    for (uint32_t row = 0; row < columns->row_count; row++)
        if (cn_store_column_at(&calls, row) != cn_store_column_at(records, row))
            return false;
    return true;
}

/* A column that is the same as that of another field. */
static bool write_same(struct cn_block_writer *writer, enum cn_store_field field,
                       struct cn_error *err)
{
    uint8_t bytes[CN_META_HEAD_LEN + CN_META_PAD_LEN] = {0};

    cn_u64_put(bytes + sizeof(uint64_t), CN_META_IS_SAME + (uint64_t)field);
    return cn_block_writer_add(writer, bytes, sizeof(bytes), err);
}

/* in_chunk_off, of which only rows that are not numbered have values. */
static bool write_numbered(struct cn_block_writer *writer,
                           const struct cn_columns *columns,
                           const struct cn_numbered_runs *runs, struct cn_error *err)
{
    uint8_t bytes[CN_META_HEAD_LEN] = {0};

    cn_u64_put(bytes + sizeof(uint64_t), CN_META_IS_NUMBERED);
    return cn_block_writer_add(writer, bytes, sizeof(bytes), err) &&
           cn_numbered_write(writer, columns, runs, err);
}

/* The other columns about records: what they have for numbered rows is the same for all. */
static bool write_beside_numbered(struct cn_block_writer *writer,
                                  const struct cn_columns *columns,
                                  const struct cn_store_column *column, uint32_t numbered,
                                  const struct cn_numbered_runs *runs, unsigned version,
                                  struct cn_error *err)
{
    uint8_t *values = cn_alloc((size_t)columns->row_count + 1, sizeof(uint32_t));
    struct cn_store_column others =
        cn_numbered_others(values, columns, column, runs, numbered);
    bool ok = write_field(writer, columns->row_count, &others, NULL, version, err);

    free(values);
    return ok;
}

static bool write_column(struct cn_block_writer *writer, const struct cn_columns *columns,
                         enum cn_store_field field, unsigned version,
                         const struct cn_chunk_places *places,
                         const struct cn_numbered_runs *runs, struct cn_error *err)
{
    enum cn_chunk_field id = chunk_field(field);
    struct cn_store_column column, before;

    if (!cn_columns_field(columns, field, &column, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_data_off, &before, err) ||
        !cn_block_writer_section(writer, (uint32_t)field + 1, err))
        return false;
    if (runs->is_any && field == CN_STORE_FIELD_in_chunk_off)
        return write_numbered(writer, columns, runs, err);
    if (runs->is_any &&
        (field == CN_STORE_FIELD_in_chunk_len || field == CN_STORE_FIELD_part_len))
        return write_beside_numbered(
            writer, columns, &column,
            field == CN_STORE_FIELD_in_chunk_len ? CN_ROW_NUMBERED : 0, runs, version,
            err);
    if (field == CN_STORE_FIELD_parent_id && version >= CN_META_FILE_BYTES)
        return write_parents(writer, columns, &column, version, err);
    if (field == CN_STORE_FIELD_records && version >= CN_META_FILE_VERSION &&
        is_same(columns, &column))
        return write_same(writer, CN_STORE_FIELD_calls, err);
    if (places && version >= CN_META_FILE_VERSION && id != CN_CHUNK_FIELDS)
        return write_placed(writer, columns, &column, id, places, err);
    bool may_share = field == CN_STORE_FIELD_data_len && version > CN_META_FILE_ALONE;
    return write_field(writer, columns->row_count, &column, may_share ? &before : NULL,
                       version, err);
}

/* Which runs of rows with the same data_off are numbered. Without groups of that column no row finds its
 * run. */
static bool find_runs(struct cn_numbered_runs *runs, const struct cn_columns *columns,
                      unsigned version, const struct cn_chunk_places *places,
                      struct cn_error *err)
{
    struct cn_store_column data_off, off, len;

    *runs = (struct cn_numbered_runs){0};
    if (version < CN_META_FILE_ALONE)
        return true;
    if (!cn_columns_field(columns, CN_STORE_FIELD_data_off, &data_off, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_in_chunk_off, &off, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_in_chunk_len, &len, err))
        return false;
    if (shape_of(&data_off, columns->row_count, version).has_groups)
        cn_numbered_find(runs, columns, places);
    return true;
}

static bool write_columns(struct cn_block_writer *writer,
                          const struct cn_columns *columns, unsigned version,
                          const struct cn_chunk_places *places, struct cn_error *err)
{
    struct cn_numbered_runs runs;
    uint8_t count[sizeof(uint64_t)];

    cn_u64_put(count, columns->row_count);
    if (!cn_block_writer_section(writer, CN_META_SECTION_COUNT_ID, err) ||
        !cn_block_writer_add(writer, count, sizeof(count), err))
        return false;
    bool ok = find_runs(&runs, columns, version, places, err);
    for (unsigned i = 0; ok && i < CN_STORE_FIELD_checksum; i++)
        ok = write_column(writer, columns, (enum cn_store_field)i, version, places, &runs,
                          err);
    free(runs.are);
    return ok && write_slots(writer, columns, version, err);
}

bool cn_columns_write(const struct cn_disk *disk, const char *dir,
                      const struct cn_columns *columns, unsigned version,
                      const struct cn_chunk_places *places, struct cn_error *err)
{
    struct cn_block_writer writer = {0};
    bool ok = cn_block_writer_open(&writer, disk, dir, CN_META_FILE_NAME,
                                   CN_META_FILE_MAGIC, version, err) &&
              write_columns(&writer, columns, version, places, err) &&
              cn_block_writer_commit(&writer, err);

    cn_block_writer_abandon(&writer);
    return ok;
}
