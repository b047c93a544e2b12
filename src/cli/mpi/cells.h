/* Cells of the tables of `cairn mpi`: for people, or as numbers.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_MPI_CELLS_H
#define CN_CLI_MPI_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_args;
struct cn_column;
struct cn_mpi_run;
struct cn_table;

/* A table with columns for people, where those of times and ratios are text on the right; for programs these are
 * numbers. `columns` has room for all of them, and is borrowed as by cn_cli_table(). */
struct cn_table *cn_mpi_table(const struct cn_args *args, const struct cn_column *from,
                              size_t count, struct cn_column *columns);

/* "61.2 %"; a value less than 0 is unknown. */
void cn_mpi_cell_ratio(struct cn_table *table, double value, bool is_text);
void cn_mpi_cell_path(struct cn_table *table, const struct cn_mpi_run *run, uint32_t path,
                      bool is_text);

#endif
