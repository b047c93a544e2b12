/* The run of an MPI program (analyze/mpi/run.h) of data at any path: recordings of ranks or of mpirun, or else the
 * timelines of a database.
 *
 *     cn_mpi_run_open(&run, &opened, phase, progress, err)
 *     cn_mpi_run_done(&run);
 *
 * `opened` may be open for nothing yet; what is read is loaded. Threads: one thread at a time.
 */
#ifndef CN_OPEN_MPI_RUN_H
#define CN_OPEN_MPI_RUN_H

#include "analyze/mpi/run.h"
#include "open/open.h"

struct cn_progress;

/* `phase` is a pattern of functions, or NULL, which outlives the run. A failure leaves nothing to release. */
CN_CHECK bool cn_mpi_run_open(struct cn_mpi_run *run, struct cn_opened *opened,
                              const char *phase, const struct cn_progress *progress,
                              struct cn_error *err);

#endif
