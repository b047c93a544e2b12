/* Wrapping of text into lines.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_WRAP_H
#define CN_CLI_SHELL_WRAP_H

#include <stddef.h>

struct cn_text;

/* Append the words of `str` in lines of at most `columns`, indented by `indent`; `used`
 * columns of the first line are taken. A longer word gets its own line. Ends with a newline. */
void cn_wrap_add(struct cn_text *text, const char *str, size_t used, size_t indent,
                 size_t columns);

/* Append paragraphs (separated by empty lines), each followed by an empty line. A paragraph
 * that begins with two blanks is copied, others are wrapped. */
void cn_wrap_add_paragraphs(struct cn_text *text, const char *str, size_t columns);

/* The length of the first paragraph of `str`, and where the next begins (NULL: none). */
const char *cn_paragraph_next(const char *str, size_t *len);

#endif
