/* Builds what a run knows of one thread, from what the thread did in the order of time. Internal to analyze/mpi.
 *
 *     cn_mpi_builder_init(&builder, &run)
 *     cn_mpi_builder_move(&builder, path, time_ns)     the thread is in `path` from then on; CN_NONE: nowhere
 *     cn_mpi_builder_end(&builder, time_ns)
 *     cn_mpi_builder_take(&builder, &rank)             or cn_mpi_builder_done()
 *
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_MPI_BUILDER_H
#define CN_ANALYZE_MPI_BUILDER_H

#include "analyze/mpi/run.h"

struct cn_mpi_builder {
    struct cn_mpi_run *run;
    struct cn_mpi_rank rank;
    uint32_t path, call_path, phase_path; /* where it is; CN_NONE: in no such function */
    uint64_t since_ns;
    bool has_begun;
    struct cn_mpi_cost *costs; /* by path; `path` is set if it has any */
    uint64_t *gap_ns;          /* by path: since the last call */
    uint32_t *gap_paths;       /* those with time */
    size_t cost_capacity, gap_capacity, gap_path_capacity, gap_count;
};

void cn_mpi_builder_init(struct cn_mpi_builder *builder, struct cn_mpi_run *run);
void cn_mpi_builder_done(struct cn_mpi_builder *builder);

/* The thread is in a path from now on. A call that ends and one that begins at once are two if the
 * caller moves to their caller between them. */
void cn_mpi_builder_move(struct cn_mpi_builder *builder, uint32_t path, uint64_t time_ns);

/* The arguments of the call that has begun; those without any other than the communicator need no memory. */
void cn_mpi_builder_add_values(struct cn_mpi_builder *builder, uint16_t comm,
                               const struct cn_mpi_values *values);

void cn_mpi_builder_end(struct cn_mpi_builder *builder, uint64_t time_ns);

/* Append a rank to the run. */
void cn_mpi_builder_take(struct cn_mpi_builder *builder, uint32_t number);

#endif
