/* Events that --event chooses: which there are, and how the kernel records each.
 *
 * SDT probes of the program and its libraries are uprobes of the kernel: the program runs
 * as before, and needs no signal. They and software events come from perf_event_open()
 * (events.h), tracepoints from tracefs (kernel_trace.h).
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_EVENTS_CHOSEN_H
#define CN_LAUNCHER_EVENTS_CHOSEN_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

enum cn_event_kind {
    CN_EVENT_KIND_SDT,
    CN_EVENT_KIND_SOFTWARE,
    CN_EVENT_KIND_TRACEPOINT
};

/* An event. Several may have the same number: a probe is often inlined. */
struct cn_chosen_event {
    char *name; /* "provider:name" */
    char *path; /* of the file of a uprobe; NULL: none */
    enum cn_event_kind kind;
    uint32_t id;                 /* in records, from CN_EVENT_USER */
    struct perf_event_attr attr; /* only what tells it from others; not of tracepoints */
};

struct cn_chosen_events {
    struct cn_chosen_event *list;
    size_t count, capacity;
    bool has_schedule; /* context switches and task events are chosen as well */
};

/* The events of `program` that match some pattern, "provider:name". Fails when a pattern
 * matches nothing; the message says what is missing. `tracefs`: where to look for it; NULL:
 * where it is mounted. */
CN_CHECK bool cn_chosen_events_find(struct cn_chosen_events *events, const char *program,
                                    const char *const *patterns, size_t count,
                                    bool is_glob, const char *tracefs,
                                    struct cn_error *err);
void cn_chosen_events_done(struct cn_chosen_events *events);

/* Open the event for a process and its children on a processor, from the next exec on; -1
 * on failure, and errno. Describe that failure. */
int cn_chosen_event_open(const struct cn_chosen_event *event, pid_t pid, int cpu);
bool cn_chosen_event_fail(const struct cn_chosen_event *event, struct cn_error *err);

/* List all events of the program (NULL: none), one a line: "[kind] provider:name", and what
 * is missing. */
void cn_chosen_events_print(const char *program, const char *tracefs,
                            struct cn_text *out);

/* Lines of events.txt. */
void cn_chosen_events_print_ids(const struct cn_chosen_events *events,
                                struct cn_text *out);

#endif
