/* Kernel events of the recorded tasks: context switches, start, end and names of tasks,
 * and those that --event chooses, written to perf-cpuN.dat in the kernel's format, with
 * times of the recorder's clock and numbers of events.txt.
 *
 * Open them before the program starts: it and its children inherit the events, which are
 * enabled by exec.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_EVENTS_EVENTS_H
#define CN_LAUNCHER_EVENTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "launcher/files/event_clock.h"

struct cn_chosen_events;
struct cn_shared_memory;

struct cn_events {
    const char *dir;
    const struct cn_shared_memory *memory; /* has the recorder's clock */
    struct cn_event_ring *rings;           /* one for each processor */
    size_t count;
    struct cn_event_clock clock;
    uint8_t *records;                /* new records of a ring, contiguous */
    struct cn_event_source *sources; /* chosen events, sorted by the kernel's id */
    size_t source_count;
    uint64_t lost_count; /* events that did not fit the rings */
};

/* Open them; start, end and names of tasks only if `has_tasks`, context switches only if
 * `has_switches`. `pid` will run the program, or 0: a child
 * of this process. Fails when the kernel does not allow it. */
CN_CHECK bool cn_events_open(struct cn_events *events, const char *dir,
                             const struct cn_shared_memory *memory, bool has_tasks,
                             bool has_switches, pid_t pid, struct cn_error *err);

/* Also record the chosen events of `pid`, before it executes the program: the kernel would
 * not always insert probes that a child inherits. */
CN_CHECK bool cn_events_choose(struct cn_events *events,
                               const struct cn_chosen_events *chosen, pid_t pid,
                               struct cn_error *err);

/* Close them, and remove what was written. */
void cn_events_drop(struct cn_events *events);

/* Write new events. */
CN_CHECK bool cn_events_drain(struct cn_events *events, struct cn_error *err);
void cn_events_close(struct cn_events *events);

#endif
