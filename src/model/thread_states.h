/* What a thread does over time: it runs, is blocked or pre-empted, or there is no data.
 *
 * A zeroed list is empty. cn_thread_states_done() releases it. The states of a file stay there, and are decoded
 * when they are asked for: they borrow its bytes.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_MODEL_THREAD_STATES_H
#define CN_MODEL_THREAD_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"

enum cn_task_state {
    CN_TASK_RUNNING,
    CN_TASK_BLOCKED,
    CN_TASK_PREEMPTED,
    CN_TASK_UNKNOWN, /* before the first record of its own, after the last, and after a limit */
    CN_TASK_STATES,
};

/* The word for a state. */
extern const char *const cn_task_state_names[CN_TASK_STATES];

struct cn_state_change {
    uint64_t time_ns;
    enum cn_task_state state;
    uint32_t context; /* in which it waits; 0: unknown, or it does not wait */
};

/* In the order of time: each state lasts until the next one, the last one is CN_TASK_UNKNOWN. */
struct cn_thread_states {
    struct cn_state_change *list; /* NULL: they are in a file, or there are none */
    size_t count, capacity;
    struct cn_state_change (*read)(const struct cn_thread_states *states, size_t at);
    struct cn_bytes changes, contexts; /* what it reads; no contexts: all are unknown */
};

static inline struct cn_state_change
cn_thread_states_at(const struct cn_thread_states *states, size_t at)
{
    return states->list ? states->list[at] : states->read(states, at);
}

/* When the first state begins, and the last one; 0 without any. */
static inline uint64_t cn_thread_states_begin(const struct cn_thread_states *states)
{
    return states->count > 0 ? cn_thread_states_at(states, 0).time_ns : 0;
}

static inline uint64_t cn_thread_states_end(const struct cn_thread_states *states)
{
    return states->count > 0 ? cn_thread_states_at(states, states->count - 1).time_ns : 0;
}

/* How many begin at or before a time. */
size_t cn_thread_states_until(const struct cn_thread_states *states, uint64_t time_ns);

/* Append a state. One that is not after the last one begins with it. */
void cn_thread_states_add(struct cn_thread_states *states, uint64_t time_ns,
                          enum cn_task_state state, uint32_t context);
void cn_thread_states_done(struct cn_thread_states *states);

#endif
