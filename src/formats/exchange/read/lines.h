/* Lines and words of a text in memory.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_LINES_H
#define CN_FORMATS_EXCHANGE_READ_LINES_H

#include <string.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"

/* Remove the first line, and return it without its end. */
static inline struct cn_bytes cn_line_take(struct cn_bytes *rest)
{
    struct cn_bytes line;

    (void)cn_bytes_take_until(rest, '\n', &line);
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

/* A copy that ends with NUL, which the caller frees. */
static inline char *cn_word_copy(struct cn_bytes word)
{
    char *copy = cn_alloc(word.len + 1, 1);

    if (word.len > 0)
        memcpy(copy, word.ptr, word.len);
    return copy;
}

#endif
