#include "store/index/rows.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/record.h"

void cn_rows_init(struct cn_rows *rows, uint32_t count)
{
    rows->count = count;
    rows->words = cn_alloc(cn_rows_word_count(rows), sizeof(*rows->words));
}

void cn_rows_done(struct cn_rows *rows)
{
    free(rows->words);
    *rows = (struct cn_rows){0};
}

void cn_rows_set_range(struct cn_rows *rows, uint32_t first, uint32_t end)
{
    if (first >= end)
        return;
    uint64_t low = UINT64_MAX << first % 64;
    uint64_t high = UINT64_MAX >> (63 - (end - 1) % 64);
    if (first / 64 == (end - 1) / 64) {
        rows->words[first / 64] |= low & high;
        return;
    }
    rows->words[first / 64] |= low;
    for (size_t i = first / 64 + 1; i < (end - 1) / 64; i++)
        rows->words[i] = UINT64_MAX;
    rows->words[(end - 1) / 64] |= high;
}

bool cn_rows_has_range(const struct cn_rows *rows, uint32_t first, uint32_t end)
{
    for (uint32_t row = first; row < end;) {
        uint32_t rest = 64 - row % 64;
        uint64_t mask = UINT64_MAX << row % 64;

        if (end - row < rest)
            mask &= UINT64_MAX >> (64 - end % 64);
        if ((rows->words[row / 64] & mask) != mask)
            return false;
        row += end - row < rest ? end - row : rest;
    }
    return true;
}

/* Add up to 64 bits that begin at `row`; all must be rows of the segment. */
static void set_word(struct cn_rows *rows, uint32_t row, uint64_t bits)
{
    unsigned shift = row % 64;

    rows->words[row / 64] |= bits << shift;
    if (shift > 0 && bits >> (64 - shift) != 0)
        rows->words[row / 64 + 1] |= bits >> (64 - shift);
}

void cn_rows_set_bits(struct cn_rows *rows, uint32_t first, const uint8_t *bits,
                      uint32_t bit_count)
{
    uint32_t done = 0;

    for (; bit_count - done >= 64; done += 64)
        set_word(rows, first + done, cn_u64_get(bits + done / 8));
    for (; done < bit_count; done += 8) {
        uint32_t rest = bit_count - done;
        uint64_t mask = rest < 8 ? UINT64_C(0xff) >> (8 - rest) : 0xff;

        if (bits[done / 8] & mask)
            set_word(rows, first + done, bits[done / 8] & mask);
    }
}

void cn_rows_and(struct cn_rows *rows, const struct cn_rows *other)
{
    for (size_t i = 0; i < cn_rows_word_count(rows); i++)
        rows->words[i] &= other->words[i];
}

void cn_rows_or(struct cn_rows *rows, const struct cn_rows *other)
{
    for (size_t i = 0; i < cn_rows_word_count(rows); i++)
        rows->words[i] |= other->words[i];
}

void cn_rows_not(struct cn_rows *rows)
{
    size_t count = cn_rows_word_count(rows);

    for (size_t i = 0; i < count; i++)
        rows->words[i] = ~rows->words[i];
    if (rows->count % 64 != 0)
        rows->words[count - 1] &= UINT64_MAX >> (64 - rows->count % 64);
}

bool cn_rows_is_empty(const struct cn_rows *rows)
{
    for (size_t i = 0; i < cn_rows_word_count(rows); i++) {
        if (rows->words[i] != 0)
            return false;
    }
    return true;
}

uint64_t cn_rows_size(const struct cn_rows *rows)
{
    uint64_t size = 0;

    for (size_t i = 0; i < cn_rows_word_count(rows); i++)
        size += (unsigned)__builtin_popcountll(rows->words[i]);
    return size;
}

uint32_t cn_rows_next(const struct cn_rows *rows, uint32_t row)
{
    size_t at = row / 64;
    uint64_t word;

    if (row >= rows->count)
        return rows->count;
    word = rows->words[at] & UINT64_MAX << row % 64;
    while (word == 0) {
        if (++at == cn_rows_word_count(rows))
            return rows->count;
        word = rows->words[at];
    }
    return (uint32_t)(at * 64 + (unsigned)__builtin_ctzll(word));
}

uint32_t cn_rows_before(const struct cn_rows *rows, uint32_t row)
{
    size_t at;
    uint64_t word;

    if (row == 0)
        return rows->count;
    at = (row - 1) / 64;
    word = rows->words[at] & UINT64_MAX >> (63 - (row - 1) % 64);
    while (word == 0) {
        if (at-- == 0)
            return rows->count;
        word = rows->words[at];
    }
    return (uint32_t)(at * 64 + 63 - (unsigned)__builtin_clzll(word));
}
