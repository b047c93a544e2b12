/* The time of each task by state: running, blocked, pre-empted, no data. They add up to the
 * wall time, whether a call was open or not; what was outside of all calls is also counted by
 * itself, because no function has it.
 *
 * States are those of scheduler events. A task without any, in a recording that has them, ran
 * from its first to its last record; in one that has none, all states are unknown.
 * Times are recorded ones. Reading ends at damage; what follows has no data.
 * Threads: one thread at a time; cn_task_states_build() starts threads of its own.
 */
#ifndef CN_ANALYZE_TIMELINE_TASK_STATES_H
#define CN_ANALYZE_TIMELINE_TASK_STATES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/calls/recording.h"
#include "model/thread_states.h"

struct cn_state_sums {
    uint64_t ns[CN_TASK_STATES];
    uint64_t outside_ns[CN_TASK_UNKNOWN]; /* of them, while no call was open */
};

/* Waiting while no call was open. */
static inline uint64_t cn_state_sums_waiting_outside(const struct cn_state_sums *sums)
{
    return sums->outside_ns[CN_TASK_BLOCKED] + sums->outside_ns[CN_TASK_PREEMPTED];
}

/* The state of a task while its records are read in order. */
struct cn_state_clock {
    struct cn_time_range range; /* whose time is added up */
    enum cn_task_state state;
    bool has_events;           /* of the scheduler */
    bool is_inside;            /* a call is open */
    uint64_t first_ns, now_ns; /* when it was first known, and of the last record */
    uint64_t since_ns;
    struct cn_state_sums sums; /* until since_ns; without the time that has no data */
};

void cn_state_clock_init(struct cn_state_clock *clock, struct cn_time_range range);

/* Take the next record. True if the state is another one from clock->now_ns on. */
bool cn_state_clock_take(struct cn_state_clock *clock, const struct cn_call *call);

/* After the last record: complete the sums. */
void cn_state_clock_end(struct cn_state_clock *clock);

/* The time in which the states of some tasks are known. */
struct cn_wall_time {
    uint64_t begin_ns, end_ns;
};

/* Add the time of a task: from when its state was first known to its last record. */
void cn_wall_time_add(struct cn_wall_time *wall, uint64_t first_ns, uint64_t last_ns);

/* The rest of a wall time has no data. */
void cn_state_sums_fill(struct cn_state_sums *sums, uint64_t wall_ns);

struct cn_task_states {
    bool is_known;              /* the recording has scheduler events */
    uint64_t wall_ns;           /* in which states of tasks are known; in the range */
    struct cn_state_sums *list; /* by task */
    size_t count;
};

/* Read all tasks of a recording; only the time of `range` counts. 0 workers: one per processor.
 * Fails only if it is stopped; then nothing is left to release. */
CN_CHECK bool cn_task_states_build(struct cn_task_states *out,
                                   const struct cn_recording *rec,
                                   struct cn_time_range range, unsigned workers,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);
void cn_task_states_done(struct cn_task_states *states); /* a zeroed one is fine */

#endif
