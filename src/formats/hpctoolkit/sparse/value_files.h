/* The value files of HPCToolkit's older databases, as planes_reader.h and traces_reader.h
 * read them.
 *
 * Inside a context, writers left metrics in any order; they are delivered sorted. Opening
 * fails if blocks or traces add up to more than the file, which would make the work more
 * than linear.
 * Threads: immutable after open; everything borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_VALUE_FILES_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_VALUE_FILES_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"

extern const struct cn_hpc_plane_encoding cn_hpc_sparse_profile_planes,
    cn_hpc_sparse_context_planes;
extern const struct cn_hpc_sample_encoding cn_hpc_sparse_samples;

/* There is at least one profile, the summary. */
CN_CHECK bool cn_hpc_sparse_profiles_open(struct cn_content file,
                                          struct cn_hpc_planes *out,
                                          struct cn_error *err);

/* Records are in the order of their ids, from 0 on. `is_zeroed`: the blocks are all zero,
 * which a bug of the time left. */
CN_CHECK bool cn_hpc_sparse_cct_open(struct cn_content file, struct cn_hpc_planes *out,
                                     bool *is_zeroed, struct cn_error *err);

CN_CHECK bool cn_hpc_sparse_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                                        struct cn_error *err);

/* The planes of an opened frame. */
struct cn_hpc_planes cn_hpc_sparse_planes(const struct cn_hpc_sparse_frame *frame,
                                          const struct cn_hpc_plane_encoding *encoding);

#endif
