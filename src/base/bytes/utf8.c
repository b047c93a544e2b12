#include "base/bytes/utf8.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/arena.h"
#include "base/text.h"

static bool is_continuation(char c)
{
    return ((uint8_t)c & 0xc0) == 0x80;
}

/* The length a first byte announces, and the bits of the character it carries. */
static size_t announced_len(uint8_t first, uint32_t *bits)
{
    if (first < 0x80) {
        *bits = first;
        return 1;
    }
    if (first >= 0xc2 && first < 0xe0) {
        *bits = first & 0x1f;
        return 2;
    }
    if (first >= 0xe0 && first < 0xf0) {
        *bits = first & 0x0f;
        return 3;
    }
    if (first >= 0xf0 && first < 0xf5) {
        *bits = first & 0x07;
        return 4;
    }
    return 0;
}

static size_t decode(const char *chars, size_t len, uint32_t *out)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = 0;
    size_t n = len ? announced_len((uint8_t)chars[0], &c) : 0;

    if (n == 0 || n > len)
        return 0;
    for (size_t i = 1; i < n; i++) {
        if (!is_continuation(chars[i]))
            return 0;
        c = c << 6 | ((uint8_t)chars[i] & 0x3f);
    }
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *out = c;
    return n;
}

size_t cn_utf8_char_len(const char *chars, size_t len)
{
    uint32_t ignored;

    return decode(chars, len, &ignored);
}

bool cn_utf8_is_valid(const char *chars, size_t len)
{
    while (len > 0) {
        size_t n = cn_utf8_char_len(chars, len);

        if (n == 0)
            return false;
        chars += n;
        len -= n;
    }
    return true;
}

/* C0, DEL and C1 drive terminals; the bidirectional controls reorder what is read. */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

static void add_escaped(struct cn_text *text, const char *str, bool has_controls)
{
    size_t len = strlen(str);

    while (len > 0) {
        uint32_t c = 0;
        size_t n = decode(str, len, &c);
        size_t step = n ? n : 1;

        if (n && (has_controls || !is_control(c)))
            cn_text_add(text, str, n);
        else
            for (size_t i = 0; i < step; i++)
                cn_text_printf(text, "\\x%02x", (uint8_t)str[i]);
        str += step;
        len -= step;
    }
}

void cn_utf8_add_printable(struct cn_text *text, const char *str)
{
    add_escaped(text, str, false);
}

const char *cn_utf8_strdup(struct cn_arena *arena, const char *str)
{
    struct cn_text text = {0};
    const char *copy;

    if (cn_utf8_is_valid(str, strlen(str)))
        return cn_arena_strdup(arena, str);
    add_escaped(&text, str, true);
    copy = cn_arena_strdup(arena, cn_text_str(&text));
    cn_text_done(&text);
    return copy;
}

size_t cn_utf8_width(const char *str)
{
    size_t len = strlen(str);
    size_t width = 0;

    while (len > 0) {
        uint32_t c = 0;
        size_t n = decode(str, len, &c);
        int columns = n ? wcwidth((wchar_t)c) : 1;

        width += columns < 0 ? 1 : (size_t)columns;
        str += n ? n : 1;
        len -= n ? n : 1;
    }
    return width;
}
