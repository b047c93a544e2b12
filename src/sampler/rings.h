/* The kernel's rings of samples: one for each processor, shared by all sampled tasks and
 * events.
 *
 * Every record of a ring has the time and the identifier of its event at known offsets: samples begin
 * with identifier, address, pid and tid, and time; other records end with pid and tid, time,
 * processor and identifier. cn_rings_read() delivers them in the order of time.
 *
 * Rings are short: cn_rings_empty() moves what is in them to memory, also while another thread is
 * busy with what it has read.
 * Threads: one thread at a time, except for cn_rings_empty().
 */
#ifndef CN_SAMPLER_RINGS_H
#define CN_SAMPLER_RINGS_H

#include <linux/perf_event.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/run/lock.h"

/* Events to sample, by the names that perf uses. */

#define CN_SAMPLE_WAKING "sched:sched_waking"

/* Beginnings of those that are shown, with stacks; of those that change descriptors; ends of both. Requests of
 * disks, with stacks, and their ends. Page faults, with stacks and addresses. */
enum cn_sample_call {
    CN_SAMPLE_NO_CALL,
    CN_SAMPLE_CALL_BEGINS,
    CN_SAMPLE_CALL_CHANGES,
    CN_SAMPLE_CALL_ENDS,
    CN_SAMPLE_DISK_BEGINS,
    CN_SAMPLE_DISK_ENDS,
    CN_SAMPLE_MINOR_FAULTS,
    CN_SAMPLE_MAJOR_FAULTS,
};

struct cn_sample_event {
    char *name;
    struct perf_event_attr attr; /* type, config, and the period of a tracepoint */
    bool needs_pmu;
    bool is_clock;  /* counts nanoseconds that the task runs */
    bool is_switch; /* context switches: sampled one by one */
    bool
        is_waking; /* wake-ups: samples have the fields of the tracepoint after the call chain */
    enum cn_sample_call call; /* system calls: samples have their fields as well */
    bool is_of_machine;       /* of all tasks, whichever are sampled */
    const char *filter; /* of a tracepoint, as the kernel takes it, borrowed; NULL: all */
};

struct cn_sample_events {
    struct cn_sample_event *list;
    size_t count, capacity;
};

/* Add the events of a list such as "cpu-clock,page-faults,sched:sched_wakeup". */
CN_CHECK bool cn_sample_events_add(struct cn_sample_events *events, const char *names,
                                   struct cn_error *err);

/* The number of a tracepoint such as "sched:sched_switch". */
CN_CHECK bool cn_sample_tracepoint(const char *name, uint64_t *config,
                                   struct cn_error *err);
void cn_sample_events_done(struct cn_sample_events *events);

enum {
    CN_RING_SAMPLE_ID_OFF = 8, /* of a sample with its head */
    CN_RING_SAMPLE_TIME_OFF = 32,
    CN_RING_SAMPLE_CHAIN_OFF =
        56, /* registers and stack follow it; 8 more with PERF_SAMPLE_ADDR */
    CN_RING_TIME_FROM_END = 24, /* of any other record */
    CN_RING_ID_FROM_END = 8,
};

struct cn_ring {
    int cpu;
    void *map; /* NULL: none yet */
    size_t map_len;
    uint8_t *data;
    size_t data_len;
    uint64_t tail; /* up to here, records were taken out of it */
    int fd;        /* whose ring it is; -1 when it is closed */
};

/* Records one after another, as in a ring. */
struct cn_ring_bytes {
    uint8_t *bytes;
    size_t len, capacity;
};

struct cn_rings {
    struct cn_ring *list;
    size_t count;
    int *fds; /* of all events */
    size_t fd_count, fd_capacity;
    struct cn_map event_of; /* by the kernel's id */
    struct cn_ring_record *records;
    size_t record_count, record_capacity;
    const struct cn_sample_events *events; /* borrowed */
    size_t register_len;                   /* bytes */
    uint8_t *joined;                       /* a record that crosses the end of its ring */

    /* Under the lock, for each ring and what was added: what was taken out of it. */
    struct cn_lock lock;
    struct cn_ring_bytes *taken;
    size_t taken_len; /* of all */
    void (*fill)(void *arg);
    void *fill_arg;

    struct cn_ring_bytes *held; /* what is not yet delivered of it */
    struct cn_ring_bytes *kept; /* memory for what will be held */
};

/* How to open events. */
struct cn_ring_request {
    const struct cn_sample_events *events; /* with complete attributes */
    const pid_t *tids;                     /* tasks; NULL: the whole machine */
    size_t tid_count;
    size_t data_len;     /* of a ring */
    size_t register_len; /* bytes, of samples that have registers and stacks */
};

/* Why opening failed. */
struct cn_ring_failure {
    int error;    /* errno */
    size_t event; /* index */
    bool is_ring; /* the event was opened, but its ring was not mapped */
};

/* Open all events of all tasks on each processor. Tasks that have ended are skipped; fails
 * with ESRCH if all have. */
CN_CHECK bool cn_rings_open(struct cn_rings *rings, const struct cn_ring_request *request,
                            struct cn_ring_failure *failure);
void cn_rings_close(struct cn_rings *rings);

/* Switch all events on or off. */
void cn_rings_enable(struct cn_rings *rings, bool is_on);

/* Where other records come from: `fill` is called whenever rings are emptied, by any thread but
 * not by two at a time, and calls cn_rings_add(). */
void cn_rings_set_fill(struct cn_rings *rings, void (*fill)(void *arg), void *arg);

/* Move what is in the rings to memory, up to a limit: the kernel counts what is lost then. Any
 * thread. */
void cn_rings_empty(struct cn_rings *rings);

/* Add a record that did not come through a ring: copied, or written by the caller before the next
 * one is added. Only for `fill`. */
uint8_t *cn_rings_room(struct cn_rings *rings, size_t len, uint64_t time_ns);
void cn_rings_add(struct cn_rings *rings, const uint8_t *record, size_t len,
                  uint64_t time_ns);

/* Empty the rings and deliver the records before `until_ns` in the order of time. The bytes are valid during
 * the call. Ends with the first call that returns false. */
CN_CHECK bool cn_rings_read(struct cn_rings *rings, uint64_t until_ns,
                            bool (*take)(void *arg, const uint8_t *record, size_t len,
                                         uint64_t time_ns, struct cn_error *err),
                            void *arg, struct cn_error *err);

#endif
