/* TraceQL on the command line: `cairn store search --traceql`.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_TRACEQL_H
#define CN_CLI_STORE_TRACEQL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_args;
struct cn_column;
struct cn_store_query;
struct cn_tql_program;
struct cn_table;
struct cn_tql_range;
struct cn_tql_selection;

/* Open the store and parse the query; `query->query` is not set yet. `range` receives the times that
 * were asked for. On failure nothing has to be released. */
CN_CHECK bool cn_traceql_open(struct cn_store_query *query,
                              struct cn_tql_program **program, struct cn_tql_range *range,
                              const struct cn_args *args, struct cn_error *err);

/* Print the series of a program of metrics; or the spansets of one that finds traces. */
CN_CHECK bool cn_traceql_print_series(struct cn_store_query *query,
                                      const struct cn_tql_program *program,
                                      const struct cn_tql_range *asked,
                                      const struct cn_args *args, struct cn_error *err);
CN_CHECK bool cn_traceql_print_sets(struct cn_store_query *query,
                                    const struct cn_tql_program *program,
                                    const struct cn_tql_range *range,
                                    const struct cn_args *args, struct cn_error *err);

/* The columns of spans and those that select() names, to be released with free(); and their cells for
 * a row. Without a selection there are none. */
struct cn_column *cn_traceql_columns(const struct cn_column *own, size_t own_count,
                                     const struct cn_tql_selection *selection,
                                     size_t *count);
CN_CHECK bool cn_traceql_print_selected(struct cn_table *table,
                                        struct cn_tql_selection *selection,
                                        uint32_t segment, uint32_t row,
                                        struct cn_error *err);

#endif
