/* Running text broken into lines.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_WRAP_H
#define CN_CLI_SHELL_WRAP_H

#include <stddef.h>

struct cn_text;

/* Append the words of `str` in lines of at most `columns`, each indented by `indent`; the
 * first line already has `used` columns. A longer word gets a line of its own. Ends with
 * a newline. */
void cn_wrap_add(struct cn_text *text, const char *str, size_t used, size_t indent,
                 size_t columns);

/* Append paragraphs separated by empty lines, each followed by an empty line. One that
 * begins with two blanks is copied as it is, others are wrapped. */
void cn_wrap_add_paragraphs(struct cn_text *text, const char *str, size_t columns);

/* The paragraph at the front of `str`: its length goes to *len, and the place of the next
 * one is returned; NULL when there is none. */
const char *cn_paragraph_next(const char *str, size_t *len);

#endif
