/* Rows of named columns, printed as aligned text, as JSON, as CSV or as Markdown.
 *
 *     static const struct cn_column columns[] = {
 *         {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
 *         {.name = "function", .title = "FUNCTION", .kind = CN_COLUMN_TEXT},
 *     };
 *     struct cn_table *table = cn_cli_table(args, columns, 2);
 *
 *     cn_table_u64(table, 12);          cells from left to right
 *     cn_table_str(table, "main");
 *     cn_table_end_row(table);
 *     cn_table_free(table);             prints what is still held back
 *
 * Text: the first thousands of rows set the widths of the columns; later rows are streamed
 * with these widths. A last column that is aligned left is never padded, so it may contain
 * trees, paths and other free text. JSON: an array of objects, one per line. CSV: RFC 4180
 * with a header line; a record is one line. In text and CSV, control characters and bytes
 * that are not UTF-8 appear as \xHH, in JSON as \uHHHH and U+FFFD. Markdown: the columns of
 * text, as a table of GitHub.
 *
 * Strings are copied. A failure to write shows in ferror() of the stream.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_TABLE_H
#define CN_CLI_PRINT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/print/terminal.h"

enum cn_table_format { CN_TABLE_TEXT, CN_TABLE_JSON, CN_TABLE_CSV, CN_TABLE_MARKDOWN };

enum cn_column_kind {
    CN_COLUMN_TEXT,
    CN_COLUMN_U64,
    CN_COLUMN_F64,     /* text: up to six significant digits */
    CN_COLUMN_FIXED,   /* a double; text: `decimals` digits after the point */
    CN_COLUMN_PERCENT, /* a double, 12.3 for "12.3%"; JSON and CSV: the number */
    CN_COLUMN_ANY, /* cells of any kind, each aligned by its own unless `align` says how */
};

/* What becomes shorter if rows are wider than the terminal. */
enum cn_fit {
    CN_FIT_NOTHING,
    CN_FIT_NAME, /* a name after any indentation, see model/labels/short_name.h */
    CN_FIT_PATH, /* names of a call path */
};

enum cn_align {
    CN_ALIGN_BY_KIND, /* text to the left, numbers to the right */
    CN_ALIGN_LEFT,
    CN_ALIGN_RIGHT,
};

struct cn_column {
    const char *name;  /* snake_case with its unit, for JSON and CSV: "self_ns" */
    const char *title; /* heading in text; NULL leaves the column out of text */
    enum cn_column_kind kind;
    enum cn_align align;
    unsigned decimals; /* of CN_COLUMN_FIXED */
    bool has_sign;     /* text: positive numbers begin with '+' */
    enum cn_fit fit;   /* text */
};

/* A column of text on the right, such as durations. */
#define CN_COLUMN_RIGHT(key, heading)                                                  \
    {                                                                                  \
        .name = key, .title = heading, .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT \
    }

struct cn_table;

/* Commands call cn_cli_table() instead. `columns` is borrowed until the table is freed;
 * `has_color` allows colour in text. */
struct cn_table *cn_table_new(FILE *to, enum cn_table_format format, bool has_color,
                              const struct cn_column *columns, size_t column_count);

/* Shorten names in text so that rows have at most so many columns; 0: they are whole. Before the
 * first cell. */
void cn_table_fit(struct cn_table *table, size_t columns);

/* The next cell of the row; its type must match the column's kind. */
void cn_table_str(struct cn_table *table, const char *value); /* NULL: none */
void cn_table_u64(struct cn_table *table, uint64_t value);
void cn_table_i64(struct cn_table *table, int64_t value); /* of CN_COLUMN_ANY */
void cn_table_f64(struct cn_table *table, double value);
void cn_table_duration(struct cn_table *table, uint64_t ns); /* as text: "1.25 s" */
/* The same for people, else its nanoseconds. */
void cn_table_time(struct cn_table *table, bool is_for_people, uint64_t ns);
void cn_table_none(struct cn_table *table); /* no value: empty; null in JSON */

/* Colour of the next cell, where colour is allowed. */
void cn_table_paint(struct cn_table *table, enum cn_color color);

void cn_table_end_row(struct cn_table *table); /* after one cell per column */

/* Print the rows held back and the end of the document. NULL is fine. */
void cn_table_free(struct cn_table *table);

/* "text", "json", "csv" or "markdown"; NULL means text. */
enum cn_table_format cn_table_format_parse(const char *name);

#endif
