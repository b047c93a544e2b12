/* Structures of files as lines of text, JSON objects or CSV rows, for cairn dump.
 *
 * A printer decodes records by their layouts and appends to a text that it writes to
 * stdout whenever it has grown large.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_PRINT_DUMP_PRINT_H
#define CN_CLI_PRINT_DUMP_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/json.h"
#include "base/text.h"
#include "cli/print/table.h"

struct cn_dump_item;
struct cn_record_layout;

struct cn_dump_printer {
    enum cn_table_format format;
    bool by_field; /* a line or row for each field instead of each structure */
    struct cn_text out;
    struct cn_json json;
};

/* `format` and `by_field` are set, the rest is zero. The printer stays where it is. */
void cn_dump_print_begin(struct cn_dump_printer *printer);
void cn_dump_print_item(struct cn_dump_printer *printer, const struct cn_dump_item *item);
void cn_dump_print_end(struct cn_dump_printer *printer); /* writes what is left */

/* The name of a record without what says to which format it belongs: "metric" for
 * "cn_hpc_metric". Borrowed from the layout. */
const char *cn_dump_record_name(const struct cn_record_layout *layout);

/* Append a double with as few digits as read back to the same value need, or nearly. */
void cn_dump_print_f64(struct cn_text *text, double value);

#endif
