/* The efficiencies of POP (pop-coe.eu), of a run, of its iterations, or of a function in it.
 *
 *     parallel efficiency      = load balance × communication efficiency
 *     load balance             = mean of the useful times of ranks / the longest
 *     communication efficiency = the longest useful time / run time = serialisation × transfer
 *     serialisation            = the longest useful time / run time on an ideal network
 *     transfer                 = run time on an ideal network / run time
 *
 * Useful is the time outside of MPI. The run time is the longest of all ranks, each by its own clock: from the end of its
 * MPI_Init to the begin of its MPI_Finalize, or that of its iterations.
 *
 *     computation scalability  = useful time of all ranks of the first run / that of this one
 *     global efficiency        = parallel efficiency × computation scalability
 *
 * With `is_weak` the mean of the ranks takes the place of the sum. What is unknown is less than 0.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_MPI_EFFICIENCY_H
#define CN_ANALYZE_MPI_EFFICIENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_mpi_run;

struct cn_mpi_efficiency {
    uint32_t ranks;                         /* that are known */
    uint64_t run_ns, useful_ns, longest_ns; /* of all ranks; of the one with the most */
    uint32_t longest;                       /* where in the ranks */
    uint64_t wait_ns;                       /* of all ranks, as far as it is known */
    double parallel, balance, communication, serialisation, transfer;
};

/* Of one rank in an interval: its time outside of MPI, and its waiting in MPI. */
struct cn_mpi_share {
    uint64_t time_ns, useful_ns, wait_ns;
};

/* Add a rank to a zeroed efficiency; compute it of the ranks that were added. */
void cn_mpi_efficiency_add(struct cn_mpi_efficiency *efficiency, uint32_t rank,
                           const struct cn_mpi_share *share);
void cn_mpi_efficiency_finish(struct cn_mpi_efficiency *efficiency);

/* Of the whole run. */
void cn_mpi_efficiency_of_run(const struct cn_mpi_run *run,
                              struct cn_mpi_efficiency *out);

/* Of all iterations of the phase together. */
void cn_mpi_efficiency_of_phase(const struct cn_mpi_run *run,
                                struct cn_mpi_efficiency *out);

/* The number of iterations that every known rank has; fails if they have different numbers, or none. */
CN_CHECK bool cn_mpi_iterations(const struct cn_mpi_run *run, size_t *out,
                                struct cn_error *err);

/* Of a rank in the whole run. */
struct cn_mpi_share cn_mpi_share_of(const struct cn_mpi_run *run, uint32_t rank);

/* By rank: how long others waited for it. The caller frees it. */
uint64_t *cn_mpi_caused(const struct cn_mpi_run *run);

/* For each rank and iteration, list[rank * count + iteration]; zero of ranks that are unknown. The caller frees it. */
struct cn_mpi_share *cn_mpi_shares(const struct cn_mpi_run *run, size_t count);

/* The same for parts of the run of the same length. */
struct cn_mpi_share *cn_mpi_shares_over_time(const struct cn_mpi_run *run, size_t count);

/* Of one iteration. */
void cn_mpi_efficiency_of(const struct cn_mpi_run *run, const struct cn_mpi_share *shares,
                          size_t count, size_t iteration, struct cn_mpi_efficiency *out);

/* Computation scalability and global efficiency of a run, compared with the first one. */
double cn_mpi_scalability(const struct cn_mpi_efficiency *first,
                          const struct cn_mpi_efficiency *run, bool is_weak);

#endif
