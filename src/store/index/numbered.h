/* Rows that are spans of a packed chunk by their number: where their records are is not stored.
 *
 * Most chunks of spans have a row for each span, in the same order. In meta.dat, in_chunk_off of such rows is
 * the number of the span in its chunk, from 0; in_chunk_len is CN_ROW_NUMBERED, part_len 0. The section of
 * in_chunk_off then has no value for them. After its head (store/index/columns.h) follow
 *   u64 runs of rows with the same data_off, of each: u32 first row, u32 number of its first value, or
 *   UINT32_MAX: its rows are numbered | the values of the other rows, u32 each | 8 zero bytes
 *
 * Internal to columns.c and columns_write.c.
 * Threads: immutable.
 */
#ifndef CN_STORE_INDEX_NUMBERED_H
#define CN_STORE_INDEX_NUMBERED_H

#include "base/bytes/record.h"
#include "base/files/blocks.h"
#include "store/index/columns.h"

#define CN_NUMBERED_RUN(F)           \
    F(0x00, u32, first_row, "of it") \
    F(0x04, u32, first_value, "UINT32_MAX: its rows are numbered")
CN_RECORD(cn_numbered_run, CN_NUMBERED_RUN, 0x08);

/* Open what follows the head. `data_off` is that column, with groups. */
CN_CHECK bool cn_numbered_open(struct cn_store_column *column,
                               const struct cn_block_file *file,
                               const struct cn_store_column *data_off,
                               struct cn_bytes rest, struct cn_error *err);

/* Check what the value of a row is found by. */
CN_CHECK bool cn_numbered_check(const struct cn_store_column *column,
                                const struct cn_block_file *file, uint32_t row,
                                struct cn_error *err);

/* The value of a row; 0 if the section is damaged. */
uint64_t cn_numbered_at(const struct cn_store_column *column, uint32_t row);

/* Which runs of rows are numbered. */
struct cn_numbered_runs {
    bool *are; /* by run; owned */
    size_t count, capacity;
    bool is_any;
};

/* Find them: those of chunks with as many spans as rows; without `places` those that already are.
 * The caller frees `are`. */
void cn_numbered_find(struct cn_numbered_runs *runs, const struct cn_columns *columns,
                      const struct cn_chunk_places *places);

/* Write what follows the head of in_chunk_off. */
CN_CHECK bool cn_numbered_write(struct cn_block_writer *writer,
                                const struct cn_columns *columns,
                                const struct cn_numbered_runs *runs,
                                struct cn_error *err);

/* The values of a column with `numbered` for numbered rows: a column over `values`, which has room for
 * one of each row and 4 more bytes. */
struct cn_store_column cn_numbered_others(uint8_t *values,
                                          const struct cn_columns *columns,
                                          const struct cn_store_column *column,
                                          const struct cn_numbered_runs *runs,
                                          uint32_t numbered);

#endif
