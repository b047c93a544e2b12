#include "sampler/languages/frame_walk.h"

#include "sampler/languages/memory.h"

#define CN_FRAME_INLINE static inline
#define CN_FRAME_COPY(walk, out, len, address) \
    cn_memory_read((walk)->memory, address, out, len)
#include "sampler/languages/frame_steps.h"

bool cn_frame_walk_from(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                        uint64_t state)
{
    walk->state = state;
    if (!cn_frame_walk_begin(walk, table))
        return false;
    for (size_t i = 0; i < CN_FRAME_STEPS_MAX && cn_frame_walk_step(walk, table); i++)
        continue;
    return !walk->has_failed;
}

bool cn_frame_walk_is_at(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                         uint64_t state)
{
    return cn_frame_walk_is_thread(walk, table, state);
}

uint64_t cn_frame_walk_find(struct cn_frame_walk *walk,
                            const struct cn_frame_table *table, uint32_t tid)
{
    walk->tid = tid;
    if (!cn_frame_walk_begin_search(walk, table))
        return 0;
    for (size_t i = 0; i < CN_FRAME_THREADS_MAX && cn_frame_walk_search(walk, table); i++)
        continue;
    return walk->is_found ? walk->state : 0;
}
