/* Who waited for whom in calls of MPI. Internal to analyze/mpi.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_MPI_MATCH_H
#define CN_ANALYZE_MPI_MATCH_H

#include "analyze/mpi/run.h"

/* Match operations of all ranks. `link` of their calls is then their number, else CN_NONE. */
void cn_mpi_match_collectives(struct cn_mpi_run *run);

/* Match messages, whose calls still have the values of arguments. */
void cn_mpi_match_messages(struct cn_mpi_run *run);

/* Release the values, and note what could not be matched. */
void cn_mpi_match_finish(struct cn_mpi_run *run);

/* The late call of another rank, from which a call waited. */
void cn_mpi_match_late(struct cn_mpi_call *call, enum cn_mpi_cause cause,
                       uint32_t late_rank, const struct cn_mpi_call *late);

#endif
