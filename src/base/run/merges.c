#include "base/run/merges.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_merges_init(struct cn_merges *merges)
{
    cn_lock_init(&merges->lock);
}

void cn_merges_done(struct cn_merges *merges)
{
    for (size_t i = 0; i < merges->pending_count; i++)
        merges->release(merges->pending[i].part);
    free(merges->pending);
    cn_lock_done(&merges->lock);
    *merges = (struct cn_merges){0};
}

static size_t count_on(const struct cn_merges *merges, unsigned level)
{
    return level == 0 ? merges->count : ((merges->count - 1) >> level) + 1;
}

bool cn_merges_has(const struct cn_merges *merges, unsigned level, size_t number)
{
    enum { LEVEL_MAX = 63 };

    return merges->count > 0 && level <= LEVEL_MAX && number < count_on(merges, level);
}

/* Take the neighbour of a part out of those that wait. If it is not there, the part waits. */
static bool meet(struct cn_merges *merges, const struct cn_merge *part,
                 struct cn_merge *neighbour)
{
    bool is_there = false;

    cn_lock_take(&merges->lock);
    for (size_t i = 0; !is_there && i < merges->pending_count; i++) {
        *neighbour = merges->pending[i];
        is_there =
            neighbour->level == part->level && neighbour->number == (part->number ^ 1);
        if (is_there)
            merges->pending[i] = merges->pending[--merges->pending_count];
    }
    if (!is_there) {
        CN_PUSH(merges->pending, merges->pending_count, merges->pending_capacity, *part);
    }
    cn_lock_release(&merges->lock);
    return is_there;
}

void cn_merges_put(struct cn_merges *merges, struct cn_merge part)
{
    while (count_on(merges, part.level) > 1) {
        struct cn_merge neighbour;

        if ((part.number ^ 1) < count_on(merges, part.level)) {
            if (!meet(merges, &part, &neighbour))
                return;
            part.part = part.number & 1
                            ? merges->merge(merges->arg, neighbour.part, part.part)
                            : merges->merge(merges->arg, part.part, neighbour.part);
        }
        part.level++;
        part.number /= 2;
    }
    (void)meet(merges, &part, &(struct cn_merge){0}); /* the result has no neighbour */
}

void *cn_merges_take(struct cn_merges *merges)
{
    const struct cn_merge *root = merges->pending;

    if (merges->pending_count != 1 || count_on(merges, root->level) > 1)
        return NULL;
    merges->pending_count = 0;
    return root->part;
}
