/* Columns of numbers in few bytes, for packed chunks (formats/zorka/packed.h).
 *
 * A column is written to two outputs: `soft`, which is compressed afterwards, and `hard`, whose bits
 * are as good as random. It begins with its form, a byte of `soft`; a column without values has none.
 *
 *   0 one     varint: the value of all
 *   1 bits    varint: the lowest value; u8: bits of each (1 to 56, or 64). hard: the values minus the
 *             lowest, the first in the lowest bits, filled up to a byte
 *   2 codes   varint: how many different values there are, 2 to 256; these ascending, each as the
 *             difference to the one before (varint); then a byte for each value: which it is
 *   3 codes   the same, but which it is in bits, as many as the highest code has. hard: the codes, as
 *             the values of form 1
 *
 * Threads: one thread at a time for each writer and reader.
 */
#ifndef CN_FORMATS_ZORKA_NUMBER_COLUMNS_H
#define CN_FORMATS_ZORKA_NUMBER_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"

struct cn_number_column {
    uint64_t *values; /* owned */
    size_t count, capacity;
    /* Of a column that is added to: values differ. Until then only the first is in `values`. */
    bool is_mixed;
    /* Of a column that was taken in the form of bits: the lowest value and the bits of each; of others 0
     * bits. */
    uint64_t lowest;
    unsigned bits;
};

/* The value is the first, or the first that differs. */
void cn_number_column_mix(struct cn_number_column *column, uint64_t value);

static inline void cn_number_column_add(struct cn_number_column *column, uint64_t value)
{
    if (column->is_mixed && column->count < column->capacity)
        column->values[column->count++] = value;
    else if (!column->is_mixed && column->count > 0 && column->values[0] == value)
        column->count++;
    else
        cn_number_column_mix(column, value);
}

static inline void cn_number_column_clear(struct cn_number_column *column)
{
    column->count = 0;
    column->is_mixed = false;
}
void cn_number_column_done(struct cn_number_column *column);

void cn_number_column_put(const struct cn_number_column *column, struct cn_text *soft,
                          struct cn_text *hard);

/* True if a column that was taken, with its `is_same`, has the values of one that was added to. */
bool cn_number_column_equals(const struct cn_number_column *taken, bool is_same,
                             const struct cn_number_column *added);

/* The two inputs, from which columns are taken in the order of writing. */
struct cn_number_input {
    struct cn_bytes soft, hard;
};

/* Take a column of `count` values, into the memory that it has. `is_same` receives true if all are
 * equal; then there is only the first. Fails if the inputs are too short or not as described. */
CN_CHECK bool cn_number_column_take(struct cn_number_column *column, size_t count,
                                    bool *is_same, struct cn_number_input *in,
                                    struct cn_error *err);

/* Signed numbers as unsigned ones, small if they are near 0. */
static inline uint64_t cn_zigzag(uint64_t value)
{
    return value << 1 ^ (0 - (value >> 63));
}
static inline uint64_t cn_unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

#endif
