/* Points of flows in any order, joined to the flows of a recording: points of the same id, in
 * the order of time, from a start or step to the steps and ends that follow it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_CALLS_FLOWS_H
#define CN_FORMATS_EXCHANGE_READ_CALLS_FLOWS_H

#include <stddef.h>
#include <stdint.h>

struct cn_recording;

/* In the order that points of the same time have. */
enum cn_flow_step { CN_FLOW_START, CN_FLOW_STEP, CN_FLOW_END };

struct cn_flow_point {
    uint64_t id, time_ns;
    uint32_t track; /* while flows are read; then the tid of its task */
    uint32_t name;  /* a function of the recording; CN_NONE: none */
    uint32_t order; /* in which points were added */
    enum cn_flow_step step;
};

struct cn_call_flows {
    struct cn_flow_point *list;
    size_t count, capacity;
    uint64_t excess_count; /* points after the limit, which were dropped */
};

void cn_call_flows_add(struct cn_call_flows *flows, struct cn_flow_point point);

/* Give the recording its flows, and warnings of points that are dropped or have no other end.
 * `base_ns` is added to all times. Sorts the points. */
void cn_call_flows_join(struct cn_call_flows *flows, uint64_t base_ns,
                        struct cn_recording *rec);
void cn_call_flows_done(struct cn_call_flows *flows); /* a zeroed one is fine */

/* Give a recording with GPU work and without flows those from launches to operations. */
void cn_call_flows_of_launches(struct cn_recording *rec);

#endif
