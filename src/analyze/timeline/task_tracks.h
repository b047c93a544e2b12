/* What a recording knows of a task over time besides its calls: when it ran and when it
 * waited, from scheduler events, the readings of counters, and the rate of its calls.
 *
 * Times are those of the recording. Reading ends at damage; states and counters also end at
 * a limit of items. What follows is unknown.
 * Threads: immutable after it was read.
 */
#ifndef CN_ANALYZE_TIMELINE_TASK_TRACKS_H
#define CN_ANALYZE_TIMELINE_TASK_TRACKS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/timeline/task_states.h"
#include "analyze/waits.h"
#include "base/error.h"
#include "model/calls/values.h"
#include "model/thread_runs.h"

struct cn_database;

struct cn_reading {
    uint64_t time_ns;
    double value;
};

struct cn_readings {
    struct cn_reading *list;
    size_t count, capacity;
};

struct cn_task_tracks {
    struct cn_thread_states states;
    bool has_states;            /* there are scheduler events */
    struct cn_thread_runs runs; /* from events that name their processor */
    struct cn_state_sums whole; /* of all its records, also those after the limit */
    uint64_t first_ns, last_ns; /* when it first ran, and of its last record */
    struct cn_readings readings[CN_COUNTER_COUNT];
    struct cn_readings *named; /* of CN_EVENT_COUNTER and the ids after it */
    size_t named_count;
    struct cn_readings call_rate; /* calls per second, each until the next reading */
};

/* The most parts of equal length that the rate of calls has. */
enum { CN_CALL_RATE_PARTS_MAX = 2048 };

/* Read all records of a task, and store at most `item_max` changes and readings, and a rate of
 * calls with at most a fraction of that. Fails only
 * if it is stopped; then nothing is left to release. */
CN_CHECK bool cn_task_tracks_read(struct cn_task_tracks *out,
                                  const struct cn_recording *rec, uint32_t task,
                                  size_t item_max, const struct cn_progress *progress,
                                  struct cn_error *err);
void cn_task_tracks_done(struct cn_task_tracks *tracks); /* a zeroed one is fine */

/* Those of a thread of a database, without counters and calls. They borrow its states and runs, and
 * nothing is to be released. */
struct cn_task_tracks cn_task_tracks_of_profile(const struct cn_database *db,
                                                uint32_t profile);

/* Time of each state of the threads of a database, by profile; not known without states over
 * time. */
void cn_task_states_of_database(struct cn_task_states *out, const struct cn_database *db);

/* Time of each state between two times; `outside_ns` is known if all records are in between,
 * else 0. */
void cn_task_tracks_sum(const struct cn_task_tracks *tracks, uint64_t begin_ns,
                        uint64_t end_ns, struct cn_state_sums *out);

/* The state with the most time in each of some columns of the time between two times;
 * CN_TASK_UNKNOWN only where no other has any. Columns are those of cn_occupancy_column_ns(). */
void cn_task_tracks_columns(const struct cn_task_tracks *tracks, uint64_t begin_ns,
                            uint64_t end_ns, uint32_t count, uint8_t *out);

/* The samples of a thread per second, over time.
 * Threads: any thread, as the database allows.
 */

/* The parts of a rate, at most. */
enum { CN_SAMPLE_RATE_PARTS_MAX = 256 };

/* Read the rate between two times of the database, in parts of 2^n ns that begin at multiples
 * of their length after its begin: moving the range does not change them. Times of readings
 * are those of the database. The caller frees out->list, also after a failure. */
CN_CHECK bool cn_sample_rate_read(struct cn_readings *out, struct cn_database *db,
                                  uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                                  struct cn_error *err);

#endif
