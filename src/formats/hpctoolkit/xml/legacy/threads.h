/* The threads of an experiment.xml 2.x database: identities, values and samples.
 *
 * Borrows the bytes of the files. A zeroed list is empty.
 * Threads: one thread adds; then immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_LEGACY_THREADS_H
#define CN_FORMATS_HPCTOOLKIT_XML_LEGACY_THREADS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "model/contexts/identity.h"

struct cn_hpc_legacy_thread {
    struct cn_identity_tuple identity;
    struct cn_bytes values; /* a matrix */
    uint32_t row_count, column_count;
    uint64_t value_count;   /* other than 0 */
    uint32_t context_count; /* rows with such a value */
    uint64_t samples_off, sample_count;
};

struct cn_hpc_legacy_threads {
    struct cn_hpc_legacy_thread *list;
    size_t count, capacity;
    struct cn_map slots;    /* process << 32 | thread -> index */
    struct cn_bytes traces; /* experiment.mt */
};

void cn_hpc_legacy_threads_done(struct cn_hpc_legacy_threads *threads);

/* Add the file of one thread; its name contains the identity. */
CN_CHECK bool cn_hpc_legacy_add_file(struct cn_hpc_legacy_threads *threads,
                                     struct cn_bytes file, const char *name,
                                     struct cn_error *err);

/* Add a packed file of values. On failure the threads before the damage were added. */
CN_CHECK bool cn_hpc_legacy_add_packed(struct cn_hpc_legacy_threads *threads,
                                       struct cn_bytes file, struct cn_error *err);

/* Add the timelines of experiment.mt, and the threads that only it has. */
CN_CHECK bool cn_hpc_legacy_add_traces(struct cn_hpc_legacy_threads *threads,
                                       struct cn_bytes file, struct cn_error *err);

/* A value; 0 if the row or column does not exist. */
double cn_hpc_legacy_threads_value(const struct cn_hpc_legacy_thread *thread,
                                   uint64_t row, uint64_t column);

#endif
