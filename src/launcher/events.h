/* What the kernel tells about the recorded tasks: when they are switched out and in, begin,
 * end and change their names. Written to perf-cpuN.dat as the kernel gives it, as uftrace
 * does.
 *
 * Open before the program is started: it and all that it starts inherit the events, which
 * begin when it is run. Where the kernel refuses, there are none.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_EVENTS_H
#define CN_LAUNCHER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cn_events {
    const char *dir;
    struct cn_event_ring *rings; /* one a processor */
    size_t count;
};

/* False, with nothing open, when the kernel does not allow it. */
bool cn_events_open(struct cn_events *events, const char *dir);

/* Write out what there is. */
CN_CHECK bool cn_events_drain(struct cn_events *events, struct cn_error *err);
void cn_events_close(struct cn_events *events);

#endif
