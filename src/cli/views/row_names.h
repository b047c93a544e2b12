/* Sorts rows of a view by name.
 * Threads: any thread, on different lists.
 */
#ifndef CN_CLI_VIEWS_ROW_NAMES_H
#define CN_CLI_VIEWS_ROW_NAMES_H

#include <stdbool.h>

#include "base/error.h"

struct cn_row;
struct cn_row_list;
struct cn_text;

/* Append the name of a row. */
typedef bool (*cn_row_name_fn)(void *arg, const struct cn_row *row, struct cn_text *name,
                               struct cn_error *err);

/* Rows of the same name are in the order of their ids. Fails with the first name that cannot be read;
 * the list still has all rows. */
CN_CHECK bool cn_row_names_sort(struct cn_row_list *list, bool is_reversed,
                                cn_row_name_fn add_name, void *arg, struct cn_error *err);

#endif
