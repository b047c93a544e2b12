/* The threads of an experiment.xml 2.x database: who they are, their values and samples.
 *
 * Borrows the bytes of the files.
 * Threads: one thread at a time adds; then immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_LEGACY_LEGACY_THREADS_H
#define CN_FORMATS_HPCTOOLKIT_XML_LEGACY_LEGACY_THREADS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "model/contexts/identity.h"

struct cn_hpc_legacy_thread {
    struct cn_identity_tuple identity;
    struct cn_bytes values; /* a matrix */
    uint32_t row_count, column_count;
    uint64_t value_count;   /* that are not zero */
    uint32_t context_count; /* rows that have one */
    uint64_t samples_off, sample_count;
};

struct cn_hpc_legacy_threads {
    struct cn_hpc_legacy_thread *list;
    size_t count, capacity;
    struct cn_map by_number; /* process << 32 | thread -> position */
    struct cn_bytes traces;  /* experiment.mt */
};

void cn_hpc_legacy_threads_done(struct cn_hpc_legacy_threads *threads);

/* One thread's file; what its name says about it is its identity. */
CN_CHECK bool cn_hpc_legacy_add_file(struct cn_hpc_legacy_threads *threads,
                                     struct cn_bytes file, const char *name,
                                     struct cn_error *err);

/* A packed file of values. */
CN_CHECK bool cn_hpc_legacy_add_packed(struct cn_hpc_legacy_threads *threads,
                                       struct cn_bytes file, struct cn_error *err);

/* experiment.mt: timelines for the threads that are there; threads that are not are added. */
CN_CHECK bool cn_hpc_legacy_add_traces(struct cn_hpc_legacy_threads *threads,
                                       struct cn_bytes file, struct cn_error *err);

/* A value; row and column may be anything: 0 where there is none. */
double cn_hpc_legacy_threads_value(const struct cn_hpc_legacy_thread *thread,
                                   uint64_t row, uint64_t column);

#endif
