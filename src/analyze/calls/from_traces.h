/* Traces as calls: a recording in memory, so that everything that is made for recordings, the
 * calling-context database above all, works for traces.
 *
 * Traces that do not overlap in time share a task; as many tasks are made as traces run at the
 * same time. A call that overlaps another one of its caller, or is not within its caller, is in
 * a task below that of the caller, so that all calls have their durations; a flow leads there from
 * the caller. A warning of the recording says how many. The self time of the caller is what none
 * of its calls covers, in whichever tasks they are.
 *
 *     calls = cn_trace_calls_new();
 *     cn_trace_calls_add(calls, &trace);            best in the order of time
 *     recording = cn_trace_calls_finish(calls);
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CALLS_FROM_TRACES_H
#define CN_ANALYZE_CALLS_FROM_TRACES_H

#include <stdint.h>

#include "base/error.h"

struct cn_recording;
struct cn_trace;
struct cn_trace_calls;

struct cn_trace_calls *cn_trace_calls_new(void);
void cn_trace_calls_free(struct cn_trace_calls *calls); /* NULL is fine */

/* Give every call its attributes and exceptions as an argument; before adding traces. */
void cn_trace_calls_show_attributes(struct cn_trace_calls *calls);

/* Put every call inside its caller, shortened where it would overlap another one; its self time is
 * right. Before adding traces. */
void cn_trace_calls_nest(struct cn_trace_calls *calls);

/* Add the calls of a trace. */
void cn_trace_calls_add(struct cn_trace_calls *calls, const struct cn_trace *trace);

/* The same call by call, for traces that call each other: enter the calls in order, end.
 * Entering a call of some depth leaves those at least as deep. `begin_ns` is the date of the
 * trace. */
void cn_trace_calls_enter(struct cn_trace_calls *calls, const struct cn_trace *trace,
                          uint32_t node, uint64_t begin_ns, uint32_t depth);
void cn_trace_calls_end(struct cn_trace_calls *calls);

/* Hand out the recording, which the caller closes. Nothing can be added afterwards. */
struct cn_recording *cn_trace_calls_finish(struct cn_trace_calls *calls);

#endif
