/* A column of meta.dat whose values are in the chunks of traces.dat: ids and durations, which no compression
 * makes shorter, are stored once.
 *
 * The section of such a column has, after its head and groups (store/index/columns.h): u64 number of
 * entries, an entry for each chunk that rows are in, in their order, the values that are in no chunk, 8
 * zero bytes. The values of a chunk are where its entry says, one for each of its rows or, in a column
 * with groups, of its rows with a bit. Which chunk a row is in follows from the groups of the column
 * data_off; a value that rows of several chunks have is that of the first.
 *
 * Internal to columns.c and columns_write.c.
 * Threads: any thread, after open.
 */
#ifndef CN_STORE_INDEX_CHUNK_VALUES_H
#define CN_STORE_INDEX_CHUNK_VALUES_H

#include "base/bytes/record.h"
#include "store/index/columns.h"

#define CN_CHUNK_VALUES_ENTRY(F)                                                     \
    F(0x00, u64, off, "of the values, in traces.dat or in the section")              \
    F(0x08, u64, lowest, "is added to each value")                                   \
    F(0x10, u32, first, "number of the first value in the column")                   \
    F(0x14, u32, count, "values")                                                    \
    F(0x18, u32, checksum, "CRC-32C of their bytes in traces.dat")                   \
    F(0x1c, u8, bits, "of each value: 1 to 56, or 64; the first in the lowest ones") \
    F(0x1d, u8, is_here, "1: they are in the section")
CN_RECORD(cn_chunk_values_entry, CN_CHUNK_VALUES_ENTRY, 0x20);

struct cn_chunk_values;

/* Open the bytes after the groups of a column: `section` is all of it, `at` where they begin. `runs` is
 * the column data_off of `row_count` rows, with groups; `data` is traces.dat. Both outlive what is opened, and `file`. */
CN_CHECK bool cn_chunk_values_open(struct cn_chunk_values **out,
                                   const struct cn_block_file *file,
                                   const struct cn_file *data,
                                   const struct cn_store_column *runs, uint32_t row_count,
                                   struct cn_bytes section, size_t at,
                                   struct cn_error *err);
void cn_chunk_values_free(struct cn_chunk_values *values); /* NULL is fine */

/* Check value `i`, that of `row`, and how it is found, or all values, before they are used. */
CN_CHECK bool cn_chunk_values_check(struct cn_chunk_values *values, uint32_t row,
                                    uint64_t i, struct cn_error *err);
CN_CHECK bool cn_chunk_values_check_all(struct cn_chunk_values *values,
                                        struct cn_error *err);

/* The values of the rows from `row` on, in a column without groups. */
void cn_chunk_values_read(const struct cn_chunk_values *values, uint32_t row,
                          uint32_t count, uint64_t *out);

/* Value `i` of a column with groups, that of `row`, and those after it, 0 if the section is damaged. Only if
 * all were checked and are in memory. */
bool cn_chunk_values_has_list(const struct cn_chunk_values *values);
void cn_chunk_values_list(const struct cn_chunk_values *values, uint32_t row, uint32_t i,
                          uint32_t count, uint64_t *out);

/* Value `i` of the column, that of `row`; 0 if the section is damaged. */
uint64_t cn_chunk_values_at(const struct cn_chunk_values *values, uint32_t row,
                            uint64_t i);

#endif
