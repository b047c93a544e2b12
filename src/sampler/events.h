/* Events to sample, by the names that perf uses.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_EVENTS_H
#define CN_SAMPLER_EVENTS_H

#include <linux/perf_event.h>
#include <stddef.h>

#include "base/error.h"

struct cn_sample_event {
    char *name;
    struct perf_event_attr attr; /* type, config, and the period of a tracepoint */
    bool needs_pmu;
    bool is_clock;  /* counts nanoseconds that the task runs */
    bool is_switch; /* context switches: sampled one by one */
};

struct cn_sample_events {
    struct cn_sample_event *list;
    size_t count, capacity;
};

/* Add the events of a list such as "cpu-clock,page-faults,sched:sched_wakeup". */
CN_CHECK bool cn_sample_events_add(struct cn_sample_events *events, const char *names,
                                   struct cn_error *err);
void cn_sample_events_done(struct cn_sample_events *events);

#endif
