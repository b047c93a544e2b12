#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static char *room_for(struct cn_text *text, size_t len)
{
    enum { FIRST = 256 };

    if (text->capacity - text->len <= len) {
        size_t wanted = text->len + len + 1;
        size_t doubled = text->capacity < FIRST ? FIRST : text->capacity * 2;

        text->capacity = wanted > doubled ? wanted : doubled;
        text->chars = cn_realloc(text->chars, text->capacity, 1);
    }
    return text->chars + text->len;
}

static void advance(struct cn_text *text, size_t len)
{
    text->len += len;
    text->chars[text->len] = '\0';
}

void cn_text_add(struct cn_text *text, const char *chars, size_t len)
{
    char *at = room_for(text, len);

    if (len > 0) /* an empty text has no chars to copy from */
        memcpy(at, chars, len);
    advance(text, len);
}

void cn_text_str_add(struct cn_text *text, const char *str)
{
    cn_text_add(text, str, strlen(str));
}

void cn_text_char(struct cn_text *text, char c)
{
    cn_text_add(text, &c, 1);
}

void cn_text_fill(struct cn_text *text, char c, size_t count)
{
    memset(room_for(text, count), c, count);
    advance(text, count);
}

void cn_text_u64(struct cn_text *text, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    cn_text_add(text, digits + at, sizeof(digits) - at);
}

void cn_text_printf(struct cn_text *text, const char *fmt, ...)
{
    va_list args, again;
    int len;

    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(NULL, 0, fmt, args);
    assert(len >= 0);
    (void)vsnprintf(room_for(text, (size_t)len), (size_t)len + 1, fmt, again);
    advance(text, (size_t)len);
    va_end(again);
    va_end(args);
}

const char *cn_text_str(const struct cn_text *text)
{
    return text->chars ? text->chars : "";
}

void cn_text_clear(struct cn_text *text)
{
    text->len = 0;
    if (text->chars)
        text->chars[0] = '\0';
}

void cn_text_done(struct cn_text *text)
{
    free(text->chars);
    *text = (struct cn_text){0};
}
