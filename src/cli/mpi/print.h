/* Prints what `cairn mpi` knows.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_MPI_PRINT_H
#define CN_CLI_MPI_PRINT_H

#include <stddef.h>

#include "analyze/mpi/efficiency.h"
#include "base/error.h"

struct cn_args;
struct cn_mpi_run;
struct cn_mpi_waits;

struct cn_mpi_column {
    const char *path; /* of the run */
    struct cn_mpi_efficiency efficiency;
    double scalability; /* computation scalability; less than 0: unknown */
};

/* Efficiencies, a column for each run; of one run without scalability. */
void cn_mpi_print_efficiency(const struct cn_args *args,
                             const struct cn_mpi_column *columns, size_t count);

void cn_mpi_print_waits(const struct cn_args *args, const struct cn_mpi_run *run,
                        const struct cn_mpi_waits *waits, size_t most);

/* The number of rows that there are. */
size_t cn_mpi_print_contexts(const struct cn_args *args, const struct cn_mpi_run *run,
                             size_t most);
size_t cn_mpi_print_ranks(const struct cn_args *args, const struct cn_mpi_run *run,
                          size_t most);
CN_CHECK bool cn_mpi_print_iterations(const struct cn_args *args,
                                      const struct cn_mpi_run *run, size_t most,
                                      size_t *rows, struct cn_error *err);

/* Ranks × iterations of the phase, or parts of the run where there is none. */
CN_CHECK bool cn_mpi_print_heat_map(const struct cn_args *args,
                                    const struct cn_mpi_run *run, bool is_of_waits,
                                    struct cn_error *err);

#endif
