/* Tables and views of an SQLite database that others wrote, row by row.
 *
 *     cn_sql_file_open(&file, path, err)
 *     cn_sql_visit(file, "StringIds", (const char *[]){"id", "value", NULL}, take, arg, err)
 *     cn_sql_file_close(file);
 *
 * The file is opened for reading alone, and never written, locked or recovered. Its schema is not
 * trusted: views have no side effects, and the work of all of them is bounded by the length of the
 * file.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_SQLITE_ROWS_H
#define CN_FORMATS_EXCHANGE_READ_SQLITE_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_sql_file;
struct cn_sql_row;

enum { CN_SQL_COLUMN_MAX = 32, CN_SQL_TEXT_MAX = 1 << 24 };

/* Fails if the file is no database, or its schema is damaged. */
CN_CHECK bool cn_sql_file_open(struct cn_sql_file **out, const char *path,
                               struct cn_error *err);
void cn_sql_file_close(struct cn_sql_file *file); /* NULL is fine */

/* True if there is a table or view of this name. */
bool cn_sql_has(struct cn_sql_file *file, const char *table);

/* Call `take` with each row of a table, which may be missing: then there are none. `columns` end
 * with NULL; those that the table lacks have no values. On failure the rows before the damage were
 * taken. */
typedef bool (*cn_sql_row_fn)(void *arg, const struct cn_sql_row *row,
                              struct cn_error *err);
CN_CHECK bool cn_sql_visit(struct cn_sql_file *file, const char *table,
                           const char *const *columns, cn_sql_row_fn take, void *arg,
                           struct cn_error *err);

/* The value of a column: false if it is no such number, and `out` is as it was. */
bool cn_sql_u64(const struct cn_sql_row *row, int column, uint64_t *out);
bool cn_sql_u32(const struct cn_sql_row *row, int column, uint32_t *out);

/* Empty if it is no text. Valid until `take` returns. */
struct cn_bytes cn_sql_text(const struct cn_sql_row *row, int column);

#endif
