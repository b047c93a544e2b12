/* A tree of records being written: children before their parents, so one list of
 * encoded siblings is kept for each level of the current path.
 *
 * Zeroed is empty; released with cn_hpc_levels_done().
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_LEVELS_H
#define CN_FORMATS_HPCTOOLKIT_LEVELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_out;

struct cn_hpc_level {
    uint8_t *bytes;
    size_t len, capacity;
    bool has_calls; /* for whom it matters: one of the siblings is called, or a place in
                       the same function that calls */
};

struct cn_hpc_levels {
    struct cn_hpc_level *list; /* the roots at 0 */
    size_t count, capacity;
};

/* Let there be at least `count` of them. */
void cn_hpc_levels_make(struct cn_hpc_levels *levels, size_t count);
void cn_hpc_levels_done(struct cn_hpc_levels *levels);

/* Room for `len` bytes more. */
uint8_t *cn_hpc_level_append(struct cn_hpc_level *level, size_t len);

/* Write a finished list of siblings and empty it; an empty one is 0 bytes at 0. */
CN_CHECK bool cn_hpc_level_write(struct cn_hpc_level *level, struct cn_out *out,
                                 uint64_t *len, uint64_t *off, struct cn_error *err);

#endif
