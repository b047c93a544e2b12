/* What the parts of the verifier share.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_PARTS_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_PARTS_H

#include "base/run/progress.h"
#include "formats/hpctoolkit/sparse/verify.h"

struct cn_hpc_sparse_check {
    struct cn_findings *f;
    const struct cn_hpc_sparse_known *known;
    const struct cn_progress *progress;
    uint32_t profile_count;      /* 0 until profile.db was read */
    uint32_t value_context_last; /* the largest id with values in profile.db */
    uint64_t touched_len;        /* of files, since their memory was given back */
};

/* `len` more bytes of a file were looked at: give its memory back now and then. */
void cn_hpc_sparse_check_forget(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                                uint64_t len);

/* Magic, version, footer, sections. False when records cannot be found. */
bool cn_hpc_sparse_check_frame(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                               const struct cn_hpc_sparse_kind *kind,
                               struct cn_hpc_sparse_frame *out);

/* A value that should be neither 0 nor infinite. */
void cn_hpc_sparse_check_value(struct cn_hpc_sparse_check *c, uint64_t off, double value);

CN_CHECK bool cn_hpc_sparse_check_profiles(struct cn_hpc_sparse_check *c,
                                           struct cn_bytes file, struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_check_cct(struct cn_hpc_sparse_check *c, struct cn_bytes file,
                                      struct cn_error *err);
CN_CHECK bool cn_hpc_sparse_check_traces(struct cn_hpc_sparse_check *c,
                                         struct cn_bytes file, struct cn_error *err);

#endif
