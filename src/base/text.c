#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void cn_text_grow(struct cn_text *text, size_t len)
{
    enum { FIRST = 256 };
    size_t wanted = text->len + len + 1;
    size_t doubled = text->capacity < FIRST ? FIRST : text->capacity * 2;

    text->capacity = wanted > doubled ? wanted : doubled;
    text->chars = cn_realloc(text->chars, text->capacity, 1);
}

void cn_text_fill(struct cn_text *text, char c, size_t count)
{
    memset(cn_text_room(text, count), c, count);
    cn_text_advance(text, count);
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

CN_PRINTF(2, 0)
static void add_printed(struct cn_text *text, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    assert(len >= 0);
    (void)vsnprintf(cn_text_room(text, (size_t)len), (size_t)len + 1, fmt, again);
    cn_text_advance(text, (size_t)len);
    va_end(again);
}

void cn_text_printf(struct cn_text *text, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add_printed(text, fmt, args);
    va_end(args);
}

char *cn_strprintf(const char *fmt, ...)
{
    struct cn_text text = {0};
    va_list args;

    va_start(args, fmt);
    add_printed(&text, fmt, args);
    va_end(args);
    return text.chars;
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

void cn_text_word(struct cn_text *text, const char *word)
{
    bool has_blanks = !*word || strpbrk(word, " \t\n");

    if (text->len > 0)
        cn_text_char(text, ' ');
    cn_text_str_add(text, has_blanks ? "\"" : "");
    for (; *word; word++) {
        if (strchr("\"\\", *word))
            cn_text_char(text, '\\');
        cn_text_char(text, *word == '\n' ? ' ' : *word);
    }
    cn_text_str_add(text, has_blanks ? "\"" : "");
}
