/* Every rule of the older value files, checked; every violation reported.
 *
 * Whoever verifies the tree first says what it knows; cn_hpc_sparse_verify() checks
 * the bytes of the three files, and, where nothing was wrong,
 * cn_hpc_sparse_verify_values() compares what they say: cct.db must be the transpose
 * of profile.db, and the summary what its statistics make of the threads.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_H

#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/sparse/reader.h"

struct cn_progress;

/* What the tree said; NULL where it could not be read. */
struct cn_hpc_sparse_known {
    const struct cn_hpc_set *thread_ids,
        *summary_ids; /* metric ids that mean something */
    const struct cn_hpc_set *contexts;
    uint32_t context_last;    /* the largest id */
    uint32_t kind_count;      /* kinds of identities that have a name */
    bool has_time_range;      /* trace.db has to state it */
    bool is_mapped;           /* the memory of the files can be given back */
    const char *distrust_cct; /* why cct.db is not looked at; NULL: it is */
};

/* These fail only when the user asks to stop. */
CN_CHECK bool cn_hpc_sparse_verify(struct cn_findings *f,
                                   const struct cn_hpc_sparse_files *files,
                                   const struct cn_hpc_sparse_known *known,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

/* `db` is the database that `sparse` is part of. */
CN_CHECK bool cn_hpc_sparse_verify_values(struct cn_findings *f, struct cn_database *db,
                                          const struct cn_hpc_sparse *sparse,
                                          const struct cn_progress *progress,
                                          struct cn_error *err);

#endif
