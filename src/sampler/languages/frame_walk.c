#include "sampler/languages/frame_walk.h"

#include "sampler/languages/memory.h"

#define CN_FRAME_INLINE static inline
#define CN_FRAME_COPY(walk, out, len, address) \
    cn_memory_read((walk)->memory, address, out, len)
#include "sampler/languages/frame_steps.h"

static bool take_steps(struct cn_frame_walk *walk, const struct cn_frame_table *table)
{
    for (size_t i = 0; i < CN_FRAME_STEPS_MAX && cn_frame_walk_step(walk, table); i++)
        continue;
    return !walk->has_failed;
}

bool cn_frame_walk_from(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                        uint64_t state)
{
    walk->state = state;
    cn_frame_walk_begin(walk, table);
    return cn_frame_walk_enter(walk, table) && take_steps(walk, table);
}

bool cn_frame_walk_thread(struct cn_frame_walk *walk, const struct cn_frame_table *table,
                          uint32_t tid, uint64_t *known)
{
    bool is_over = false;

    walk->tid = tid;
    if (!cn_frame_walk_begin_search(walk, table, *known, &is_over))
        return false;
    for (size_t i = 0;
         !is_over && i < CN_FRAME_THREADS_MAX && cn_frame_walk_search(walk, table); i++)
        continue;
    *known = walk->state_count > 0 ? walk->states[0] : 0;
    if (walk->state_count == 0 || !cn_frame_walk_from(walk, table, walk->states[0]))
        return false;
    for (uint32_t i = 1; i < walk->state_count; i++) {
        walk->state = walk->states[i];
        if (!cn_frame_walk_enter_next(walk, table) || !take_steps(walk, table))
            return false;
    }
    return true;
}
