#include "model/thread_states.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

const char *const cn_task_state_names[CN_TASK_STATES] = {
    [CN_TASK_RUNNING] = "running",
    [CN_TASK_BLOCKED] = "blocked",
    [CN_TASK_PREEMPTED] = "pre-empted",
    [CN_TASK_UNKNOWN] = "no data",
};

void cn_thread_states_add(struct cn_thread_states *states, uint64_t time_ns,
                          enum cn_task_state state, uint32_t context)
{
    if (states->count > 0 && states->list[states->count - 1].time_ns > time_ns)
        time_ns = states->list[states->count - 1].time_ns;
    CN_PUSH(states->list, states->count, states->capacity,
            (struct cn_state_change){time_ns, state, context});
}

static bool begins_until(const void *data, uint64_t at, uint64_t time_ns)
{
    return cn_thread_states_at(data, (size_t)at).time_ns <= time_ns;
}

size_t cn_thread_states_until(const struct cn_thread_states *states, uint64_t time_ns)
{
    return (size_t)cn_search(0, states->count, begins_until, states, time_ns);
}

void cn_thread_states_done(struct cn_thread_states *states)
{
    free(states->list);
    *states = (struct cn_thread_states){0};
}
