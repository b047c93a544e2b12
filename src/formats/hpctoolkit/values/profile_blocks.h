/* Write the values of a profile.db of any generation: a block for each profile, of values
 * and an index. An encoding describes the bytes.
 *
 * Blocks follow each other in a fixed order, so the offset of a block is known when the
 * planes before it have been read. Where processes work together, each writes the blocks of its
 * own profiles and leaves room for the others. A plane that fits a worker's buffers is encoded as it is
 * read; a larger one is read a second time and encoded buffer by buffer, so that memory
 * does not grow with planes. Only a plane that is not sorted is loaded completely.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_PROFILE_BLOCKS_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_PROFILE_BLOCKS_H

#include <stddef.h>

#include "base/error.h"
#include "formats/hpctoolkit/values/job.h"
#include "model/contexts/database.h"

struct cn_out;

struct cn_hpc_profile_block {
    uint64_t value_count;
    uint32_t context_count;
    uint64_t values_off, index_off;
};

/* An array in the file, written through a buffer. */
struct cn_hpc_buffered {
    uint8_t *buffer;
    size_t len, capacity; /* the buffer has room for one more element */
    uint64_t next_off, end_off;
};

/* A plane being encoded. */
struct cn_hpc_plane_bytes {
    struct cn_hpc_buffered values, index;
    uint64_t value_count; /* encoded so far */
    uint32_t last_key;
    const struct cn_zero_ids *zero_ids;
};

struct cn_hpc_profile_encoding {
    size_t value_len, index_len;
    size_t align;         /* of the index */
    uint16_t metric_max;  /* the largest id that readers accept: 2^n - 1 */
    bool is_summary_last; /* the block of profile 0 is the last */

    /* Append values that are not void to the buffers until one is full; returns how many
     * were taken. Calls cn_hpc_plane_encode() with this encoding's functions. */
    size_t (*encode)(struct cn_hpc_plane_bytes *plane, const struct cn_value *values,
                     size_t count);

    /* Encode the end marker of an index; NULL: there is none. */
    void (*put_end)(uint64_t value_count, uint8_t *at);

    /* Translate metric ids of a batch, drop void values and those without an id in the
     * file, and return how many are left. Every value is passed once with `is_first`, some again without.
     * NULL: use all values unchanged. */
    size_t (*translate)(void *arg, unsigned worker, bool is_summary,
                        struct cn_value_batch batch, bool is_first, struct cn_value *out);
};

static inline bool cn_hpc_plane_has_room(const struct cn_hpc_plane_bytes *plane)
{
    return plane->values.len < plane->values.capacity &&
           plane->index.len < plane->index.capacity;
}

/* The loop of `encode`, inline so that the two functions are as well. */
static inline size_t
cn_hpc_plane_encode(struct cn_hpc_plane_bytes *plane, const struct cn_value *values,
                    size_t count, size_t value_len, size_t index_len,
                    void (*put_value)(const struct cn_value *value, uint8_t *at),
                    void (*put_index)(uint32_t context, uint64_t start, uint8_t *at))
{
    size_t i = 0;

    for (; i < count && cn_hpc_plane_has_room(plane); i++) {
        struct cn_value value = values[i];

        if (cn_value_is_void(&value, plane->zero_ids))
            continue;
        if (plane->value_count == 0 || value.key != plane->last_key) {
            put_index(value.key, plane->value_count,
                      plane->index.buffer + plane->index.len);
            plane->index.len += index_len;
            plane->last_key = value.key;
        }
        put_value(&value, plane->values.buffer + plane->values.len);
        plane->values.len += value_len;
        plane->value_count++;
    }
    return i;
}

/* Append the blocks of all profiles to `out` and set the offsets of each in `blocks`. Fails
 * on a plane with two values for the same context and metric. */
CN_CHECK bool cn_hpc_profile_blocks_write(const struct cn_hpc_value_job *job,
                                          const struct cn_hpc_profile_encoding *encoding,
                                          struct cn_out *out,
                                          struct cn_hpc_profile_block *blocks,
                                          struct cn_error *err);

#endif
