/* The values of a cct.db, of any generation of the format: one record a context, and a
 * block for each context with values. What the bytes look like is an encoding's to say.
 *
 * Each range of the transposition becomes one stretch of blocks, built in memory with
 * offsets from its own start. Stretches are aligned as blocks are, so the file does not
 * depend on how contexts were split into ranges.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_CCT_BLOCKS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_CCT_BLOCKS_H

#include <stddef.h>

#include "base/error.h"
#include "formats/hpctoolkit/values/value_job.h"
#include "model/contexts/database.h"

struct cn_out;

struct cn_hpc_cct_block {
    uint32_t context;
    uint16_t metric_count;
    uint64_t value_count; /* 0: there is no block, the offsets are those of the next */
    uint64_t values_off, index_off;
};

struct cn_hpc_cct_encoding {
    size_t value_len, index_len, record_len;
    size_t align; /* of blocks */

    /* Encode a plane at `at`: its values, then where each metric's values start. There
     * is room for all values, for an entry a value and one more. Sets the counts of
     * `block` and index_off, from `at` on; returns the length, 0 when nothing is kept. */
    size_t (*block)(void *arg, unsigned worker, struct cn_value_batch plane, uint8_t *at,
                    struct cn_hpc_cct_block *block);

    /* Encode a record, of record_len bytes. */
    void (*record)(const struct cn_hpc_cct_block *block, uint8_t *at);
};

/* Append the blocks to `out` and fill in the records of all contexts at `records_off`,
 * which is reserved. Of several processes, each writes some ranges and the first the
 * records of contexts beyond all that have values. */
CN_CHECK bool cn_hpc_cct_blocks_write(const struct cn_hpc_value_job *job,
                                      const struct cn_hpc_cct_encoding *encoding,
                                      void *arg, struct cn_out *out, uint64_t records_off,
                                      struct cn_error *err);

#endif
