/* How busy the GPUs of a database were: the times in which any stream of a device had an operation, and
 * the longest gaps between them, each with the operation that ended it, whose call path is the one
 * that left the device idle.
 *
 *     cn_gpu_uses_find(&uses, db, err) ... uses.list[i] ...
 *     cn_gpu_uses_done(&uses);
 *
 * Devices are told apart by node and number. The time of a device lasts from its first operation to
 * the end of its last one.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_GPU_USE_H
#define CN_ANALYZE_TIMELINE_GPU_USE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;

enum {
    CN_GPU_GAP_MAX = 3,
    CN_GPU_RUN_MAX = 1 << 22, /* of a device: with more, it is left out */
};

struct cn_gpu_gap {
    uint64_t begin_ns, end_ns; /* since the epoch */
    uint32_t context;          /* of the operation that begins at its end */
    uint32_t profile;          /* of the stream of that operation */
};

struct cn_gpu_use {
    uint64_t node;
    uint32_t number, stream_count;
    uint64_t begin_ns, end_ns, busy_ns;
    uint64_t gap_count;                     /* of any length */
    struct cn_gpu_gap gaps[CN_GPU_GAP_MAX]; /* the longest, longest first */
    size_t listed_count;                    /* of those */
};

struct cn_gpu_uses {
    struct cn_gpu_use *list; /* by node and number */
    size_t count, capacity;
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_gpu_uses_find(struct cn_gpu_uses *uses, struct cn_database *db,
                               struct cn_error *err);
void cn_gpu_uses_done(struct cn_gpu_uses *uses);

#endif
