/* One character of UTF-8 text.
 * Threads: any thread.
 */
#ifndef CN_BASE_CHARACTER_H
#define CN_BASE_CHARACTER_H

#include <stddef.h>
#include <stdint.h>

/* Decode the well-formed character at `chars`. Returns its length in bytes; 0 if there is
 * none: overlong forms, surrogates and truncated sequences are not well formed. */
static inline size_t cn_character_decode(const char *chars, size_t len, uint32_t *out)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = len > 0 ? (uint8_t)chars[0] : 0xff;
    size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    uint32_t c = n == 1 ? first : first & (0x7fU >> n);

    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)chars[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((uint8_t)chars[i] & 0x3f);
    }
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *out = c;
    return n;
}

enum { CN_CHARACTER_LEN_MAX = 4 };

/* Encode a character into at most CN_CHARACTER_LEN_MAX bytes. Returns its length. */
static inline size_t cn_character_encode(uint32_t c, char *out)
{
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(first[n] | c);
    return n;
}

#endif
