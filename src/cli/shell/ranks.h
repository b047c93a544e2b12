/* A command that the processes of mpirun run together.
 *
 *     ok = cn_cli_ranks_open(&ranks, args, err) && work(ranks, err);
 *     return cn_cli_ranks_close(ranks, args, ok, err);
 *
 * Without mpirun, this process works alone and MPI is not loaded. With it, only rank 0
 * prints messages. The command's option table has CN_OPTION_NO_MPI.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_RANKS_H
#define CN_CLI_SHELL_RANKS_H

#include "base/error.h"

struct cn_args;
struct cn_ranks;

#define CN_OPTION_NO_MPI                                                  \
    {                                                                     \
        .name = "no-mpi",                                                 \
        .help = "under mpirun, work alone, not with the other processes", \
    }

/* The rank that mpirun gave this process; 0 without mpirun. Does not need MPI. */
unsigned cn_cli_launched_rank(void);

/* Fails if there are several processes but no MPI, or if their command lines differ.
 * `*ranks` is NULL then. */
CN_CHECK bool cn_cli_ranks_open(struct cn_ranks **ranks, const struct cn_args *args,
                                struct cn_error *err);

/* Returns `ok`. Rank 0 prints an error of all ranks before any rank ends, and clears the
 * text of `err`. */
CN_CHECK bool cn_cli_ranks_close(struct cn_ranks *ranks, const struct cn_args *args,
                                 bool ok, struct cn_error *err);

#endif
