/* The values of many small profiles, sorted by ranges of contexts, in nameless files.
 *
 * If every range has only a few values in each profile, reading all profiles again for each
 * range takes longer than writing the values once more: in chunks of many profiles, each
 * sorted by range. After building, each range is read chunk by chunk; chunks are in the
 * order of profiles, and so are the values in them.
 * Threads: one thread builds, with workers; any thread may read.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_SPILL_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_SPILL_H

#include "model/contexts/transpose.h"

struct cn_spill;

struct cn_spilled_value {
    double value;
    uint32_t context;
    uint16_t metric;
    uint16_t thread; /* from the first one of the chunk */
};

struct cn_spill_request {
    struct cn_database *db;
    const struct cn_transpose_part *part; /* NULL: all threads are of this process */
    const uint32_t *threads;              /* profiles, in order */
    size_t thread_count;
    size_t own_first, own_count;           /* threads of this process */
    const struct cn_context_range *ranges; /* of all contexts, in order */
    size_t range_count;
    unsigned workers;
    const char *folder; /* for the files */
    const struct cn_zero_ids *zero_ids;
    const struct cn_progress *progress;
};

/* Processes that work together call it with the same ranges. The arrays of the request must
 * outlive the result. */
CN_CHECK bool cn_spill_build(struct cn_spill **out,
                             const struct cn_spill_request *request,
                             struct cn_error *err);
void cn_spill_free(struct cn_spill *spill); /* NULL is fine */

size_t cn_spill_chunk_count(const struct cn_spill *spill);

/* The number of values of a range in a chunk, and the index of its first thread. */
size_t cn_spill_count(const struct cn_spill *spill, size_t chunk, size_t range,
                      size_t *first_thread);

/* Read these values. */
CN_CHECK bool cn_spill_read(const struct cn_spill *spill, size_t chunk, size_t range,
                            struct cn_spilled_value *values, struct cn_error *err);

#endif
