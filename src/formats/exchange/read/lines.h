/* Lines and words of a text in memory.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_LINES_H
#define CN_FORMATS_EXCHANGE_READ_LINES_H

#include "base/bytes/bytes.h"

/* Remove the first line, and return it without its end. */
static inline struct cn_bytes cn_line_take(struct cn_bytes *rest)
{
    const uint8_t *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    struct cn_bytes line, newline;

    (void)cn_bytes_take(rest, len, &line);
    (void)cn_bytes_take(rest, rest->len > 0, &newline);
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* Remove the first word and the blanks before it, and return it; empty at the end. */
static inline struct cn_bytes cn_word_take(struct cn_bytes *rest)
{
    struct cn_bytes word, blanks;
    size_t len = 0;

    while (len < rest->len && (rest->ptr[len] == ' ' || rest->ptr[len] == '\t'))
        len++;
    (void)cn_bytes_take(rest, len, &blanks);
    for (len = 0; len < rest->len && rest->ptr[len] != ' ' && rest->ptr[len] != '\t';)
        len++;
    (void)cn_bytes_take(rest, len, &word);
    return word;
}

#endif
