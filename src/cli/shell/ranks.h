/* A command that several processes run together, started by mpirun.
 *
 *     ok = cn_cli_ranks_open(&ranks, args, err) && work(ranks, err);
 *     return cn_cli_ranks_close(ranks, args, ok, err);
 *
 * Without mpirun this is one process on its own, and nothing is loaded. With it, MPI is
 * loaded, and only rank 0 talks. The command's table has CN_OPTION_NO_MPI.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_RANKS_H
#define CN_CLI_SHELL_RANKS_H

#include "base/error.h"

struct cn_args;
struct cn_ranks;

#define CN_OPTION_NO_MPI                                                       \
    {                                                                          \
        .name = "no-mpi",                                                      \
        .help = "started by mpirun: work alone, not with the other processes", \
    }

/* The rank that mpirun has given this process; 0 without mpirun. Known before MPI is
 * loaded, and without it. */
unsigned cn_cli_launched_rank(void);

/* Fails when there are several processes but no MPI, or when they were not started
 * with the same words. `*ranks` is NULL then. */
CN_CHECK bool cn_cli_ranks_open(struct cn_ranks **ranks, const struct cn_args *args,
                                struct cn_error *err);

/* Passes `ok` through. What all ranks agreed to fail with is told by rank 0 before any
 * of them ends; then `err` has no text left. */
CN_CHECK bool cn_cli_ranks_close(struct cn_ranks *ranks, const struct cn_args *args,
                                 bool ok, struct cn_error *err);

#endif
