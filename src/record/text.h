/* Builds text without the C library: file names and lines of task.txt.
 *
 * The caller provides the buffer, as the stack of a thread may be small. Text that does
 * not fit is truncated, and sets `is_cut`.
 * Threads: one thread at a time.
 */
#ifndef CN_RECORD_TEXT_H
#define CN_RECORD_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_text {
    char *chars; /* NUL-terminated once something was added */
    uint32_t capacity, len;
    bool is_cut;
};

static inline void cn_rec_text_char(struct cn_rec_text *text, char c)
{
    text->is_cut |= text->len + 1 >= text->capacity;
    if (text->is_cut)
        return;
    text->chars[text->len++] = c;
    text->chars[text->len] = '\0';
}

static inline void cn_rec_text_str(struct cn_rec_text *text, const char *str)
{
    while (*str)
        cn_rec_text_char(text, *str++);
}

/* Append a number of at least `width` digits. */
static inline void cn_rec_text_number(struct cn_rec_text *text, uint64_t value,
                                      unsigned base, unsigned width)
{
    char digits[64];
    unsigned count = 0;

    do
        digits[count++] = "0123456789abcdef"[value % base];
    while ((value /= base) > 0);
    while (count < width)
        digits[count++] = '0';
    while (count > 0)
        cn_rec_text_char(text, digits[--count]);
}

static inline bool cn_rec_text_is_same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static inline void cn_rec_text_u64(struct cn_rec_text *text, uint64_t value)
{
    cn_rec_text_number(text, value, 10, 1);
}

#endif
