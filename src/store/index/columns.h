/* The rows of a segment by column, so that filters and sorts scan one field at a time.
 *
 * A column is a view of the fixed-size rows of an open segment, or of meta.dat of a sealed one,
 * where a value takes as many bits as the column needs. Value i is the number at bit i * stride,
 * masked to its bits, plus the lowest value of the column.
 *
 * meta.dat is a block file (base/files/blocks.h) with one section for each field of a row
 * except the checksum, in the order of CN_STORE_ROW, numbered from 1:
 *   u64 lowest value | u64 bytes per value (0 to 8) | u64 highest value | row_count values |
 *   8 zero bytes
 * In version 2, 256 is added to the bytes per value of a column whose values repeat from row to row:
 * then it has a group for each 64 rows before the values,
 *   u64 a bit for each row whose value is not that of the row before | u32 bits in groups before
 * and only the values of rows with a bit. The first row has one.
 * In version 3, 512 is added to those of the parents of spans if most of them are spans of the segment:
 *   u64 2 | u64 bytes per value + 512 | u64 0 | row_count values | u64 exceptions | row of each, u32,
 *   padded to 8 bytes | parent of each, u64 | 8 zero bytes
 * A value is 0: none, 1: an exception, or 2 + d: the span of the row that is d before (d even: d / 2;
 * odd: (d + 1) / 2 after). Exceptions are sorted by row.
 * In version 4, the number of bytes is one of bits plus 1024, for all columns: values follow each other
 * without a gap, the first in the lowest bits, up to a whole byte. 2048 is added if values of neighbours
 * are near each other, as times: then there is a u64 for each 64 rows before the values, their lowest
 * value, which is added to them instead of that of the column.
 * In version 5:
 *   8192 is added if a column has few different values: then there is a table before the values, u64 how
 *   many (at most 256), and these, u64 each; and values are numbers of the table
 *   16384 is added, with 2048, if values grow in step with rows: then what comes before the values for each
 *   64 rows is u64 base, u32 slope; base + slope * (row modulo 64) is added to values
 *   32768 + a number of a field instead: the column is the same as that of the field
 *   4096 instead, plus 256 if it has groups: the values of the column are in the chunks of traces.dat
 *   (store/index/chunk_values.h)
 *   131072 is added to the 256 of a column whose values are new in the same rows as those of the field before it:
 *   it has the groups of that
 *   8192 is added to the 512 of parents likewise
 *   65536 instead: rows are spans by their number in the chunk (store/index/numbered.h); also in version 4
 * Section 0 is the number of rows, u64. Section 64 (version 1) or 65 finds traces by id: u32 per slot,
 * 1 + the number of a row, 0 if free; in 65 only of rows whose id is not that of the row before. There
 * are 4/3 as many slots as such rows, and at least one more; the first slot of a row is (lower half of the id * 0x9e3779b97f4a7c15 mod 2^64 / 2^32) * slots / 2^32;
 * if taken, the next slot, after the last one the first. From version 4 on, section 66 instead of 65 has
 * u64 slots | u64 bits of each (1 to 32) | the slots, the first in the lowest bits | 8 zero bytes
 * Threads: immutable after open.
 */
#ifndef CN_STORE_INDEX_COLUMNS_H
#define CN_STORE_INDEX_COLUMNS_H

#include "base/files/blocks.h"
#include "base/files/content.h"
#include "store/index/row.h"

#define CN_META_FILE_NAME  "meta.dat"
#define CN_META_FILE_MAGIC UINT64_C(0x4154454d54534e43) /* "CNSTMETA" */
enum {
    CN_META_FILE_VERSION = 5,
    CN_META_FILE_ALONE = 4,  /* no column refers to traces.dat */
    CN_META_FILE_BYTES = 3,  /* values are bytes */
    CN_META_FILE_GROUPS = 2, /* no column refers to another */
    CN_META_FILE_PLAIN = 1,  /* no column has groups */
};

#define CN_STORE_FIELD_ENUM(off, type, name, meaning) CN_STORE_FIELD_##name,
enum cn_store_field { CN_STORE_ROW(CN_STORE_FIELD_ENUM) CN_STORE_FIELD_COUNT };

struct cn_chunk_values;

struct cn_store_column {
    struct cn_bytes bytes; /* of groups and values */
    const uint8_t *values; /* at least 8 bytes from the start of the last one */
    const uint8_t *groups; /* NULL: there is a value for each row */
    const uint8_t *bases;  /* by group of rows; NULL: `lowest` is that of all */
    const uint8_t *codes;  /* the values that it has, if `bases` is these, too */
    uint32_t base_len;     /* bytes of a base; of codes, how many there are */
    uint32_t value_count;  /* with groups */
    uint32_t row_count;    /* these four: of a column that refers to another */
    const struct cn_store_column *ids; /* that its values refer to; NULL: they do not */
    const uint8_t *exception_rows, *exceptions;
    uint32_t exception_count;
    struct cn_chunk_values *chunks; /* that have its values; NULL: it has them */
    unsigned in_chunks;             /* its head, if it is so */
    const uint8_t
        *runs; /* of numbered rows (store/index/numbered.h), NULL: it has none; and */
    uint32_t run_count;
    const uint8_t *run_groups; /* of the column data_off */
    struct cn_bytes run_bytes;
    uint32_t run_values;
    bool is_indirect; /* `ids`, `chunks` or `runs` is set */
    uint64_t stride;  /* bits */
    uint64_t mask, lowest;
    uint64_t highest; /* set for meta.dat only */
};

struct cn_columns {
    uint32_t row_count;
    struct cn_store_column fields[CN_STORE_FIELD_COUNT];
    const struct cn_block_file *file; /* NULL: views of rows */
    struct cn_bytes slots;            /* of meta.dat: rows by id; may be empty */
    uint64_t slot_count;
    unsigned slot_bits; /* of each */
    bool has_starts;    /* slots of the first of rows with the same id only */
};

/* Where chunks of traces.dat have ids and durations: rows that follow each other with the same data_off are of one chunk.
 * Numbers of `bits` bits each, the first in the lowest bits of the byte at `off`; `lowest` is added. */
struct cn_chunk_place {
    uint64_t off, lowest;
    uint32_t count;
    unsigned bits; /* 0: unknown */
};

/* Fields whose values may be in chunks. */
enum cn_chunk_field {
    CN_CHUNK_TRACE_HIGH,
    CN_CHUNK_TRACE_LOW,
    CN_CHUNK_SPAN_ID,
    CN_CHUNK_DURATION,
    CN_CHUNK_FIELDS
};

struct cn_chunk_places {
    struct cn_content data; /* of traces.dat */
    struct cn_chunk_place (
        *places)[CN_CHUNK_FIELDS]; /* by run of rows with the same data_off */
    size_t count, capacity;
};

/* Views of encoded rows, as in meta.log. The rows must outlive the columns. */
void cn_columns_of_rows(struct cn_columns *columns, struct cn_bytes rows);

/* Views of meta.dat, which must outlive the columns, as must `data`, the traces.dat that it is of; NULL:
 * there is none. */
CN_CHECK bool cn_columns_open(struct cn_columns *columns,
                              const struct cn_block_file *file,
                              const struct cn_file *data, struct cn_error *err);
void cn_columns_close(struct cn_columns *columns); /* safe on a zeroed one */

/* A column, after its checksums were checked. */
CN_CHECK bool cn_columns_field(const struct cn_columns *columns,
                               enum cn_store_field field, struct cn_store_column *out,
                               struct cn_error *err);

enum { CN_COLUMN_GROUP_ROWS = 64, CN_COLUMN_GROUP_LEN = 12 };

/* The bits that are set, without a call on machines whose processor may lack an instruction for it. */
static inline uint32_t cn_bits_set(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) +
           (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

/* Which of the values of a column with groups is that of a row; 0 if the groups are damaged. */
static inline uint32_t cn_store_column_index(const struct cn_store_column *column,
                                             uint32_t row)
{
    const uint8_t *group =
        column->groups + (size_t)(row / CN_COLUMN_GROUP_ROWS) * CN_COLUMN_GROUP_LEN;
    uint64_t before = cn_u64_get(group)
                      << (CN_COLUMN_GROUP_ROWS - 1 - row % CN_COLUMN_GROUP_ROWS);
    uint32_t i = cn_u32_get(group + sizeof(uint64_t)) + cn_bits_set(before) - 1;

    return i < column->value_count ? i : 0;
}

enum { CN_COLUMN_BASE_LEN = 8, CN_COLUMN_SLOPE_LEN = 12 };

/* The value of a row with `number` in a column with bases or codes. */
static inline uint64_t cn_store_column_based(const struct cn_store_column *column,
                                             uint32_t row, uint64_t number)
{
    const uint8_t *base =
        column->bases + (size_t)(row / CN_COLUMN_GROUP_ROWS) * column->base_len;

    if (column->codes)
        return number < column->base_len
                   ? cn_u64_get(column->codes + number * sizeof(uint64_t))
                   : 0;
    if (column->base_len == CN_COLUMN_SLOPE_LEN)
        number +=
            (uint64_t)cn_u32_get(base + sizeof(uint64_t)) * (row % CN_COLUMN_GROUP_ROWS);
    return number + cn_u64_get(base);
}

/* A value as it is stored. */
static inline uint64_t cn_store_column_stored(const struct cn_store_column *column,
                                              uint32_t row)
{
    uint64_t i = column->groups ? cn_store_column_index(column, row) : row;
    uint64_t bit = i * column->stride;
    uint64_t value =
        cn_u64_get(column->values + (size_t)(bit / 8)) >> bit % 8 & column->mask;

    return column->bases ? cn_store_column_based(column, row, value)
                         : value + column->lowest;
}

/* What a value that refers to another column stands for; 0 if it is damaged. */
uint64_t cn_store_column_referred(const struct cn_store_column *column, uint32_t row,
                                  uint64_t stored);

/* A value that is not stored in the column itself. */
uint64_t cn_store_column_elsewhere(const struct cn_store_column *column, uint32_t row);

static inline uint64_t cn_store_column_at(const struct cn_store_column *column,
                                          uint32_t row)
{
    return column->is_indirect ? cn_store_column_elsewhere(column, row)
                               : cn_store_column_stored(column, row);
}

/* The values of some rows, faster than one at a time. */
void cn_store_column_read(const struct cn_store_column *column, uint32_t first_row,
                          uint32_t count, uint64_t *out);

/* The values of those rows of a group of CN_COLUMN_GROUP_ROWS whose bits are set, the first in the lowest
 * bit. */
void cn_store_column_read_bits(const struct cn_store_column *column, uint32_t first_row,
                               uint64_t bits, uint64_t *out);

/* The same column with 0 where a row has no parent and another number where it has one: without
 * finding the spans that parents are. */
static inline struct cn_store_column
cn_store_column_is_any(const struct cn_store_column *column)
{
    struct cn_store_column any = *column;

    if (any.ids) {
        any.ids = NULL;
        any.is_indirect = any.chunks || any.runs;
    }
    return any;
}

/* The values of rows that are mostly asked for one after the other. */
struct cn_column_cursor {
    const struct cn_store_column *column;
    uint32_t row_count; /* of the column */
    uint32_t first, count, next;
    uint64_t values[CN_COLUMN_GROUP_ROWS]; /* of rows from `first` on */
};

static inline uint64_t cn_column_cursor_at(struct cn_column_cursor *cursor, uint32_t row)
{
    bool is_next = row == cursor->next;

    cursor->next = row + 1;
    if (row - cursor->first < cursor->count)
        return cursor->values[row - cursor->first];
    if (!is_next)
        return cn_store_column_at(cursor->column, row);
    cursor->first = row;
    cursor->count = cursor->row_count - row < CN_COLUMN_GROUP_ROWS
                        ? cursor->row_count - row
                        : CN_COLUMN_GROUP_ROWS;
    cn_store_column_read(cursor->column, row, cursor->count, cursor->values);
    return cursor->values[0];
}

/* Of a column with groups: a bit for `row` and each row after it in its group, set if the value is not
 * that of the row before. */
static inline uint64_t cn_store_column_starts(const struct cn_store_column *column,
                                              uint32_t row)
{
    return cn_u64_get(column->groups +
                      (size_t)(row / CN_COLUMN_GROUP_ROWS) * CN_COLUMN_GROUP_LEN) >>
           row % CN_COLUMN_GROUP_ROWS;
}

/* False if the value of a row is that of the row before. */
static inline bool cn_store_column_is_new(const struct cn_store_column *column,
                                          uint32_t row)
{
    if (column->groups)
        return cn_store_column_starts(column, row) & 1;
    return row == 0 ||
           cn_store_column_at(column, row) != cn_store_column_at(column, row - 1);
}

/* The lowest and highest value of a column; without rows, the lowest is above the highest. */
void cn_columns_range(const struct cn_columns *columns, enum cn_store_field field,
                      uint64_t *lowest, uint64_t *highest);

/* Call `visit` for every row of a trace. False if there is no sound table of ids: then no row
 * was visited, and all rows have to be scanned. */
typedef void (*cn_columns_visit)(void *arg, uint32_t row);
bool cn_columns_find_trace(const struct cn_columns *columns, uint64_t high, uint64_t low,
                           cn_columns_visit visit, void *arg);

/* One row, without its checksum. */
CN_CHECK bool cn_columns_row(const struct cn_columns *columns, uint32_t row,
                             struct cn_store_row *out, struct cn_error *err);

/* The same of some fields, bits by enum cn_store_field; others are 0. */
CN_CHECK bool cn_columns_part_of_row(const struct cn_columns *columns, uint32_t row,
                                     uint64_t fields, struct cn_store_row *out,
                                     struct cn_error *err);

/* Write meta.dat into the folder of a segment, in this version: CN_META_FILE_GROUPS or a later one. Values that
 * the chunks have at `places` are only referred to, in CN_META_FILE_VERSION; NULL: none. */
CN_CHECK bool cn_columns_write(const struct cn_disk *disk, const char *dir,
                               const struct cn_columns *columns, unsigned version,
                               const struct cn_chunk_places *places,
                               struct cn_error *err);

#endif
