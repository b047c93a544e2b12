/* Waiting is a state of a context, not a call: a database made from calls has the time of
 * each context as three metrics that add up to the fourth, total and self alike:
 *
 *     time = cpu time + blocked time + pre-empted time
 *
 * All four count from the first to the last record of a call. Without scheduler events the
 * states are unknown, and there is only `time`.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WAITS_H
#define CN_ANALYZE_WAITS_H

#include <stdbool.h>

struct cn_metrics;

#define CN_CALLS_NAME          "calls"
#define CN_TIME_NAME           "time (sec)"
#define CN_CPU_TIME_NAME       "cpu time (sec)"
#define CN_BLOCKED_TIME_NAME   "blocked time (sec)"
#define CN_PREEMPTED_TIME_NAME "pre-empted time (sec)"

/* The kinds of waiting. */
enum cn_wait { CN_WAIT_BLOCKED, CN_WAIT_PREEMPTED, CN_WAIT_KINDS };

/* The metric of each kind of waiting, and the word for it. */
extern const char *const cn_wait_names[CN_WAIT_KINDS];
extern const char *const cn_wait_states[CN_WAIT_KINDS];

/* True if a database has the time of its contexts by state. */
bool cn_metrics_have_waits(const struct cn_metrics *metrics);

/* True if it is known in which call a thread waits: its calls were recorded, or samples were taken
 * where it stopped. Otherwise the calls before and after a wait need not be the same, although
 * they have the same name. */
bool cn_metrics_know_waiting_calls(const struct cn_metrics *metrics);

/* The metric that a view shows for the time of a database that has it by state: running
 * time, or with `counts_waits` all of it. */
static inline const char *cn_shown_time(bool counts_waits)
{
    return counts_waits ? CN_TIME_NAME : CN_CPU_TIME_NAME;
}

#endif
