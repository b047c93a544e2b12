/* Cells of CSV (RFC 4180).
 *
 * Control characters and bytes that are not UTF-8 appear as \xHH. A text that a spreadsheet
 * would take for a formula (=, +, - or @ first, and not a number) follows an apostrophe.
 * Threads: any thread.
 */
#ifndef CN_BASE_BYTES_CSV_H
#define CN_BASE_BYTES_CSV_H

struct cn_text;

/* Append a cell, quoted if it contains a comma or a quote. */
void cn_csv_add(struct cn_text *text, const char *value);

/* Append a cell in quotes. */
void cn_csv_add_quoted(struct cn_text *text, const char *value);

#endif
