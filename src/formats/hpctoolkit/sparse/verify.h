/* Check every rule of the older value files; report each violation.
 *
 * The verifier of the tree first says in struct cn_hpc_check what the tree knows.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_H

#include "formats/hpctoolkit/sparse/open.h"
#include "formats/hpctoolkit/values/checks.h"

struct cn_hpc_sparse_verify {
    struct cn_hpc_check *c;
    const struct cn_hpc_sparse_files *files;
    bool has_time_range;      /* trace.db has to declare it */
    const char *distrust_cct; /* why cct.db is not checked; NULL: it is */
};

/* Fails only when the user asks to stop. */
CN_CHECK bool cn_hpc_sparse_verify(const struct cn_hpc_sparse_verify *v,
                                   struct cn_error *err);

#endif
