/* A run of an MPI program: of every rank, the calls of MPI over time, and what it did between them.
 *
 *     cn_mpi_run_init(&run, phase, err)
 *     cn_mpi_run_add_calls(&run, number, recording)            each rank, from its recorded calls; or
 *     cn_mpi_run_add_timelines(&run, database, progress, err) all ranks, from samples over time
 *     cn_mpi_run_finish(&run, err)                             who waited for whom
 *     ... run.ranks[i].calls ...
 *     cn_mpi_run_done(&run);
 *
 * A call is the outermost function of MPI, from its begin to its end. Of recordings the times are exact, of samples as
 * far apart as the samples are: calls of the same path without a sample between them are one.
 *
 * Of a rank with several threads, the one with the most calls of MPI stands for the rank. A rank whose data is missing
 * or incomplete has no calls, and `why` says so: what is computed is then of the others.
 *
 * Operations of all ranks are matched by their order on each communicator, and only if all ranks call the same
 * operations in the same order, and no rank leaves one before all have entered it. Messages are matched if the
 * arguments of calls were recorded. What is not matched has CN_MPI_UNMATCHED, never a guess.
 *
 * Memory: 48 bytes a call. Threads: one thread at a time; immutable after it was finished.
 */
#ifndef CN_ANALYZE_MPI_RUN_H
#define CN_ANALYZE_MPI_RUN_H

#include <stddef.h>

#include "analyze/mpi/operation.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "model/contexts/context.h"

struct cn_database;
struct cn_progress;
struct cn_recording;

enum { CN_MPI_RANKS_MAX = 1 << 20 };

/* Functions from the outermost to one of them. */
struct cn_mpi_path {
    uint32_t parent, name; /* parent is a smaller number, CN_NONE of the outermost */
    uint32_t
        mpi; /* the path of the outermost function of MPI in it; CN_NONE: there is none */
    uint32_t phase; /* likewise of the phase */
    bool is_c;      /* of `operation` */
    const struct cn_mpi_operation
        *operation; /* of the last function; NULL: none of MPI */
};

enum cn_mpi_cause {
    CN_MPI_WITHOUT_WAIT,
    CN_MPI_LATE_RANK, /* the last one that came to a collective operation */
    CN_MPI_LATE_ROOT, /* of a broadcast */
    CN_MPI_LATE_SENDER,
    CN_MPI_LATE_RECEIVER,
    CN_MPI_UNMATCHED, /* whether it waits, and for whom, is unknown */
    CN_MPI_CAUSES,
};

/* "late rank", "late sender", "unknown". */
extern const char *const cn_mpi_cause_names[CN_MPI_CAUSES];

struct cn_mpi_call {
    uint64_t begin_ns, end_ns;
    uint64_t wait_ns; /* until the other rank came; not more than the call */
    uint32_t path;    /* of the function of MPI */
    uint32_t
        before; /* the path that took the longest since the call before; CN_NONE: none */
    uint32_t late_rank,
        late_path; /* where in `ranks`, and its path before it came; CN_NONE: unknown */
    uint32_t
        link; /* values of its arguments; then its collective operation; CN_NONE: none */
    uint8_t cause; /* enum cn_mpi_cause */
    bool is_root;  /* of its collective operation */
    uint16_t
        comm; /* 0 is that of all ranks, others are numbered by their first use on the rank */
};

/* A communicator that was not recorded, and all of those that are too many to be told apart. */
enum { CN_MPI_COMM_UNKNOWN = UINT16_MAX, CN_MPI_COMM_MANY = UINT16_MAX - 1 };

/* The values of arguments of a call. */
struct cn_mpi_values {
    uint64_t request;
    int32_t numbers[CN_MPI_ARGUMENTS]; /* of the others, but not the communicator */
    uint8_t known;                     /* bits by argument */
};

struct cn_mpi_interval {
    uint64_t begin_ns, end_ns;
};

/* Time of a rank in a path itself, between the begin and the end of the run. */
struct cn_mpi_cost {
    uint32_t path;
    uint64_t outside_ns; /* computing */
    uint64_t inside_ns;  /* in MPI */
};

struct cn_mpi_rank {
    uint32_t number;
    char *why; /* the rank is unknown; NULL: it is known */
    struct cn_mpi_call *calls;
    size_t call_count, call_capacity;
    struct cn_mpi_values *values;
    size_t value_count, value_capacity;
    struct cn_mpi_interval *phases;
    size_t phase_count, phase_capacity;
    struct cn_mpi_cost *costs; /* by path */
    size_t cost_count;
    struct cn_mpi_interval
        span; /* after MPI_Init and before MPI_Finalize, where they were seen */
    uint64_t seen_calls; /* of MPI, also those before the run */
};

/* A message that a call waits for. */
struct cn_mpi_message {
    uint32_t from_rank, from_call, to_rank, to_call;
};

struct cn_mpi_run {
    struct cn_mpi_rank *ranks; /* by number */
    size_t count, capacity;
    struct cn_mpi_path *paths;
    size_t path_count, path_capacity;
    struct cn_map path_of; /* by parent and name */
    struct cn_names names;
    const char *phase; /* pattern of names of functions; NULL: there is none */
    struct cn_name_filter phase_names;
    uint64_t resolution_ns;          /* of times, those of samples; 0: they are exact */
    struct cn_mpi_message *messages; /* by the call that waits */
    size_t message_count, message_capacity;
    uint32_t
        request_len; /* bytes of a request: numbers of MPICH, addresses of Open MPI; 0: unknown */
    uint32_t collective_count; /* that were matched */
    bool is_matched;           /* every call that may wait */
    bool is_damaged;           /* data of a rank could not be read */
    struct cn_text notes;      /* lines: what is unknown, and why */
};

/* `phase` is a pattern of functions whose calls are the iterations, or NULL. Released also after a failure. */
CN_CHECK bool cn_mpi_run_init(struct cn_mpi_run *run, const char *phase,
                              struct cn_error *err);
void cn_mpi_run_done(struct cn_mpi_run *run); /* a zeroed one is fine */

/* Damage of the recording makes the rank unknown. A recording of mpirun itself has several ranks, one in each process
 * with calls of MPI; they are numbered by process id, as their own numbers are not known. */
void cn_mpi_run_add_calls(struct cn_mpi_run *run, uint32_t number,
                          const struct cn_recording *rec);
void cn_mpi_run_add_processes(struct cn_mpi_run *run, const struct cn_recording *rec);

/* A rank without data. */
void cn_mpi_run_add_unknown(struct cn_mpi_run *run, uint32_t number, const char *why);

/* Threads without a rank are ranks by process. */
CN_CHECK bool cn_mpi_run_add_timelines(struct cn_mpi_run *run, struct cn_database *db,
                                       const struct cn_progress *progress,
                                       struct cn_error *err);

/* Fails if no rank is known. */
CN_CHECK bool cn_mpi_run_finish(struct cn_mpi_run *run, struct cn_error *err);

/* True if a call waited, or if that is unknown. */
static inline bool cn_mpi_call_may_wait(const struct cn_mpi_call *call)
{
    return call->wait_ns > 0 || call->cause == CN_MPI_UNMATCHED;
}

/* The path below another, CN_NONE for the outermost. */
uint32_t cn_mpi_run_path(struct cn_mpi_run *run, uint32_t parent, uint32_t name);

/* Append "main → solve → MPI_Barrier"; "–" for CN_NONE. */
void cn_mpi_path_print(const struct cn_mpi_run *run, uint32_t path, struct cn_text *out);

#endif
