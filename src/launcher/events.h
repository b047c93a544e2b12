/* Kernel events of the recorded tasks: context switches, start, end and names of tasks,
 * written to perf-cpuN.dat in the kernel's format, with times of the recorder's clock.
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
#include "launcher/event_clock.h"

struct cn_shared_memory;

struct cn_events {
    const char *dir;
    const struct cn_shared_memory *memory; /* has the recorder's clock */
    struct cn_event_ring *rings;           /* one for each processor */
    size_t count;
    struct cn_event_clock clock;
    uint8_t *records; /* new records of a ring, contiguous */
};

/* False when the kernel does not allow it. */
bool cn_events_open(struct cn_events *events, const char *dir,
                    const struct cn_shared_memory *memory, bool has_switches);

/* Write new events. */
CN_CHECK bool cn_events_drain(struct cn_events *events, struct cn_error *err);
void cn_events_close(struct cn_events *events);

#endif
