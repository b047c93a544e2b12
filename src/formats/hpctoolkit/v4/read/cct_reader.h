/* cct.db: each context's values over threads, sorted by metric, then profile.
 *
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_CCT_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_CCT_READER_H

#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/database.h"

struct cn_hpc_cct {
    struct cn_hpc_sections sections;
    struct cn_hpc_table table; /* indexed by context id */
};

CN_CHECK bool cn_hpc_cct_open(struct cn_bytes file, struct cn_hpc_cct *out,
                              struct cn_error *err);

/* The values of context cursor->owner, which must exist, by (metric, profile).
 * Profiles from `profile_limit` on fail. */
CN_CHECK bool cn_hpc_cct_values_begin(const struct cn_hpc_cct *cct,
                                      struct cn_value_cursor *cursor,
                                      struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_cct_values_next(const struct cn_hpc_cct *cct,
                                             struct cn_value_cursor *cursor,
                                             uint32_t profile_limit,
                                             struct cn_value_batch *out,
                                             struct cn_error *err);

#endif
