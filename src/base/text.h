/* Text under construction: appended to, then printed or kept.
 *
 * A zeroed text is ready for use. Its characters are always followed by a NUL that is
 * not counted.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_TEXT_H
#define CN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"

/* "call is" or "calls are". */
static inline const char *cn_plural(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

struct cn_text {
    char *chars; /* NULL while nothing was ever appended: use cn_text_str() */
    size_t len, capacity;
};

/* Make room for `len` more characters. */
void cn_text_grow(struct cn_text *text, size_t len);

/* Space for the next `len` characters, which the caller writes; cn_text_advance() adds them.
 * Valid until the next change. */
static inline char *cn_text_room(struct cn_text *text, size_t len)
{
    if (text->capacity - text->len <= len)
        cn_text_grow(text, len);
    return text->chars + text->len;
}

static inline void cn_text_advance(struct cn_text *text, size_t len)
{
    text->len += len;
    text->chars[text->len] = '\0';
}

static inline void cn_text_add(struct cn_text *text, const char *chars, size_t len)
{
    char *at = cn_text_room(text, len);

    if (len > 0) /* an empty text has no chars to copy from */
        memcpy(at, chars, len);
    cn_text_advance(text, len);
}

static inline void cn_text_str_add(struct cn_text *text, const char *str)
{
    cn_text_add(text, str, strlen(str));
}

static inline void cn_text_char(struct cn_text *text, char c)
{
    *cn_text_room(text, 1) = c;
    cn_text_advance(text, 1);
}

void cn_text_fill(struct cn_text *text, char c, size_t count);
void cn_text_u64(struct cn_text *text, uint64_t value);

/* Append a word of a command line after those before it, with quotes if it has blanks. */
void cn_text_word(struct cn_text *text, const char *word);

CN_PRINTF(2, 3) void cn_text_printf(struct cn_text *text, const char *fmt, ...);

/* A string of its own; the caller frees it. */
CN_PRINTF(1, 2) char *cn_strprintf(const char *fmt, ...);

/* The text, borrowed until the next change; "" if it is empty. */
const char *cn_text_str(const struct cn_text *text);

void cn_text_clear(struct cn_text *text); /* keeps the memory */
void cn_text_done(struct cn_text *text);

static inline bool cn_ends_with(const char *str, const char *suffix)
{
    size_t len = strlen(str), suffix_len = strlen(suffix);

    return len >= suffix_len && memcmp(str + len - suffix_len, suffix, suffix_len) == 0;
}

#endif
