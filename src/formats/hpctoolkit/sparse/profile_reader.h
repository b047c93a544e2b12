/* profile.db: who was measured, and each thread's values, sorted by context.
 *
 * Inside one context, writers left metrics in any order; they come out sorted.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_PROFILE_READER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_PROFILE_READER_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/sparse/ids.h"
#include "model/contexts/database.h"

struct cn_hpc_sparse_profiles {
    struct cn_hpc_sparse_frame frame;
    struct cn_bytes tuples;
    uint64_t tuples_off;
};

/* The values of one profile: pairs (value, metric), and where each context's
 * begin. */
struct cn_hpc_sparse_profile_block {
    struct cn_bytes values, index; /* the index without its end marker */
    uint64_t value_count, values_off, index_off;
    uint32_t context_count;
};

/* There is at least one profile, the summary; blocks do not overlap. */
CN_CHECK bool cn_hpc_sparse_profiles_open(struct cn_bytes file,
                                          struct cn_hpc_sparse_profiles *out,
                                          struct cn_error *err);

/* The record of profile `index`, which must exist. */
struct cn_hpc_sparse_profile
cn_hpc_sparse_profiles_record(const struct cn_hpc_sparse_profiles *profiles,
                              uint32_t index);
uint64_t cn_hpc_sparse_profiles_off(const struct cn_hpc_sparse_profiles *profiles,
                                    uint32_t index);

/* Profile `index`, which must exist. */
CN_CHECK bool cn_hpc_sparse_profiles_at(const struct cn_hpc_sparse_profiles *profiles,
                                        uint32_t index, struct cn_profile *out,
                                        struct cn_error *err);

/* Where its values are; they lie inside the file. */
CN_CHECK bool cn_hpc_sparse_profiles_block(const struct cn_hpc_sparse_profiles *profiles,
                                           uint32_t index,
                                           struct cn_hpc_sparse_profile_block *out,
                                           struct cn_error *err);

/* Entry `i` of a block's index; behind the last one stands the number of values. */
struct cn_hpc_sparse_profile_index
cn_hpc_sparse_profile_block_entry(const struct cn_hpc_sparse_profile_block *block,
                                  uint64_t i);

/* The first entry of the index whose context is not below `context`. */
uint64_t cn_hpc_sparse_profile_block_find(const struct cn_hpc_sparse_profile_block *block,
                                          uint32_t context);

/* The values of cursor->owner in the order of (context, metric), metric ids as `ids`
 * says. Contexts from `context_limit` on fail. */
CN_CHECK bool
cn_hpc_sparse_profile_values_begin(const struct cn_hpc_sparse_profiles *profiles,
                                   struct cn_value_cursor *cursor, struct cn_error *err);
CN_CHECK enum cn_step
cn_hpc_sparse_profile_values_next(const struct cn_hpc_sparse_profiles *profiles,
                                  const struct cn_hpc_sparse_ids *ids,
                                  uint32_t context_limit, struct cn_value_cursor *cursor,
                                  struct cn_value_batch *out, struct cn_error *err);

#endif
