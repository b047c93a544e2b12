/* profile.db: who was measured, and each thread's values, sorted by context.
 *
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_PROFILE_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_PROFILE_READER_H

#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/database.h"

struct cn_hpc_profiles {
    struct cn_hpc_sections sections;
    struct cn_hpc_table table;
    bool has_flags; /* drafts do not: profile 0 is the summary */
};

/* There is at least one profile, the summary. */
CN_CHECK bool cn_hpc_profiles_open(struct cn_bytes file, struct cn_hpc_profiles *out,
                                   struct cn_error *err);

/* The record of profile `index`, which must exist, whatever layout holds it. */
CN_CHECK bool cn_hpc_profiles_record(const struct cn_hpc_profiles *profiles,
                                     uint32_t index, struct cn_hpc_profile *out,
                                     struct cn_error *err);

/* Profile `index`, which must exist; its values and index lie inside the file. */
CN_CHECK bool cn_hpc_profiles_at(const struct cn_hpc_profiles *profiles, uint32_t index,
                                 struct cn_profile *out, struct cn_error *err);

/* The largest context id with values in a profile; 0 when it has none. */
CN_CHECK bool cn_hpc_profiles_last_context(const struct cn_hpc_profiles *profiles,
                                           uint32_t index, uint32_t *out,
                                           struct cn_error *err);

/* The values of cursor->owner in the order of contexts. Ids from `context_limit`
 * on fail. */
CN_CHECK bool cn_hpc_profile_values_begin(const struct cn_hpc_profiles *profiles,
                                          struct cn_value_cursor *cursor,
                                          struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_profile_values_next(const struct cn_hpc_profiles *profiles,
                                                 struct cn_value_cursor *cursor,
                                                 uint32_t context_limit,
                                                 struct cn_value_batch *out,
                                                 struct cn_error *err);

#endif
