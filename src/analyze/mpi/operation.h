/* The functions of MPI: what each waits for, and which of its arguments say so.
 *
 * Names of C and Fortran, of MPI and of its profiling interface: MPI_Send, PMPI_Send, mpi_send_,
 * MPI_SEND, mpi_send_f08_.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_MPI_OPERATION_H
#define CN_ANALYZE_MPI_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

enum cn_mpi_kind {
    CN_MPI_OTHER,     /* may wait; for what is unknown */
    CN_MPI_LOCAL,     /* waits for no other rank */
    CN_MPI_INIT,      /* before the run */
    CN_MPI_FINALIZE,  /* after it; every rank waits for all others */
    CN_MPI_ALL,       /* every rank waits for all others: a barrier */
    CN_MPI_FROM_ROOT, /* waits for the root: a broadcast */
    CN_MPI_TO_ROOT,   /* the root waits for all: a reduction */
    CN_MPI_SEND,      /* also one that starts a send and waits later */
    CN_MPI_RECEIVE,
    CN_MPI_START_RECEIVE, /* a later wait ends it */
    CN_MPI_SEND_RECEIVE,
    CN_MPI_WAIT,     /* for one request */
    CN_MPI_WAIT_ALL, /* for several */
};

/* Arguments that say what a call waits for; the others are not read. */
enum cn_mpi_argument {
    CN_MPI_COMM,
    CN_MPI_PEER, /* the root of a collective, the other rank of a message; the length of a list of requests */
    CN_MPI_TAG,
    CN_MPI_REQUEST,
    CN_MPI_SOURCE, /* of the message that a Sendrecv receives */
    CN_MPI_SOURCE_TAG,
    CN_MPI_ARGUMENTS,
};

struct cn_mpi_operation {
    const char *name;                    /* without its prefix: "Send" */
    uint8_t kind;                        /* enum cn_mpi_kind */
    bool is_started;                     /* a send that does not wait itself */
    uint8_t arguments[CN_MPI_ARGUMENTS]; /* numbers from 1; 0: it has none */
};

/* True if it takes part in an operation of all ranks of a communicator. */
static inline bool cn_mpi_is_collective(const struct cn_mpi_operation *operation)
{
    return operation->kind >= CN_MPI_FINALIZE && operation->kind <= CN_MPI_TO_ROOT;
}

/* The operation of a function; NULL if it is none of MPI. `is_c` is false for those of Fortran, whose
 * arguments are addresses. */
const struct cn_mpi_operation *cn_mpi_operation_find(const char *function, bool *is_c);

/* All operations with arguments that are read, ended by one without a name. */
extern const struct cn_mpi_operation cn_mpi_operations[];

#endif
