/* cct.db: each context's values over threads, sorted by metric, then profile.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_CCT_READER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_CCT_READER_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/sparse/ids.h"
#include "model/contexts/database.h"

struct cn_hpc_sparse_cct {
    struct cn_hpc_sparse_frame frame;
    bool has_values;
    bool is_zeroed; /* blocks that should hold values are all zero: a bug of its time */
};

/* The values of one context: pairs (value, profile), and where each metric's
 * begin. */
struct cn_hpc_sparse_context_block {
    struct cn_bytes values, index; /* the index with its end marker */
    uint64_t value_count, values_off, index_off;
    uint16_t metric_count;
};

/* Records are in the order of their ids, from 0 on; blocks do not overlap. */
CN_CHECK bool cn_hpc_sparse_cct_open(struct cn_bytes file, struct cn_hpc_sparse_cct *out,
                                     struct cn_error *err);

/* The record of a context, which must exist. */
struct cn_hpc_sparse_context cn_hpc_sparse_cct_record(const struct cn_hpc_sparse_cct *cct,
                                                      uint32_t context);
uint64_t cn_hpc_sparse_cct_off(const struct cn_hpc_sparse_cct *cct, uint32_t context);

/* Where its values are; they lie inside the file and end with their marker. */
CN_CHECK bool cn_hpc_sparse_cct_block(const struct cn_hpc_sparse_cct *cct,
                                      uint32_t context,
                                      struct cn_hpc_sparse_context_block *out,
                                      struct cn_error *err);

/* The values of context cursor->owner, which must exist, by (metric, profile),
 * metric ids as `ids` says. Profiles from `profile_limit` on fail. */
CN_CHECK bool cn_hpc_sparse_cct_values_begin(const struct cn_hpc_sparse_cct *cct,
                                             struct cn_value_cursor *cursor,
                                             struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_sparse_cct_values_next(const struct cn_hpc_sparse_cct *cct,
                                                    const struct cn_hpc_sparse_ids *ids,
                                                    uint32_t profile_limit,
                                                    struct cn_value_cursor *cursor,
                                                    struct cn_value_batch *out,
                                                    struct cn_error *err);

#endif
