#include "base/bytes/utf8.h"

#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "base/arena.h"
#include "base/character.h"
#include "base/text.h"

size_t cn_utf8_char_len(const char *chars, size_t len)
{
    uint32_t ignored;

    return cn_character_decode(chars, len, &ignored);
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

static void add_escaped(struct cn_text *text, const char *str, size_t len,
                        bool has_controls)
{
    while (len > 0) {
        uint32_t c = 0;
        size_t n = cn_character_decode(str, len, &c);
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
    add_escaped(text, str, strlen(str), false);
}

void cn_utf8_add_printable_chars(struct cn_text *text, const char *chars, size_t len)
{
    add_escaped(text, chars, len, false);
}

const char *cn_utf8_strdup(struct cn_arena *arena, const char *str)
{
    struct cn_text text = {0};

    if (cn_utf8_is_valid(str, strlen(str)))
        return cn_arena_strdup(arena, str);
    add_escaped(&text, str, strlen(str), true);
    const char *copy = cn_arena_strdup(arena, cn_text_str(&text));
    cn_text_done(&text);
    return copy;
}

size_t cn_utf8_width(const char *str)
{
    size_t len = strlen(str);
    size_t width = 0;

    while (len > 0) {
        uint32_t c = 0;
        size_t n = cn_character_decode(str, len, &c);
        int columns = n ? wcwidth((wchar_t)c) : 1;

        width += columns < 0 ? 1 : (size_t)columns;
        str += n ? n : 1;
        len -= n ? n : 1;
    }
    return width;
}
