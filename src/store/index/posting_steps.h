/* Rows of a key in few bits: the steps from one row to the next as Rice codes.
 *
 *   varint rows | u8 bits | for each row, the first in the lowest bits: step / 2^bits zeros, a one, the lowest
 *   `bits` bits of the step
 * The first step is the first row; others are the difference to the row before, minus 1.
 *
 * If rows are any rows, no code takes much less: 7.1 bits for one row of 50, where a varint takes 8.6.
 * Threads: any thread.
 */
#ifndef CN_STORE_INDEX_POSTING_STEPS_H
#define CN_STORE_INDEX_POSTING_STEPS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes/record.h"
#include "base/text.h"

/* Append the rows, which are ascending. */
void cn_posting_steps_put(const uint32_t *rows, uint32_t count, struct cn_text *out);

struct cn_posting_steps {
    struct cn_bytes bytes;
    uint64_t bit;
    uint64_t left, row; /* row: the lowest that the next one may be */
    uint32_t row_count;
    unsigned low_bits;
};

/* Begin to read rows below `row_count`. False if the bytes are not such a list. */
CN_CHECK bool cn_posting_steps_begin(struct cn_posting_steps *steps,
                                     struct cn_bytes bytes, uint32_t row_count);

/* 57 bits or more from a bit on; after the end zeros. */
static inline uint64_t cn_posting_steps_peek(const struct cn_posting_steps *steps)
{
    size_t at = (size_t)(steps->bit / 8);
    uint8_t last[sizeof(uint64_t)] = {0};

    if (at < steps->bytes.len && steps->bytes.len - at >= sizeof(uint64_t))
        return cn_u64_get(steps->bytes.ptr + at) >> steps->bit % 8;
    if (at < steps->bytes.len)
        memcpy(last, steps->bytes.ptr + at, steps->bytes.len - at);
    return cn_u64_get(last) >> steps->bit % 8;
}

/* The next row, while `left` is not 0. False if there is none. */
static inline bool cn_posting_steps_next(struct cn_posting_steps *steps, uint32_t *row)
{
    enum { PEEKED = 57 };
    uint64_t bits = cn_posting_steps_peek(steps), high = 0;

    while (bits == 0) {
        high += PEEKED;
        steps->bit += PEEKED;
        if (steps->bit / 8 >= steps->bytes.len)
            return false;
        bits = cn_posting_steps_peek(steps);
        /* A peek may have zeros of bits beyond those that count. */
    }
    unsigned zeros = (unsigned)__builtin_ctzll(bits);
    high += zeros;
    steps->bit += zeros + UINT64_C(1);
    uint64_t low = cn_posting_steps_peek(steps) & ((UINT64_C(1) << steps->low_bits) - 1);
    steps->bit += steps->low_bits;
    if (high > steps->row_count >> steps->low_bits ||
        steps->bit > (uint64_t)steps->bytes.len * 8)
        return false;
    steps->row += (high << steps->low_bits) + low;
    if (steps->row >= steps->row_count)
        return false;
    *row = (uint32_t)steps->row++;
    steps->left--;
    return true;
}

#endif
