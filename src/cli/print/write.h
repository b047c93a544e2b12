/* Text on its way out: CSV cells, and a buffer written to a stream.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_WRITE_H
#define CN_CLI_PRINT_WRITE_H

#include <stdio.h>

struct cn_text;

/* Append a CSV cell (RFC 4180), quoted if it contains a comma or a quote. Control
 * characters and bytes that are not UTF-8 appear as \xHH. */
void cn_csv_add(struct cn_text *text, const char *value);

/* Append `value` in quotes. */
void cn_csv_add_quoted(struct cn_text *text, const char *value);

/* Write the text and empty it. A failure shows in ferror() of the stream. */
void cn_text_flush(struct cn_text *text, FILE *to);

#endif
