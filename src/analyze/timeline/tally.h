/* Time by slot while a slice of a timeline is read. Slots in use are listed, so that
 * clearing costs what filling did.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_TALLY_H
#define CN_ANALYZE_TIMELINE_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"

struct cn_tally {
    uint64_t *ns;   /* by slot */
    uint32_t *used; /* in the order of their first use */
    size_t used_count;
};

/* Room for so many slots. */
static inline void cn_tally_reserve(struct cn_tally *tally, size_t count,
                                    size_t *capacity)
{
    size_t had = *capacity;

    if (count <= had)
        return;
    *capacity = count < 2 * had ? 2 * had : count;
    tally->ns = cn_realloc(tally->ns, *capacity, sizeof(*tally->ns));
    tally->used = cn_realloc(tally->used, *capacity, sizeof(*tally->used));
    for (size_t i = had; i < *capacity; i++)
        tally->ns[i] = 0;
}

static inline void cn_tally_add(struct cn_tally *tally, uint32_t slot, uint64_t ns)
{
    if (tally->ns[slot] == 0)
        tally->used[tally->used_count++] = slot;
    tally->ns[slot] += ns;
}

static inline void cn_tally_clear(struct cn_tally *tally)
{
    for (size_t i = 0; i < tally->used_count; i++)
        tally->ns[tally->used[i]] = 0;
    tally->used_count = 0;
}

/* The slot with the most time, of equals the one used first; UINT32_MAX without any. */
static inline uint32_t cn_tally_max(const struct cn_tally *tally)
{
    uint32_t best = UINT32_MAX;

    for (size_t i = 0; i < tally->used_count; i++) {
        uint32_t slot = tally->used[i];

        if (best == UINT32_MAX || tally->ns[slot] > tally->ns[best])
            best = slot;
    }
    return best;
}

#endif
