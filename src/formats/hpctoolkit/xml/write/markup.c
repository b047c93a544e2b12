#include "formats/hpctoolkit/xml/write/writing.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes/utf8.h"

enum { FLUSH_LEN = 64 * 1024 };

/* The escape of a character of one byte, or NULL. */
static const char *escape_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\t':
        return "&#9;";
    case '\n':
        return "&#10;";
    case '\r':
        return "&#13;";
    default:
        return NULL;
    }
}

/* XML 1.0 allows no other control characters, and neither U+FFFE nor U+FFFF. */
static bool is_allowed(const char *chars, size_t len)
{
    if (len == 1)
        return (unsigned char)chars[0] >= 0x20;
    return len != 3 || (memcmp(chars, "\xef\xbf\xbe", 3) != 0 &&
                        memcmp(chars, "\xef\xbf\xbf", 3) != 0);
}

static void begin_attribute(struct cn_text *text, const char *name)
{
    cn_text_char(text, ' ');
    cn_text_str_add(text, name);
    cn_text_add(text, "=\"", 2);
}

void cn_markup_attribute(struct cn_markup *markup, const char *name, const char *value)
{
    size_t left = strlen(value);
    bool is_replaced = false;

    begin_attribute(&markup->text, name);
    while (left > 0) {
        size_t len = cn_utf8_char_len(value, left);
        const char *escape = escape_of(*value);

        if (escape) {
            cn_text_str_add(&markup->text, escape);
        } else if (len == 0 || !is_allowed(value, len)) {
            cn_text_str_add(&markup->text, "\xef\xbf\xbd");
            is_replaced = true;
        } else {
            cn_text_add(&markup->text, value, len);
        }
        len += len == 0;
        value += len;
        left -= len;
    }
    cn_text_char(&markup->text, '"');
    markup->replaced_count += is_replaced;
}

void cn_markup_number(struct cn_markup *markup, const char *name, int64_t value)
{
    begin_attribute(&markup->text, name);
    if (value < 0)
        cn_text_char(&markup->text, '-');
    cn_text_u64(&markup->text, value < 0 ? -(uint64_t)value : (uint64_t)value);
    cn_text_char(&markup->text, '"');
}

void cn_markup_address(struct cn_markup *markup, const char *name, uint64_t value)
{
    char digits[16];
    size_t at = sizeof(digits);

    begin_attribute(&markup->text, name);
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    cn_text_add(&markup->text, "0x", 2);
    cn_text_add(&markup->text, digits + at, sizeof(digits) - at);
    cn_text_char(&markup->text, '"');
}

void cn_markup_add(struct cn_markup *markup, const char *text)
{
    cn_text_str_add(&markup->text, text);
}

static bool write_out(struct cn_markup *markup, struct cn_error *err)
{
    if (!cn_out_write(&markup->out, cn_text_str(&markup->text), markup->text.len, err))
        return false;
    cn_text_clear(&markup->text);
    return true;
}

bool cn_markup_flush(struct cn_markup *markup, struct cn_error *err)
{
    return markup->text.len < FLUSH_LEN || write_out(markup, err);
}

bool cn_markup_close(struct cn_markup *markup, struct cn_error *err)
{
    return write_out(markup, err) && cn_out_close(&markup->out, err);
}

void cn_markup_done(struct cn_markup *markup)
{
    cn_out_abandon(&markup->out);
    cn_text_done(&markup->text);
}
