/* The earliest position of a list at which one of several threads had to stop: the others go on
 * up to there.
 * Threads: any thread.
 */
#ifndef CN_BASE_RUN_EARLIEST_H
#define CN_BASE_RUN_EARLIEST_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct cn_earliest {
    atomic_size_t position;
};

static inline void cn_earliest_init(struct cn_earliest *earliest)
{
    atomic_init(&earliest->position, SIZE_MAX);
}

static inline void cn_earliest_note(struct cn_earliest *earliest, size_t position)
{
    size_t known = atomic_load(&earliest->position);

    while (position < known &&
           !atomic_compare_exchange_weak(&earliest->position, &known, position))
        continue;
}

static inline size_t cn_earliest_position(const struct cn_earliest *earliest)
{
    return atomic_load(&earliest->position);
}

#endif
