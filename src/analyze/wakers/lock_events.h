/* The calls of a recording that take locks, give them back, wait and wake, with the call paths in which they
 * were made.
 *
 *     cn_lock_events_read(&events, rec, err)
 *     ... events.list[i], sorted by lock and time ...
 *     cn_lock_events_done(&events);
 *
 * Where records of a task were lost, it may have given back and taken any lock: losses say when.
 * Memory: 56 bytes a call. Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_WAKERS_LOCK_EVENTS_H
#define CN_ANALYZE_WAKERS_LOCK_EVENTS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/lock_calls.h"
#include "base/error.h"
#include "base/map.h"

struct cn_recording;
struct cn_text;

struct cn_lock_event {
    const struct cn_lock_call *call;
    uint64_t address, second;  /* arguments */
    uint64_t begin_ns, end_ns; /* UINT64_MAX: it has not returned */
    uint32_t pid, task, path;
    bool has_failed; /* of one that tries; also if its result is unknown */
    bool is_cut;     /* its return is among lost records */
};

/* Records of a task were lost after one at `begin_ns` and before one at `end_ns`. */
struct cn_lock_loss {
    uint64_t begin_ns, end_ns;
    uint32_t task;
};

/* A path of calls; number 0 is above all. */
struct cn_lock_path {
    uint32_t parent, function;
};

struct cn_lock_events {
    const struct cn_recording *rec;
    struct cn_lock_event *list;
    size_t count, capacity;
    struct cn_lock_path *paths;
    size_t path_count, path_capacity;
    struct cn_map path_of;
    const struct cn_lock_call **call_of; /* by function; NULL: no lock */
    struct cn_lock_loss *losses;         /* by task, then by time */
    size_t loss_count, loss_capacity;
    uint64_t last_ns;
    size_t without_address; /* calls whose arguments were not recorded */
};

/* Damaged tasks are read up to the damage. */
CN_CHECK bool cn_lock_events_read(struct cn_lock_events *out,
                                  const struct cn_recording *rec, struct cn_error *err);
void cn_lock_events_done(struct cn_lock_events *events);

/* The first loss of a task after a time; NULL: there is none. */
const struct cn_lock_loss *cn_lock_events_loss(const struct cn_lock_events *events,
                                               uint32_t task, uint64_t after_ns);

/* Append "take → pthread_mutex_lock"; the whole path, "main → work → take → ...". */
void cn_lock_path_print(const struct cn_lock_events *events, uint32_t path, bool is_whole,
                        struct cn_text *out);

#endif
