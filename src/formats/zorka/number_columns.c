#include "formats/zorka/number_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/record.h"
#include "base/bytes/varint.h"
#include "base/sort.h"

enum { FORM_ONE, FORM_BITS, FORM_CODES, FORM_CODE_BITS };
enum {
    CODES_MAX = 256,
    SLOTS = 1024,
    WORD_BITS = 64,
    /* A value of fewer bits is inside of the 8 bytes that its first byte begins. */
    BITS_MAX = 56,
    /* What an entry of the table of codes costs at least, about. */
    CODE_ENTRY_BITS = 12,
    /* Codes that follow each other like that more often than once in so many are compressed. */
    CODES_IN_ROW = 4,
    ROWS_SELDOM = 8,
};

/* Bits of a code that compression takes more than it must: it codes all columns in the same way. */
static const double compression_costs = 0.45;

void cn_number_column_done(struct cn_number_column *column)
{
    free(column->values);
    *column = (struct cn_number_column){0};
}

void cn_number_column_mix(struct cn_number_column *column, uint64_t value)
{
    size_t count = column->count;

    CN_GROW_TO(column->values, count + 1, column->capacity);
    if (!column->is_mixed)
        for (size_t i = 1; i < count; i++)
            column->values[i] = column->values[0];
    column->is_mixed = count > 0;
    column->values[column->count++] = value;
}

bool cn_number_column_equals(const struct cn_number_column *taken, bool is_same,
                             const struct cn_number_column *added)
{
    if (taken->count != added->count || (taken->count > 0 && is_same == added->is_mixed))
        return false;
    size_t stored = added->is_mixed ? added->count : added->count > 0;
    return stored == 0 ||
           memcmp(taken->values, added->values, stored * sizeof(*added->values)) == 0;
}

static void put_varint(struct cn_text *out, uint64_t value)
{
    uint8_t *at = (uint8_t *)cn_text_room(out, CN_VARINT_LEN_MAX);

    cn_text_advance(out, cn_varint_put(at, value));
}

static unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : WORD_BITS - (unsigned)__builtin_clzll(value);
}

/* The different values of a column, if they are few. */
struct number_codes {
    uint64_t values[CODES_MAX]; /* in the order of their first occurrence */
    uint64_t sorted[CODES_MAX];
    uint8_t order[CODES_MAX]; /* by first occurrence: the index among the ascending */
    uint16_t slots[SLOTS];    /* 1 + index by first occurrence; 0: free */
    size_t count;
    uint8_t *found; /* by value of the column: its index by first occurrence */
};

static uint16_t *find_slot(struct number_codes *codes, uint64_t value)
{
    size_t slot = (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 54);

    while (codes->slots[slot] != 0 && codes->values[codes->slots[slot] - 1] != value)
        slot = (slot + 1) % SLOTS;
    return &codes->slots[slot];
}

static bool find_codes(struct number_codes *codes, const struct cn_number_column *column,
                       size_t limit)
{
    memset(codes->slots, 0, sizeof(codes->slots));
    codes->count = 0;
    for (size_t i = 0; i < column->count; i++) {
        uint16_t *slot = find_slot(codes, column->values[i]);

        if (*slot == 0 && codes->count == limit)
            return false;
        if (*slot == 0) {
            codes->values[codes->count++] = column->values[i];
            *slot = (uint16_t)codes->count;
        }
        codes->found[i] = (uint8_t)(*slot - 1);
    }
    return true;
}

/* Sort the different values; the result is the bytes that a table of them takes. */
static size_t sort_codes(struct number_codes *codes)
{
    uint64_t last = 0;
    size_t len = 0;

    memcpy(codes->sorted, codes->values, codes->count * sizeof(*codes->sorted));
    CN_SORT_VALUES(codes->sorted, codes->count);
    for (size_t i = 0; i < codes->count; i++) {
        len += (bits_of((codes->sorted[i] - last) | 1) + 6) / 7;
        last = codes->sorted[i];
    }
    return len;
}

/* True if a column has the same codes in a row again and again. */
static bool has_repeats(const struct number_codes *codes, size_t count)
{
    uint32_t last[SLOTS] = {0}; /* by hash of codes: 1 + where they were last */
    size_t repeats = 0;

    for (size_t i = 0; i + CODES_IN_ROW <= count; i++) {
        uint32_t four = cn_u32_get(codes->found + i);
        uint32_t *at = &last[four * UINT32_C(0x9e3779b1) >> 22];

        repeats += *at != 0 && cn_u32_get(codes->found + *at - 1) == four;
        *at = (uint32_t)i + 1;
    }
    return repeats > count / ROWS_SELDOM;
}

/* True if no compression takes fewer bits than the codes have. */
static bool are_incompressible(const struct number_codes *codes, size_t count)
{
    size_t times[CODES_MAX] = {0};
    double bits = 0;

    for (size_t i = 0; i < count; i++)
        times[codes->found[i]]++;
    for (size_t i = 0; i < codes->count; i++)
        bits += (double)times[i] * log2((double)count / (double)times[i]);
    return bits + compression_costs * (double)count >=
               (double)count * bits_of(codes->count - 1) &&
           !has_repeats(codes, count);
}

/* Numbers of `width` bits each; `map` has the number for each byte of `codes`. */
static void put_code_bits(const uint8_t *codes, const uint8_t *map, size_t count,
                          unsigned width, struct cn_text *hard)
{
    size_t len = (count * width + 7) / 8;
    uint8_t *at = (uint8_t *)cn_text_room(hard, len + sizeof(uint64_t));
    uint32_t waiting = 0;
    unsigned used = 0;

    for (size_t i = 0; i < count; i++) {
        waiting |= (uint32_t)map[codes[i]] << used;
        for (used += width; used >= 8; used -= 8, waiting >>= 8)
            *at++ = (uint8_t)waiting;
    }
    *at = (uint8_t)waiting;
    cn_text_advance(hard, len);
}

static void put_codes(struct number_codes *codes, const struct cn_number_column *column,
                      struct cn_text *soft, struct cn_text *hard)
{
    bool in_bits = are_incompressible(codes, column->count);
    uint64_t last = 0;

    cn_text_char(soft, in_bits ? FORM_CODE_BITS : FORM_CODES);
    put_varint(soft, codes->count);
    for (size_t i = 0; i < codes->count; i++) {
        codes->order[*find_slot(codes, codes->sorted[i]) - 1] = (uint8_t)i;
        put_varint(soft, codes->sorted[i] - last);
        last = codes->sorted[i];
    }
    if (in_bits) {
        put_code_bits(codes->found, codes->order, column->count,
                      bits_of(codes->count - 1), hard);
        return;
    }
    uint8_t *at = (uint8_t *)cn_text_room(soft, column->count);
    for (size_t i = 0; i < column->count; i++)
        at[i] = codes->order[codes->found[i]];
    cn_text_advance(soft, column->count);
}

static void put_bits(const struct cn_number_column *column, uint64_t lowest,
                     unsigned width, struct cn_text *hard)
{
    size_t len = (column->count * width + 7) / 8;
    uint8_t *at = (uint8_t *)cn_text_room(hard, len + sizeof(uint64_t));
    uint64_t waiting = 0;
    unsigned used = 0;

    for (size_t i = 0; i < column->count; i++) {
        uint64_t value = column->values[i] - lowest;

        waiting |= value << used;
        if (used + width < WORD_BITS) {
            used += width;
            continue;
        }
        cn_u64_put(at, waiting);
        at += sizeof(uint64_t);
        waiting = used == 0 ? 0 : value >> (WORD_BITS - used);
        used = used + width - WORD_BITS;
    }
    cn_u64_put(at, waiting);
    cn_text_advance(hard, len);
}

/* Write the column as codes if these take fewer bytes than `width` bits a value. Codes are compressed
 * afterwards, the table hardly. */
static bool put_short_codes(const struct cn_number_column *column, unsigned width,
                            struct cn_text *soft, struct cn_text *hard)
{
    /* More codes than this take more bytes than the bits. */
    size_t limit = column->count * width / CODE_ENTRY_BITS / 2 + 2;
    struct number_codes codes = {.found = cn_alloc(column->count, 1)};
    bool is_short =
        find_codes(&codes, column, limit < CODES_MAX ? limit : CODES_MAX) &&
        sort_codes(&codes) * 8 + column->count * bits_of(codes.count - 1) * 4 / 5 <=
            column->count * width + WORD_BITS;

    if (is_short)
        put_codes(&codes, column, soft, hard);
    free(codes.found);
    return is_short;
}

void cn_number_column_put(const struct cn_number_column *column, struct cn_text *soft,
                          struct cn_text *hard)
{
    uint64_t lowest = UINT64_MAX, highest = 0;

    if (column->count == 0)
        return;
    if (!column->is_mixed) {
        cn_text_char(soft, FORM_ONE);
        put_varint(soft, column->values[0]);
        return;
    }
    for (size_t i = 0; i < column->count; i++) {
        lowest = column->values[i] < lowest ? column->values[i] : lowest;
        highest = column->values[i] > highest ? column->values[i] : highest;
    }
    unsigned width = bits_of(highest - lowest);
    if (width > BITS_MAX)
        width = WORD_BITS;
    if (put_short_codes(column, width, soft, hard))
        return;
    cn_text_char(soft, FORM_BITS);
    put_varint(soft, lowest);
    cn_text_char(soft, (char)width);
    put_bits(column, lowest, width, hard);
}

static bool fail_short(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "a column of numbers is truncated or damaged");
}

static bool take_byte(struct cn_bytes *in, unsigned *out)
{
    if (in->len == 0)
        return false;
    *out = in->ptr[0];
    return cn_bytes_from(*in, 1, in);
}

/* The different values of a column with codes. */
static bool take_table(uint64_t table[CODES_MAX], uint64_t *count, struct cn_bytes *soft)
{
    uint64_t code_count, last = 0, step;

    if (!cn_varint_take(soft, &code_count) || code_count < 1 || code_count > CODES_MAX)
        return false;
    *count = code_count;
    for (size_t i = 0; i < code_count; i++) {
        if (!cn_varint_take(soft, &step))
            return false;
        last += step;
        table[i] = last;
    }
    return true;
}

static bool take_codes(uint64_t *values, size_t count, struct cn_bytes *soft)
{
    uint64_t table[CODES_MAX] = {0}, code_count;

    if (!take_table(table, &code_count, soft) || soft->len < count)
        return false;
    /* A code without an entry is 0, as damaged as any other wrong value. */
    for (size_t i = 0; i < count; i++)
        values[i] = table[soft->ptr[i]];
    return cn_bytes_from(*soft, count, soft);
}

/* Values of `width` bits, to which `lowest` is added. */
static bool take_numbers(uint64_t *values, size_t count, uint64_t lowest, unsigned width,
                         struct cn_bytes *hard)
{
    struct cn_bytes bits;

    if (width == 0 || (width > BITS_MAX && width != WORD_BITS) ||
        count > hard->len * 8 / width ||
        !cn_bytes_slice(*hard, 0, (count * width + 7) / 8, &bits) ||
        !cn_bytes_from(*hard, bits.len, hard))
        return false;
    uint64_t mask = UINT64_MAX >> (WORD_BITS - width);
    /* The last values are not followed by 8 bytes. */
    size_t whole =
        bits.len < sizeof(uint64_t) ? 0 : (bits.len - sizeof(uint64_t)) * 8 / width + 1;
    if (whole > count)
        whole = count;
    for (size_t i = 0; i < whole; i++) {
        size_t bit = i * width;

        values[i] = (cn_u64_get(bits.ptr + bit / 8) >> bit % 8 & mask) + lowest;
    }
    for (size_t i = whole; i < count; i++) {
        size_t bit = i * width;
        uint8_t last[2 * sizeof(uint64_t)] = {0};

        memcpy(last, bits.ptr + bit / 8, bits.len - bit / 8);
        values[i] = (cn_u64_get(last) >> bit % 8 & mask) + lowest;
    }
    return true;
}

static bool take_bits(struct cn_number_column *column, size_t count,
                      struct cn_number_input *in)
{
    if (!cn_varint_take(&in->soft, &column->lowest) ||
        !take_byte(&in->soft, &column->bits) ||
        !take_numbers(column->values, count, column->lowest, column->bits, &in->hard)) {
        column->bits = 0;
        return false;
    }
    return true;
}

static bool take_code_bits(uint64_t *values, size_t count, struct cn_number_input *in)
{
    uint64_t table[CODES_MAX] = {0}, code_count;

    if (!take_table(table, &code_count, &in->soft) ||
        !take_numbers(values, count, 0, bits_of(code_count - 1), &in->hard))
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = table[values[i]];
    return true;
}

bool cn_number_column_take(struct cn_number_column *column, size_t count, bool *is_same,
                           struct cn_number_input *in, struct cn_error *err)
{
    unsigned form;

    *is_same = count == 0;
    column->count = count;
    column->bits = 0;
    if (count == 0)
        return true;
    if (!take_byte(&in->soft, &form))
        return fail_short(err);
    if (form == FORM_ONE) {
        *is_same = true;
        CN_GROW_TO(column->values, 1, column->capacity);
        return cn_varint_take(&in->soft, &column->values[0]) || fail_short(err);
    }
    /* Each value takes a bit at least: memory is in step with the input. */
    if (count > (in->soft.len + in->hard.len) * 8)
        return fail_short(err);
    CN_GROW_TO(column->values, count, column->capacity);
    if (form == FORM_CODES)
        return take_codes(column->values, count, &in->soft) || fail_short(err);
    if (form == FORM_CODE_BITS)
        return take_code_bits(column->values, count, in) || fail_short(err);
    return (form == FORM_BITS && take_bits(column, count, in)) || fail_short(err);
}
