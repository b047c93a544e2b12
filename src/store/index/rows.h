/* A set of rows of one segment: a bit per row, so that AND, OR and NOT run at the speed of memory.
 *
 * Bits after the last row are always clear.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_ROWS_H
#define CN_STORE_INDEX_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_rows {
    uint64_t *words;
    uint32_t count; /* rows of the segment, in the set or not */
};

static inline size_t cn_rows_word_count(const struct cn_rows *rows)
{
    return ((size_t)rows->count + 63) / 64;
}

/* An empty set of `count` possible rows. */
void cn_rows_init(struct cn_rows *rows, uint32_t count);
void cn_rows_done(struct cn_rows *rows);

static inline void cn_rows_set(struct cn_rows *rows, uint32_t row)
{
    rows->words[row / 64] |= UINT64_C(1) << row % 64;
}

static inline void cn_rows_clear(struct cn_rows *rows, uint32_t row)
{
    rows->words[row / 64] &= ~(UINT64_C(1) << row % 64);
}

static inline bool cn_rows_has(const struct cn_rows *rows, uint32_t row)
{
    return rows->words[row / 64] >> row % 64 & 1;
}

/* Rows `first` up to, not including, `end`. */
void cn_rows_set_range(struct cn_rows *rows, uint32_t first, uint32_t end);

/* True if all of them are in the set. */
bool cn_rows_has_range(const struct cn_rows *rows, uint32_t first, uint32_t end);

/* Add the rows of a little-endian bitmap of `bit_count` bits, whose lowest bit is row `first`. */
void cn_rows_set_bits(struct cn_rows *rows, uint32_t first, const uint8_t *bits,
                      uint32_t bit_count);

void cn_rows_and(struct cn_rows *rows, const struct cn_rows *other);
void cn_rows_or(struct cn_rows *rows, const struct cn_rows *other);
void cn_rows_not(struct cn_rows *rows);

bool cn_rows_is_empty(const struct cn_rows *rows);
uint64_t cn_rows_size(const struct cn_rows *rows); /* rows in the set */

/* The last row of the set before `row`; `count` if there is none. */
uint32_t cn_rows_before(const struct cn_rows *rows, uint32_t row);

/* The first row of the set at or after `row`; `count` if there is none. */
uint32_t cn_rows_next(const struct cn_rows *rows, uint32_t row);

#endif
