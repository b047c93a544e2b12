/* The rows of a segment by column, so that filters and sorts scan one field at a time.
 *
 * A column is a view of the fixed-size rows of an open segment, or of meta.dat of a sealed one,
 * where a value takes as many bytes as the column needs. Value i is the number at i * stride,
 * masked to its bytes, plus the lowest value of the column.
 *
 * meta.dat is a block file (base/files/blocks.h) with one section for each field of a row
 * except the checksum, in the order of CN_STORE_ROW, numbered from 1:
 *   u64 lowest value | u64 bytes per value (0 to 8) | u64 highest value | row_count values |
 *   8 zero bytes
 * Section 0 is the number of rows, u64. Section 64 finds traces by id: u32 per slot, 1 + the
 * number of a row, 0 if free. There are 4/3 as many slots as rows, and at least one more; the
 * first slot of a row is (lower half of the id * 0x9e3779b97f4a7c15 mod 2^64 / 2^32) * slots / 2^32;
 * if taken, the next slot, after the last one the first.
 * Threads: immutable after open.
 */
#ifndef CN_STORE_INDEX_COLUMNS_H
#define CN_STORE_INDEX_COLUMNS_H

#include "base/files/blocks.h"
#include "store/index/row.h"

#define CN_META_FILE_NAME  "meta.dat"
#define CN_META_FILE_MAGIC UINT64_C(0x4154454d54534e43) /* "CNSTMETA" */
enum { CN_META_FILE_VERSION = 1 };

#define CN_STORE_FIELD_ENUM(off, type, name, meaning) CN_STORE_FIELD_##name,
enum cn_store_field { CN_STORE_ROW(CN_STORE_FIELD_ENUM) CN_STORE_FIELD_COUNT };

struct cn_store_column {
    struct cn_bytes bytes; /* at least 8 of them from the start of the last value */
    size_t stride;
    uint64_t mask, lowest;
    uint64_t highest; /* set for meta.dat only */
};

struct cn_columns {
    uint32_t row_count;
    struct cn_store_column fields[CN_STORE_FIELD_COUNT];
    const struct cn_block_file *file; /* NULL: views of rows */
    struct cn_bytes slots;            /* of meta.dat: rows by id; may be empty */
};

/* Views of encoded rows, as in meta.log. The rows must outlive the columns. */
void cn_columns_of_rows(struct cn_columns *columns, struct cn_bytes rows);

/* Views of meta.dat, which must outlive the columns. */
CN_CHECK bool cn_columns_open(struct cn_columns *columns,
                              const struct cn_block_file *file, struct cn_error *err);

/* A column, after its checksums were checked. */
CN_CHECK bool cn_columns_field(const struct cn_columns *columns,
                               enum cn_store_field field, struct cn_store_column *out,
                               struct cn_error *err);

static inline uint64_t cn_store_column_at(const struct cn_store_column *column,
                                          uint32_t row)
{
    return (cn_u64_get(column->bytes.ptr + row * column->stride) & column->mask) +
           column->lowest;
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

/* Write meta.dat into the folder of a segment. */
CN_CHECK bool cn_columns_write(const struct cn_disk *disk, const char *dir,
                               const struct cn_columns *columns, struct cn_error *err);

#endif
