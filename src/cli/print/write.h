/* Text on its way out: indentation, and a buffer written to a stream.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_WRITE_H
#define CN_CLI_PRINT_WRITE_H

#include <stdint.h>
#include <stdio.h>

struct cn_text;

/* Append two blanks for each level of a tree. From CN_INDENT_MAX levels on, the depth is
 * printed instead of more blanks, so that the output grows linearly with the number of
 * rows. */
enum { CN_INDENT_MAX = 128 };
void cn_indent_add(struct cn_text *text, uint64_t depth);

/* Write the text and empty it. A failure shows in ferror() of the stream. */
void cn_text_flush(struct cn_text *text, FILE *to);

#endif
