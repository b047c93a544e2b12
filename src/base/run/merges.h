/* A tree of merges: parts with numbers 0..count-1 are combined in pairs, as a tournament is
 * played: 0 with 1, 2 with 3, then their results. Which parts are combined does not depend on
 * when they arrive, so a sum of floating-point numbers has the same bits for any number of
 * workers and ranks, and no worker waits for another.
 *
 * Parts belong to the tree once they are put, and merging is done by the thread that brings
 * the second of two. When all parts are put, cn_merges_take() returns the result. If only some
 * are put, `pending` contains what their results are, for another process that has the rest.
 * Threads: cn_merges_put() from any thread; the rest one thread at a time.
 */
#ifndef CN_BASE_RUN_MERGES_H
#define CN_BASE_RUN_MERGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/run/lock.h"

/* The result of parts number << level and up to (1 << level) - 1 after it. */
struct cn_merge {
    unsigned level;
    size_t number;
    void *part;
};

struct cn_merges {
    size_t count;
    void *(*merge)(void *arg, void *left,
                   void *right); /* takes both, returns the result */
    void (*release)(void *part);
    void *arg;
    struct cn_lock lock;
    struct cn_merge *pending;
    size_t pending_count, pending_capacity;
};

/* Set count, merge, release and arg before. */
void cn_merges_init(struct cn_merges *merges);
void cn_merges_done(struct cn_merges *merges); /* releases what is pending */

/* True if this number exists on a level. */
bool cn_merges_has(const struct cn_merges *merges, unsigned level, size_t number);

void cn_merges_put(struct cn_merges *merges, struct cn_merge part);

/* The result, owned by the caller; NULL if parts are missing. */
void *cn_merges_take(struct cn_merges *merges);

#endif
