/* Whether one rank or thread has more to do than the others, and it matters.
 *
 * Only ranks, or threads of one process, that do the same work are compared: those that have at
 * least half of their cost in the call path in which the busiest one has at least half of its own.
 * Helper threads and unrelated processes are no imbalance. Where waiting is known, the others must
 * have been blocked for at least half of the time by which they have less.
 * Threads: one thread at a time for a database.
 */
#ifndef CN_ANALYZE_VIEWS_IMBALANCE_H
#define CN_ANALYZE_VIEWS_IMBALANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;

struct cn_imbalance {
    bool is_found;    /* the largest cost is at least 1.2 times the mean */
    bool is_by_rank;  /* else by thread */
    size_t count;     /* of those that do the same */
    uint64_t most;    /* the rank, or profile of the thread, with the largest cost */
    double max, mean; /* of the cost of a metric in the call path */
    uint32_t context; /* the call path */
};

/* `path` are contexts of the hot path, outermost first. */
CN_CHECK bool cn_imbalance_find(struct cn_imbalance *out, struct cn_database *db,
                                const char *metric, const uint32_t *path, size_t count,
                                struct cn_error *err);

#endif
