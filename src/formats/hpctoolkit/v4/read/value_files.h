/* profile.db, cct.db and trace.db of a v4 database, as planes_reader.h and traces_reader.h
 * read them.
 * Threads: immutable after open; everything borrows the file's bytes.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_VALUE_FILES_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_VALUE_FILES_H

#include "formats/hpctoolkit/values/planes_reader.h"
#include "formats/hpctoolkit/values/traces_reader.h"

extern const struct cn_hpc_plane_encoding cn_hpc_v4_profile_planes,
    cn_hpc_v4_context_planes;
extern const struct cn_hpc_sample_encoding cn_hpc_v4_samples;

/* There is at least one profile, the summary. */
CN_CHECK bool cn_hpc_v4_profiles_open(struct cn_content file, struct cn_hpc_planes *out,
                                      struct cn_error *err);

/* Records are indexed by context id. */
CN_CHECK bool cn_hpc_v4_cct_open(struct cn_content file, struct cn_hpc_planes *out,
                                 struct cn_error *err);

CN_CHECK bool cn_hpc_v4_traces_open(struct cn_content file, struct cn_hpc_traces *out,
                                    struct cn_error *err);

#endif
