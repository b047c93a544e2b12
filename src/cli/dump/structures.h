/* Structures of files as lines of text, JSON objects or CSV rows, for cairn dump.
 *
 * A printer decodes records by their layouts and prints to stdout through a buffer.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DUMP_STRUCTURES_H
#define CN_CLI_DUMP_STRUCTURES_H

#include <stdbool.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "cli/print/table.h"

struct cn_dump_item;
struct cn_record_layout;

struct cn_dump_printer {
    enum cn_table_format format;
    bool by_field; /* one line per field, not per structure */
    struct cn_text out;
    struct cn_json json;
};

/* The caller has set `format` and `by_field`; the rest is zero. Do not move the printer. */
void cn_dump_print_begin(struct cn_dump_printer *printer);
void cn_dump_print_item(struct cn_dump_printer *printer, const struct cn_dump_item *item);
void cn_dump_print_end(struct cn_dump_printer *printer); /* flushes */

/* The name of a record without the prefix of its format: "metric" for "cn_hpc_metric".
 * Borrowed from the layout. */
const char *cn_dump_record_name(const struct cn_record_layout *layout);

/* Append a double with (nearly) the fewest digits that read back to the same value. */
void cn_dump_print_f64(struct cn_text *text, double value);

#endif
