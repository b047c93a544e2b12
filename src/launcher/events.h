/* Kernel events of the recorded tasks: context switches, start, end and names of tasks,
 * written to perf-cpuN.dat in the kernel's format.
 *
 * Open them before the program starts: it and its children inherit the events, which are
 * enabled by exec.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_EVENTS_H
#define CN_LAUNCHER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cn_events {
    const char *dir;
    struct cn_event_ring *rings; /* one for each processor */
    size_t count;
};

/* False when the kernel does not allow it. */
bool cn_events_open(struct cn_events *events, const char *dir);

/* Write new events. */
CN_CHECK bool cn_events_drain(struct cn_events *events, struct cn_error *err);
void cn_events_close(struct cn_events *events);

#endif
