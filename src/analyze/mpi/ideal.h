/* How long a run would take on an ideal network, on which messages take no time: the calls of MPI are replayed in the
 * order of their dependencies, with the time between them as it was. A call then ends when the other ranks have come.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_MPI_IDEAL_H
#define CN_ANALYZE_MPI_IDEAL_H

#include <stdbool.h>
#include <stdint.h>

struct cn_mpi_run;

/* From the end of MPI_Init to the last begin of MPI_Finalize. False if a call of a rank could not be matched, or if
 * calls wait for each other. */
bool cn_mpi_ideal_time(const struct cn_mpi_run *run, uint64_t *out_ns);

#endif
