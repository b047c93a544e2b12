/* Numbers as decimal digits, for writers of millions of them, and bytes as hexadecimal ones.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_DIGITS_H
#define CN_BASE_BYTES_DIGITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct cn_text;

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

#define CN_HEX_DIGITS "0123456789abcdef"

/* 16 hexadecimal digits. */
enum { CN_HEX64_LEN = 16 };
static inline void cn_hex64_put(char *to, uint64_t value)
{
    for (unsigned i = CN_HEX64_LEN; i-- > 0; value >>= 4)
        to[i] = CN_HEX_DIGITS[value & 15];
}

/* Two hexadecimal digits for each byte, and a NUL. */
void cn_hex_put(char *to, const void *bytes, size_t len);

/* The same, appended. */
void cn_hex_add(struct cn_text *text, const void *bytes, size_t len);

/* True if a text begins with `len` lower-case hexadecimal digits, and no more. */
static inline bool cn_hex_begins(const char *text, size_t len)
{
    return strspn(text, CN_HEX_DIGITS) == len;
}

/* True if all bytes are hexadecimal digits, of either case. */
bool cn_hex_is(const void *bytes, size_t len);

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
