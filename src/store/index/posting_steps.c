#include "store/index/posting_steps.h"

#include "base/bytes/varint.h"

enum { LOW_BITS_MAX = 31, WORD_BITS = 64 };

static uint32_t step_at(const uint32_t *rows, uint32_t i)
{
    return i > 0 ? rows[i] - rows[i - 1] - 1 : rows[0];
}

static uint64_t bits_with(const uint32_t *rows, uint32_t count, unsigned low_bits)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < count; i++)
        bits += (step_at(rows, i) >> low_bits) + UINT64_C(1) + low_bits;
    return bits;
}

/* The best number is at ln 2 times the mean step, or one more. */
static unsigned choose_bits(const uint32_t *rows, uint32_t count, uint64_t *bits)
{
    uint64_t mean = (rows[count - 1] - (uint64_t)count + 1) * 7 / 10 / count;
    unsigned low_bits = mean == 0 ? 0 : WORD_BITS - 1 - (unsigned)__builtin_clzll(mean);
    uint64_t more = bits_with(rows, count, low_bits + 1);

    *bits = bits_with(rows, count, low_bits);
    if (more >= *bits)
        return low_bits;
    *bits = more;
    return low_bits + 1;
}

void cn_posting_steps_put(const uint32_t *rows, uint32_t count, struct cn_text *out)
{
    uint64_t bit_count, bit = 0;
    unsigned low_bits = choose_bits(rows, count, &bit_count);
    uint8_t *at = (uint8_t *)cn_text_room(out, CN_VARINT_LEN_MAX + 1);
    size_t len = cn_varint_put(at, count);

    at[len] = (uint8_t)low_bits;
    cn_text_advance(out, len + 1);
    size_t begin = out->len, bytes = (size_t)((bit_count + 7) / 8);
    /* Numbers are or-ed in, 8 bytes at a time. */
    cn_text_fill(out, '\0', bytes + sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t step = step_at(rows, i);
        uint64_t low = step & ((UINT64_C(1) << low_bits) - 1);

        bit += step >> low_bits;
        at = (uint8_t *)out->chars + begin + bit / 8;
        cn_u64_put(at, cn_u64_get(at) | (low << 1 | 1) << bit % 8);
        bit += 1 + low_bits;
    }
    out->len = begin + bytes;
    out->chars[out->len] = '\0';
}

bool cn_posting_steps_begin(struct cn_posting_steps *steps, struct cn_bytes bytes,
                            uint32_t row_count)
{
    uint64_t count;

    if (!cn_varint_take(&bytes, &count) || count > row_count || bytes.len == 0 ||
        bytes.ptr[0] > LOW_BITS_MAX)
        return false;
    *steps = (struct cn_posting_steps){
        .left = count,
        .row_count = row_count,
        .low_bits = bytes.ptr[0],
    };
    return cn_bytes_from(bytes, 1, &steps->bytes);
}
