#include "model/heap_history.h"

#include "base/arena.h"

struct cn_heap_history *cn_heap_history_copy(const struct cn_heap_history *history,
                                             struct cn_arena *arena)
{
    struct cn_heap_history *copy;

    if (!history)
        return NULL;
    copy = cn_arena_dup(arena, history, 1, sizeof(*copy));
    copy->changes =
        cn_arena_dup(arena, copy->changes, copy->change_count, sizeof(*copy->changes));
    copy->processes = cn_arena_dup(arena, copy->processes, copy->process_count,
                                   sizeof(*copy->processes));
    return copy;
}
