/* Waiting in MPI, added up: by the call path of the function of MPI, why it waited, and the rank that came late with the
 * call path that it was in before. And the paths of a run with their efficiencies.
 *
 * Rows of CN_MPI_UNMATCHED have the whole time of calls of which it is not known whether they wait.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_MPI_WAITS_H
#define CN_ANALYZE_MPI_WAITS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/mpi/efficiency.h"

struct cn_mpi_run;
struct cn_text;

struct cn_mpi_wait_row {
    uint64_t time_ns, longest_ns, count; /* count: of calls that waited */
    uint32_t path;
    uint32_t late_rank, late_path; /* CN_NONE: unknown */
    uint8_t cause;                 /* enum cn_mpi_cause */
};

struct cn_mpi_waits {
    struct cn_mpi_wait_row
        *list; /* the longest first; those of unknown cause after them */
    size_t count, capacity;
    uint64_t known_ns, unknown_ns;
};

/* Of the calls in the phase, if the run has one. */
void cn_mpi_waits_build(struct cn_mpi_waits *waits, const struct cn_mpi_run *run);
void cn_mpi_waits_done(struct cn_mpi_waits *waits);

/* A path with everything below it, of all ranks. */
struct cn_mpi_path_row {
    uint32_t path;
    uint64_t inside_ns; /* in MPI, of all ranks */
    struct cn_mpi_efficiency efficiency;
};

/* The paths outside of MPI with at least `share` of the run's time, those with the most first. The caller frees it. */
struct cn_mpi_path_row *cn_mpi_path_rows(const struct cn_mpi_run *run, double share,
                                         size_t *count);

/* Append the answer in one sentence. */
void cn_mpi_sentence(const struct cn_mpi_run *run,
                     const struct cn_mpi_efficiency *efficiency,
                     const struct cn_mpi_waits *waits, struct cn_text *out);

#endif
