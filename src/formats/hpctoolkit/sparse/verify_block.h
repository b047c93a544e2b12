/* A block of values and its index, as profile.db has one a profile and cct.db one a
 * context: bounds, order, starts and end marker of the index.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_BLOCK_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_VERIFY_BLOCK_H

#include "formats/hpctoolkit/sparse/verify_parts.h"

struct cn_hpc_sparse_block {
    uint32_t owner;                  /* whose values these are */
    uint64_t off;                    /* of the values in the file */
    uint64_t value_count, key_count; /* as the record claims */
    struct cn_bytes values, index;   /* the index with its end marker */
    uint64_t index_off;
};

struct cn_hpc_sparse_entry {
    uint32_t key;
    uint64_t start;
};

/* What tells the blocks of the two files apart. */
struct cn_hpc_sparse_block_kind {
    const char *owner, *key;              /* "profile", "context" */
    const char *sorted_rule, *empty_rule; /* names of rules on keys */
    size_t value_len, index_len;
    uint32_t end; /* key of the end marker */
    struct cn_hpc_sparse_entry (*entry)(struct cn_bytes bytes);

    /* A key at `off`, wherever its values are; may be NULL. */
    void (*check_key)(void *arg, uint32_t key, uint64_t off);
    /* A key at `off` that has the values from `start` to before `end`. */
    void (*check_values)(void *arg, const struct cn_hpc_sparse_block *block, uint32_t key,
                         uint64_t off, uint64_t start, uint64_t end);
};

/* All blocks of a file. */
struct cn_hpc_sparse_blocks {
    struct cn_hpc_sparse_check *c;
    const struct cn_hpc_sparse_block_kind *kind;
    void *arg;
    struct cn_bytes file;
    struct cn_hpc_extents extents;
    uint64_t budget; /* bytes of values that may still be checked */
};

/* The block that the record at `record_off` describes; one without values and keys may
 * lie anywhere. */
void cn_hpc_sparse_check_block(struct cn_hpc_sparse_blocks *blocks,
                               struct cn_hpc_sparse_block *block, uint64_t record_off);

#endif
