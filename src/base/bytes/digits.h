/* Numbers as decimal digits, for writers of millions of them.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_DIGITS_H
#define CN_BASE_BYTES_DIGITS_H

#include <stdint.h>
#include <string.h>

enum {
    CN_DIGITS_MAX = 20, /* of 64 bits */
    CN_MICROSECONDS_MAX = 20 + 1 + 3,
};

/* Pairs "00" to "99". */
extern const char cn_digit_pairs[200];

/* Write the digits to `to`, which has room for CN_DIGITS_MAX; returns how many. */
static inline unsigned cn_digits_put(char *to, uint64_t value)
{
    char digits[CN_DIGITS_MAX];
    unsigned at = CN_DIGITS_MAX;

    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, cn_digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, cn_digit_pairs + 2 * value, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    memcpy(to, digits + at, CN_DIGITS_MAX - at);
    return CN_DIGITS_MAX - at;
}

/* 16 hexadecimal digits. */
enum { CN_HEX64_LEN = 16 };
static inline void cn_hex64_put(char *to, uint64_t value)
{
    for (unsigned i = CN_HEX64_LEN; i-- > 0; value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
}

/* Nanoseconds as microseconds, "12.345"; room for CN_MICROSECONDS_MAX. */
static inline unsigned cn_microseconds_put(char *to, uint64_t value_ns)
{
    unsigned rest = (unsigned)(value_ns % 1000);
    unsigned len = cn_digits_put(to, value_ns / 1000);

    to[len] = '.';
    to[len + 1] = (char)('0' + rest / 100);
    memcpy(to + len + 2, cn_digit_pairs + 2 * (rest % 100), 2);
    return len + 4;
}

#endif
