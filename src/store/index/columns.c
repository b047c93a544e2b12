#include "store/index/columns.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/search.h"
#include "store/index/chunk_values.h"
#include "store/index/columns_layout.h"
#include "store/index/numbered.h"

static uint64_t mask_of(uint64_t bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (CN_META_WORD_BITS - bits);
}

static uint64_t bits_len(uint64_t count, uint64_t bits)
{
    return (count * bits + 7) / 8;
}

/* The bits of each value of a column, by its head. */
static bool bits_of_head(uint64_t width, uint64_t flags, uint64_t *bits)
{
    *bits = width & UINT8_MAX;
    if ((width & ~(uint64_t)UINT8_MAX & ~flags) != 0 || *bits > CN_META_WORD_BITS)
        return false;
    if (!(width & CN_META_HAS_BITS))
        *bits *= 8;
    return *bits <= CN_META_BITS_MAX || *bits == CN_META_WORD_BITS;
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

static uint64_t bases_len(uint32_t row_count, uint32_t base_len)
{
    return ((uint64_t)row_count + CN_COLUMN_GROUP_ROWS - 1) / CN_COLUMN_GROUP_ROWS *
           base_len;
}

/* Take the table of a column with codes. */
static bool open_codes(const struct cn_columns *columns, struct cn_store_column *column,
                       struct cn_bytes rest, uint64_t *at)
{
    struct cn_bytes count_bytes, codes;
    struct cn_error ignored;

    if (!cn_bytes_slice(rest, 0, sizeof(uint64_t), &count_bytes) ||
        !cn_block_file_check(columns->file, count_bytes, &ignored))
        return false;
    uint64_t count = cn_u64_get(count_bytes.ptr);
    if (count > CN_META_CODES_MAX ||
        !cn_bytes_array(rest, sizeof(uint64_t), count, sizeof(uint64_t), &codes))
        return false;
    column->codes = codes.ptr;
    column->base_len = (uint32_t)count;
    *at = sizeof(uint64_t) + codes.len;
    return true;
}

/* What a column has after its head, whose second number is `width`. */
static bool open_values(const struct cn_columns *columns, struct cn_store_column *column,
                        struct cn_bytes rest, uint64_t width, const uint8_t *shared)
{
    bool has_groups = width & CN_META_HAS_GROUPS, has_bases = width & CN_META_HAS_BASES;
    bool has_slopes = width & CN_META_HAS_SLOPES, has_codes = width & CN_META_HAS_CODES;
    uint32_t row_count = columns->row_count;
    uint64_t at = 0, count = row_count, bits;

    if (!bits_of_head(width,
                      CN_META_HAS_GROUPS | CN_META_SHARES_GROUPS | CN_META_HAS_BITS |
                          CN_META_HAS_BASES | CN_META_HAS_CODES | CN_META_HAS_SLOPES,
                      &bits) ||
        has_groups + has_bases + has_codes > 1 || (has_slopes && !has_bases))
        return false;
    column->base_len = has_slopes ? CN_COLUMN_SLOPE_LEN : CN_COLUMN_BASE_LEN;
    if (has_groups)
        at = shared ? 0 : cn_meta_groups_len(row_count);
    else if (has_bases)
        at = bases_len(row_count, column->base_len);
    else if (has_codes && !open_codes(columns, column, rest, &at))
        return false;
    if (rest.len < at + CN_META_PAD_LEN)
        return false;
    if (has_groups)
        count = bits > 0 ? (rest.len - at - CN_META_PAD_LEN) * 8 / bits : 1;
    /* The last byte may have room for more. */
    if (has_groups && width & CN_META_HAS_BITS && count > row_count)
        count = row_count;
    if (count > row_count || (count == 0 && row_count > 0) ||
        !cn_bytes_slice(rest, 0, at + bits_len(count, bits) + CN_META_PAD_LEN,
                        &column->bytes))
        return false;
    column->values = column->bytes.ptr + at;
    column->groups = !has_groups ? NULL : shared ? shared : column->bytes.ptr;
    column->bases = has_bases || has_codes ? column->bytes.ptr : NULL;
    column->value_count = (uint32_t)count;
    column->stride = bits;
    column->mask = mask_of(bits);
    return true;
}

/* The same for a column whose values refer to spans. */
static bool open_references(struct cn_columns *columns, struct cn_store_column *column,
                            struct cn_bytes rest, uint64_t width)
{
    uint64_t rows = columns->row_count, values_at = 0, bits, len, count;
    struct cn_bytes count_bytes, exception_rows, exceptions;

    if (!bits_of_head(
            width, CN_META_HAS_REFERENCES | CN_META_HAS_BITS | CN_META_HAS_CODES, &bits))
        return false;
    if (width & CN_META_HAS_CODES && !open_codes(columns, column, rest, &values_at))
        return false;
    len = values_at + bits_len(rows, bits);
    if (!cn_bytes_slice(rest, len, sizeof(uint64_t), &count_bytes) ||
        !cn_block_file_check(columns->file, count_bytes, &(struct cn_error){0}))
        return false;
    count = cn_u64_get(count_bytes.ptr);
    len += sizeof(uint64_t);
    if (count > rows ||
        !cn_bytes_slice(rest, len, cn_meta_exception_rows_len(count), &exception_rows) ||
        !cn_bytes_slice(rest, len + exception_rows.len, count * sizeof(uint64_t),
                        &exceptions) ||
        !cn_bytes_slice(rest, 0,
                        len + exception_rows.len + exceptions.len + CN_META_PAD_LEN,
                        &column->bytes))
        return false;
    column->lowest = column->highest = 0;
    column->values = column->bytes.ptr + values_at;
    column->bases = column->codes;
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
    uint64_t distance = stored - CN_META_REFERS_FROM, to;
    size_t i;

    if (stored == CN_META_REFERS_TO_NONE)
        return 0;
    if (stored == CN_META_REFERS_TO_EXCEPTION) {
        i = (size_t)cn_search(0, column->exception_count, is_exception_by, column, row);
        return i > 0 && cn_u32_get(column->exception_rows + (i - 1) * sizeof(uint32_t)) ==
                            row
                   ? cn_u64_get(column->exceptions + (i - 1) * sizeof(uint64_t))
                   : 0;
    }
    to = distance % 2 == 0 ? row - distance / 2 : row + (distance + 1) / 2;
    return to < column->row_count ? cn_store_column_at(column->ids, (uint32_t)to) : 0;
}

uint64_t cn_store_column_elsewhere(const struct cn_store_column *column, uint32_t row)
{
    if (column->runs)
        return cn_numbered_at(column, row);
    if (!column->chunks)
        return cn_store_column_referred(column, row, cn_store_column_stored(column, row));
    return cn_chunk_values_at(column->chunks, row,
                              column->groups ? cn_store_column_index(column, row) : row);
}

/* Numbers `first` and those after it, without what is added to them. */
static void read_numbers(const struct cn_store_column *column, uint32_t first,
                         uint32_t count, uint64_t *out)
{
    uint64_t bit = (uint64_t)first * column->stride;

    if (column->mask == 0) {
        memset(out, 0, count * sizeof(*out));
        return;
    }
    for (uint32_t i = 0; i < count; i++, bit += column->stride)
        out[i] = cn_u64_get(column->values + (size_t)(bit / 8)) >> bit % 8 & column->mask;
}

/* The values of a column with groups, each read once. */
static void read_groups(const struct cn_store_column *column, uint32_t first_row,
                        uint32_t count, uint64_t *out)
{
    uint64_t value = cn_store_column_at(column, first_row);

    out[0] = value;
    for (uint32_t i = 1; i < count; i++) {
        if (cn_store_column_starts(column, first_row + i) & 1)
            value = cn_store_column_at(column, first_row + i);
        out[i] = value;
    }
}

void cn_store_column_read(const struct cn_store_column *column, uint32_t first_row,
                          uint32_t count, uint64_t *out)
{
    if (count == 0)
        return;
    if (column->groups) {
        read_groups(column, first_row, count, out);
        return;
    }
    if (column->chunks) {
        cn_chunk_values_read(column->chunks, first_row, count, out);
        return;
    }
    if (column->is_indirect) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = cn_store_column_at(column, first_row + i);
        return;
    }
    read_numbers(column, first_row, count, out);
    for (uint32_t i = 0; i < count; i++)
        out[i] = column->bases ? cn_store_column_based(column, first_row + i, out[i])
                               : out[i] + column->lowest;
}

void cn_store_column_read_bits(const struct cn_store_column *column, uint32_t first_row,
                               uint64_t bits, uint64_t *out)
{
    enum { FEW = 12 };
    uint64_t values[CN_COLUMN_GROUP_ROWS + 1], starts;

    if (!column->groups && cn_bits_set(bits) > FEW) {
        cn_store_column_read(column, first_row,
                             CN_COLUMN_GROUP_ROWS - (uint32_t)__builtin_clzll(bits),
                             values);
        for (; bits; bits &= bits - 1)
            *out++ = values[__builtin_ctzll(bits)];
        return;
    }
    if (!column->groups ||
        (column->chunks && !cn_chunk_values_has_list(column->chunks))) {
        for (; bits; bits &= bits - 1)
            *out++ =
                cn_store_column_at(column, first_row + (uint32_t)__builtin_ctzll(bits));
        return;
    }
    /* The value of the first row, which may be that of rows before, and those that begin here. */
    starts = cn_store_column_starts(column, first_row) & ~UINT64_C(1);
    uint32_t first = cn_store_column_index(column, first_row);
    uint32_t count = cn_bits_set(starts) + 1;
    if (count > column->value_count - first)
        count = column->value_count - first;
    if (column->chunks)
        cn_chunk_values_list(column->chunks, first_row, first, count, values);
    else
        read_numbers(column, first, count, values);
    for (; bits; bits &= bits - 1) {
        unsigned at = (unsigned)__builtin_ctzll(bits);
        uint32_t i = cn_bits_set(starts & (UINT64_MAX >> (63 - at)));

        *out++ = i >= count ? 0 : column->chunks ? values[i] : values[i] + column->lowest;
    }
}

/* The groups of the field before a column that shares them; NULL if it does not. */
static bool find_shared(const struct cn_columns *columns, unsigned i, uint64_t width,
                        const uint8_t **out, struct cn_error *err)
{
    if (!(width & CN_META_SHARES_GROUPS))
        return true;
    if (i == 0 || !(width & CN_META_HAS_GROUPS) || !columns->fields[i - 1].groups)
        return cn_fail(err, CN_ERR_FORMAT, "column %s shares groups that are not there",
                       cn_store_row_fields[i].name);
    *out = columns->fields[i - 1].groups;
    return true;
}

/* A column whose values are in the chunks of `data`. Those chunks are numbered by the column data_off. */
static bool open_in_chunks(struct cn_columns *columns, unsigned i,
                           const struct cn_file *data, struct cn_error *err)
{
    struct cn_store_column *column = &columns->fields[i];
    bool has_groups = column->in_chunks & CN_META_HAS_GROUPS;
    const uint8_t *shared = NULL;
    struct cn_bytes section = column->bytes;

    if (!find_shared(columns, i, column->in_chunks, &shared, err))
        return false;
    uint64_t at = has_groups && !shared ? cn_meta_groups_len(columns->row_count) : 0;

    if (at + CN_META_PAD_LEN > section.len - CN_META_HEAD_LEN ||
        !cn_chunk_values_open(&column->chunks, columns->file, data,
                              &columns->fields[CN_STORE_FIELD_data_off],
                              columns->row_count, section, CN_META_HEAD_LEN + (size_t)at,
                              err))
        return cn_fail(err, CN_ERR_FORMAT, "column %s has no sound reference to chunks",
                       cn_store_row_fields[i].name);
    column->groups = !has_groups ? NULL
                     : shared    ? shared
                                 : section.ptr + CN_META_HEAD_LEN;
    column->value_count = columns->row_count;
    column->is_indirect = true;
    return true;
}

/* The same column as one before it that has its values. */
static bool open_same(struct cn_columns *columns, unsigned i, unsigned other,
                      struct cn_error *err)
{
    if (other >= i || columns->fields[other].in_chunks ||
        has_references(&columns->fields[other]))
        return cn_fail(err, CN_ERR_FORMAT, "column %s is the same as column %u",
                       cn_store_row_fields[i].name, other);
    columns->fields[i] = columns->fields[other];
    return true;
}

static bool open_field(struct cn_columns *columns, unsigned i, struct cn_error *err)
{
    struct cn_bytes section, head, rest;
    const uint8_t *shared = NULL;

    if (!cn_block_file_section(columns->file, i + 1, &section, err))
        return false;
    if (!cn_bytes_slice(section, 0, CN_META_HEAD_LEN, &head))
        return cn_fail(err, CN_ERR_FORMAT, "column %s is truncated",
                       cn_store_row_fields[i].name);
    if (!cn_block_file_check(columns->file, head, err))
        return false;
    uint64_t width = cn_u64_get(head.ptr + sizeof(uint64_t));
    columns->fields[i] = (struct cn_store_column){
        .lowest = cn_u64_get(head.ptr),
        .highest = cn_u64_get(head.ptr + 2 * sizeof(uint64_t)),
    };
    if ((width & ~(uint64_t)UINT8_MAX) == CN_META_IS_SAME)
        return open_same(columns, i, (unsigned)(width & UINT8_MAX), err);
    if ((width & ~(uint64_t)(CN_META_HAS_GROUPS | CN_META_SHARES_GROUPS)) ==
        CN_META_IN_CHUNKS) {
        columns->fields[i].bytes = section;
        columns->fields[i].in_chunks = (unsigned)width;
        return true;
    }
    if (!cn_bytes_from(section, CN_META_HEAD_LEN, &rest))
        return cn_fail(err, CN_ERR_FORMAT, "column %s is truncated",
                       cn_store_row_fields[i].name);
    if (width == CN_META_IS_NUMBERED)
        return i == CN_STORE_FIELD_in_chunk_off
                   ? cn_numbered_open(&columns->fields[i], columns->file,
                                      &columns->fields[CN_STORE_FIELD_data_off], rest,
                                      err)
                   : cn_fail(err, CN_ERR_FORMAT, "column %s has numbered rows",
                             cn_store_row_fields[i].name);
    if (!find_shared(columns, i, width, &shared, err))
        return false;
    if (!(i == CN_STORE_FIELD_parent_id && width & CN_META_HAS_REFERENCES
              ? open_references(columns, &columns->fields[i], rest, width)
              : open_values(columns, &columns->fields[i], rest, width, shared)))
        return cn_fail(err, CN_ERR_FORMAT,
                       "column %s is too short for %" PRIu32 " values of width %" PRIu64,
                       cn_store_row_fields[i].name, columns->row_count, width);
    return true;
}

void cn_columns_close(struct cn_columns *columns)
{
    for (unsigned i = 0; i < CN_STORE_FIELD_COUNT; i++)
        cn_chunk_values_free(columns->fields[i].chunks);
    *columns = (struct cn_columns){0};
}

static bool open_fields(struct cn_columns *columns, const struct cn_file *data,
                        struct cn_error *err)
{
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++)
        if (!open_field(columns, i, err))
            return false;
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (columns->fields[i].in_chunks && !open_in_chunks(columns, i, data, err)) {
            cn_columns_close(columns);
            return false;
        }
    }
    return true;
}

/* The table of rows by id in bits. Without one that is sound there is none. */
static bool open_slot_bits(struct cn_columns *columns)
{
    struct cn_bytes section, head;
    struct cn_error ignored;

    if (!cn_block_file_section(columns->file, CN_META_SECTION_START_BITS_ID, &section,
                               &ignored) ||
        !cn_bytes_slice(section, 0, 2 * sizeof(uint64_t), &head) ||
        !cn_block_file_check(columns->file, head, &ignored))
        return false;
    uint64_t count = cn_u64_get(head.ptr), bits = cn_u64_get(head.ptr + sizeof(count));
    if (bits == 0 || bits > 8 * CN_META_SLOT_LEN ||
        count > cn_meta_slot_count(UINT32_MAX) ||
        !cn_bytes_slice(section, head.len, bits_len(count, bits) + CN_META_PAD_LEN,
                        &columns->slots))
        return false;
    columns->slot_count = count;
    columns->slot_bits = (unsigned)bits;
    columns->has_starts = true;
    return true;
}

bool cn_columns_open(struct cn_columns *columns, const struct cn_block_file *file,
                     const struct cn_file *data, struct cn_error *err)
{
    struct cn_columns opened = {.file = file};
    struct cn_error ignored = {0};
    struct cn_bytes section;

    if (!cn_block_file_section(file, CN_META_SECTION_COUNT_ID, &section, err))
        return false;
    if (section.len < sizeof(uint64_t) || !cn_block_file_check(file, section, err) ||
        cn_u64_get(section.ptr) > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "the number of rows is missing");
    opened.row_count = (uint32_t)cn_u64_get(section.ptr);
    if (!open_fields(&opened, data, err))
        return false;
    if (open_slot_bits(&opened)) {
        *columns = opened;
        return true;
    }
    opened.has_starts =
        cn_block_file_section(file, CN_META_SECTION_STARTS_ID, &opened.slots, &ignored);
    if (!opened.has_starts &&
        (!cn_block_file_section(file, CN_META_SECTION_SLOTS_ID, &opened.slots,
                                &ignored) ||
         opened.slots.len != cn_meta_slot_count(opened.row_count) * CN_META_SLOT_LEN))
        opened.slots = (struct cn_bytes){0};
    opened.slot_count = opened.slots.len / CN_META_SLOT_LEN;
    opened.slot_bits = 8 * CN_META_SLOT_LEN;
    *columns = opened;
    return true;
}

static bool check_column(const struct cn_columns *columns,
                         const struct cn_store_column *column, struct cn_error *err)
{
    struct cn_bytes groups = {
        column->groups,
        column->groups ? (size_t)cn_meta_groups_len(columns->row_count) : 0};

    return !columns->file ||
           (cn_block_file_check(columns->file, column->bytes, err) &&
            cn_block_file_check(columns->file, groups, err) &&
            (!column->runs ||
             cn_block_file_check(columns->file, column->run_bytes, err)) &&
            (!column->chunks || cn_chunk_values_check_all(column->chunks, err)));
}

bool cn_columns_field(const struct cn_columns *columns, enum cn_store_field field,
                      struct cn_store_column *out, struct cn_error *err)
{
    const struct cn_store_column *column = &columns->fields[field];
    const struct cn_store_column *ids =
        has_references(column) ? &columns->fields[CN_STORE_FIELD_span_id] : NULL;

    if (!check_column(columns, column, err) || (ids && !check_column(columns, ids, err)))
        return false;
    *out = *column;
    out->ids = ids;
    out->is_indirect |= ids != NULL;
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
    if (stored == CN_META_REFERS_TO_EXCEPTION) {
        struct cn_bytes rest = {
            column.exception_rows,
            (size_t)cn_meta_exception_rows_len(column.exception_count) +
                column.exception_count * sizeof(uint64_t)};

        if (!cn_block_file_check(columns->file, rest, err))
            return false;
    } else if (stored >= CN_META_REFERS_FROM) {
        distance = stored - CN_META_REFERS_FROM;
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
    uint64_t at, i = row;
    struct cn_bytes value;

    if (!columns->file)
        return true;
    if (column->runs)
        return cn_numbered_check(column, columns->file, row, err);
    if (column->groups) {
        value = (struct cn_bytes){column->groups + (size_t)(row / CN_COLUMN_GROUP_ROWS) *
                                                       CN_COLUMN_GROUP_LEN,
                                  CN_COLUMN_GROUP_LEN};
        if (!cn_block_file_check(columns->file, value, err))
            return false;
        i = cn_store_column_index(column, row);
    }
    if (column->chunks)
        return cn_chunk_values_check(column->chunks, row, i, err);
    if (column->bases &&
        (!(column->codes
               ? cn_bytes_slice(column->bytes, 0,
                                sizeof(uint64_t) * (1 + (uint64_t)column->base_len),
                                &value)
               : cn_bytes_slice(column->bytes,
                                (uint64_t)(row / CN_COLUMN_GROUP_ROWS) * column->base_len,
                                column->base_len, &value)) ||
         !cn_block_file_check(columns->file, value, err)))
        return false;
    at = (uint64_t)(column->values - column->bytes.ptr);
    return cn_bytes_slice(column->bytes, at + i * column->stride / 8, sizeof(uint64_t),
                          &value) &&
           cn_block_file_check(columns->file, value, err);
}

bool cn_columns_row(const struct cn_columns *columns, uint32_t row,
                    struct cn_store_row *out, struct cn_error *err)
{
    return cn_columns_part_of_row(columns, row, UINT64_MAX, out, err);
}

bool cn_columns_part_of_row(const struct cn_columns *columns, uint32_t row,
                            uint64_t fields, struct cn_store_row *out,
                            struct cn_error *err)
{
    uint8_t bytes[cn_store_row_size] = {0};

    assert(row < columns->row_count);
    for (unsigned i = 0; i < CN_STORE_FIELD_checksum; i++) {
        if (!(fields >> i & 1))
            continue;
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

/* What is in a slot. The last ones of 32 bits are not followed by more bytes. */
static bool slot_at(const struct cn_columns *columns, uint64_t slot, uint32_t *out)
{
    uint64_t bit = slot * columns->slot_bits;
    uint8_t eight[sizeof(uint64_t)] = {0};
    struct cn_error ignored = {0};
    struct cn_bytes at;

    if (!cn_bytes_slice(columns->slots, bit / 8, (bit % 8 + columns->slot_bits + 7) / 8,
                        &at) ||
        !cn_block_file_check(columns->file, at, &ignored))
        return false;
    memcpy(eight, at.ptr, at.len);
    *out = (uint32_t)(cn_u64_get(eight) >> bit % 8 & mask_of(columns->slot_bits));
    return true;
}

/* Called without `visit` first, so that no row of a damaged table is visited. */
static bool probe_trace(const struct cn_columns *columns, uint64_t high, uint64_t low,
                        cn_columns_visit visit, void *arg)
{
    uint64_t slot_count = columns->slot_count;
    uint64_t slot = cn_meta_first_slot(low, slot_count), row_high, row_low;

    for (uint64_t i = 0; i < slot_count; i++) {
        uint32_t row;

        if (!slot_at(columns, slot, &row))
            return false;
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
    return columns->slot_count > 0 && probe_trace(columns, high, low, NULL, NULL) &&
           probe_trace(columns, high, low, visit, arg);
}
