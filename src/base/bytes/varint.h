/* Numbers in as few bytes as they need: seven bits a byte, the lowest first; the highest bit
 * says that more follow (LEB128).
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_VARINT_H
#define CN_BASE_BYTES_VARINT_H

#include "base/bytes/bytes.h"

enum { CN_VARINT_LEN_MAX = 10 };

/* Write `value` and return how many bytes that took. */
static inline size_t cn_varint_put(uint8_t out[CN_VARINT_LEN_MAX], uint64_t value)
{
    size_t len = 0;

    while (value > 0x7f) {
        out[len++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[len++] = (uint8_t)value;
    return len;
}

/* Split a number off the front of b. False when its end is not inside, or it does not fit. */
static inline bool cn_varint_take(struct cn_bytes *b, uint64_t *out)
{
    uint64_t value = 0;

    /* Most numbers are small. */
    if (b->len > 0 && b->ptr[0] < 0x80) {
        *out = b->ptr[0];
        *b = (struct cn_bytes){b->ptr + 1, b->len - 1};
        return true;
    }

    for (size_t i = 0; i < b->len && i < CN_VARINT_LEN_MAX; i++) {
        uint64_t byte = b->ptr[i];

        if (i == CN_VARINT_LEN_MAX - 1 && byte > 1)
            return false;
        value |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *out = value;
            return cn_bytes_slice(*b, i + 1, b->len - (i + 1), b);
        }
    }
    return false;
}

#endif
