/* Write the values of a cct.db of any generation: a record for each context, and a block
 * for each context with values. An encoding describes the bytes.
 *
 * The blocks of each range of the transposition are built in memory, with offsets from
 * their start. Ranges are aligned as blocks are, so the file does not depend on how
 * contexts were split into ranges. If the database knows its cells, the offsets of all blocks
 * are known before values are read.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_CCT_BLOCKS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_CCT_BLOCKS_H

#include <stddef.h>

#include "base/error.h"
#include "formats/hpctoolkit/values/job.h"
#include "model/contexts/transpose.h"

struct cn_out;

struct cn_hpc_cct_block {
    uint32_t context;
    uint16_t metric_count;
    uint64_t value_count; /* 0: no block; the offsets are those of the next one */
    uint64_t values_off, index_off;
};

struct cn_hpc_cct_encoding {
    size_t value_len, index_len, record_len;
    size_t align; /* of blocks */

    /* Encode a plane at `at`: its values, then its index. There is room for all values, an
     * entry for each, and one more entry. Sets the counts of `block`, and its index_off
     * relative to `at`; returns the length, 0 if all values are dropped. */
    size_t (*block)(void *arg, unsigned worker, struct cn_value_batch plane, uint8_t *at,
                    struct cn_hpc_cct_block *block);

    /* Where values need no plane: encode values whose blocks begin at `offs`, by context,
     * in a file of which `bytes` is what follows `from`; and an entry of an index, which
     * follows the values of its block. Both NULL: planes are needed. */
    void (*values)(const struct cn_placed_value *values, size_t count,
                   const uint64_t *offs, uint64_t from, uint8_t *bytes);
    void (*index)(uint16_t metric, uint64_t start, uint8_t *at);

    /* Encode a record, of record_len bytes. */
    void (*record)(const struct cn_hpc_cct_block *block, uint8_t *at);
};

/* The number of records: one for every id below the largest, used or not. `listed_count`
 * contexts are in the tree. Ids out of proportion to the contexts there are fail. */
CN_CHECK bool cn_hpc_cct_count(struct cn_database *db, uint64_t listed_count,
                               uint32_t largest_listed, uint32_t *out,
                               struct cn_error *err);

/* Append the blocks to `out` and write the records of their contexts at `records_off`, which
 * is reserved. A part of the job writes some ranges; `out` then ends after the last of them. */
CN_CHECK bool cn_hpc_cct_blocks_write(const struct cn_hpc_value_job *job,
                                      const struct cn_hpc_cct_encoding *encoding,
                                      struct cn_out *out, uint64_t records_off,
                                      struct cn_error *err);

/* When all blocks are in `out`: write the records of contexts whose ids are above all that
 * have values. */
CN_CHECK bool cn_hpc_cct_blocks_end(const struct cn_hpc_value_job *job,
                                    const struct cn_hpc_cct_encoding *encoding,
                                    const struct cn_out *out, uint64_t records_off,
                                    struct cn_error *err);

#endif
